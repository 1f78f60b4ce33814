package provider

import (
	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/modelio"
)

// messageList decodes a list of messages, each with one. It reports false for what is no list, and for
// one with an element that is no message at all.
func messageList(v jsontext.Value, one func(jsontext.Value) modelio.Message) ([]modelio.Message, bool) {
	if !v.IsArray() {
		return nil, false
	}
	messages := make([]modelio.Message, 0, v.Len())
	var calls callNames
	for _, e := range v.Elements() {
		if !e.Member("role").Present() {
			return nil, false
		}
		m := one(e)
		calls.resolve(&m)
		messages = append(messages, m)
	}
	return messages, true
}

// takeMessages takes a list of messages after a system message that is there already. It reports
// false for an empty list, which could not be told from none.
func takeMessages(r *modelio.Request, v jsontext.Value, one func(jsontext.Value) modelio.Message) bool {
	messages, ok := messageList(v, one)
	if ok = ok && len(messages) > 0; ok {
		r.Messages = append(r.Messages, messages...)
	}
	return ok
}

// toolRequest returns the call that an object is, by the names of its members.
func toolRequest(v jsontext.Value, name, ref, input string) *modelio.ToolRequest {
	return &modelio.ToolRequest{Name: v.Member(name).Word(), Ref: v.Member(ref).Word(), Input: v.Member(input).Raw()}
}

// callNames maps the refs of tool calls to the names of their tools, for results that name
// only the call.
type callNames map[string]string

// resolve notes the calls of m and names the tools of its results.
func (c *callNames) resolve(m *modelio.Message) {
	for i := range m.Content {
		part := &m.Content[i]
		if call := part.ToolRequest; call != nil && call.Ref != "" {
			if *c == nil {
				*c = callNames{}
			}
			(*c)[call.Ref] = call.Name
		}
		if result := part.ToolResponse; result != nil && result.Name == "" {
			result.Name = (*c)[result.Ref]
		}
	}
}
