package provider

import (
	"slices"

	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/modelio"
)

// takeMessages returns the taker for a list of messages, each of which one decodes. A list of other values does not
// fit. An empty list does not fit either if it could not be distinguished from none: after a system message from
// elsewhere in the body.
func takeMessages(one func(m *modelio.Message, v jsontext.Value), emptyFits bool) taker {
	return func(r *modelio.Request, _ string, v jsontext.Value) bool {
		messages, ok := messageList(v, one)
		switch {
		case !ok || len(messages) == 0 && !emptyFits:
			return false
		case r.Messages == nil:
			r.Messages = messages
		default:
			r.Messages = append(r.Messages, messages...)
		}
		return true
	}
}

// messageList decodes a list of messages. It is separate from the taker, a closure in which each message would be
// allocated.
func messageList(v jsontext.Value, one func(m *modelio.Message, v jsontext.Value)) ([]modelio.Message, bool) {
	messages := make([]modelio.Message, v.Len())
	calls := callNames{}
	for i, e := range v.Elements() {
		if !e.Member("role").Present() {
			return nil, false
		}
		one(&messages[i], e)
		calls.resolve(&messages[i])
	}
	return messages, v.IsArray()
}

// items decodes a list of objects to messages.
func items(v jsontext.Value, one func(jsontext.Value) modelio.Message) ([]modelio.Message, bool) {
	messages, ok := objects(v, one)
	calls := callNames{}
	for i := range messages {
		calls.resolve(&messages[i])
	}
	return messages, ok
}

// objects decodes a list of objects. It reports false for a list with other elements, and for an empty list, which
// could not be distinguished from none.
func objects[T any](v jsontext.Value, one func(jsontext.Value) T) ([]T, bool) {
	if v.IsEmpty() || !v.IsArray() {
		return nil, false
	}
	all := make([]T, 0, v.Len())
	for _, e := range v.Elements() {
		if !e.IsObject() {
			return nil, false
		}
		all = append(all, one(e))
	}
	return all, true
}

// takeTools returns the taker for a list of tools, each of which one decodes. A list with a tool that does not fit does
// not fit.
//
//go:noinline
func takeTools(one func(jsontext.Value) (modelio.ToolDefinition, bool)) taker {
	return func(r *modelio.Request, _ string, v jsontext.Value) bool {
		tools, ok := allOf(v, one)
		if ok && v.IsArray() {
			r.Tools = tools
		}
		return ok && v.IsArray()
	}
}

// allOf decodes the elements of a list. It reports false if one does.
func allOf[T any](v jsontext.Value, one func(jsontext.Value) (T, bool)) ([]T, bool) {
	all := make([]T, 0, v.Len())
	for _, e := range v.Elements() {
		element, ok := one(e)
		if !ok {
			return nil, false
		}
		all = append(all, element)
	}
	return all, true
}

// speakers are the roles of an API in which user and model take turns. Other roles are kept in Metadata.
type speakers map[string]modelio.Role

// take takes a message with takers for its members. A user's message with only tool results gets the role tool.
func (s speakers) take(m *modelio.Message, v jsontext.Value, takers []partTaker) {
	role := v.Member("role")
	if m.Role = s[role.Word()]; m.Role == "" {
		m.Role = modelio.RoleUser
		jsontext.Keep(&m.Metadata, "role", role.Raw())
	}
	if takeParts(m, v, takers); m.Role == modelio.RoleUser && onlyResults(m.Content) {
		m.Role = modelio.RoleTool
	}
}

// taking returns the function that takes messages with takers.
func (s speakers) taking(takers ...partTaker) func(m *modelio.Message, v jsontext.Value) {
	return func(m *modelio.Message, v jsontext.Value) { s.take(m, v, takers) }
}

func onlyResults(parts []modelio.Part) bool {
	return len(parts) > 0 && !slices.ContainsFunc(parts, func(p modelio.Part) bool { return p.ToolResponse == nil })
}

// callNames maps refs of tool calls to the names of their tools, for results that name only the call.
type callNames map[string]string

// resolve notes the calls in m and sets the tool names of its results.
func (c callNames) resolve(m *modelio.Message) {
	for i := range m.Content {
		part := &m.Content[i]
		if call := part.ToolRequest; call != nil && call.Ref != "" {
			c[call.Ref] = call.Name
		}
		if result := part.ToolResponse; result != nil && result.Name == "" {
			result.Name = c[result.Ref]
		}
	}
}

// plainText takes a text as the content of a message.
func plainText(_ *modelio.Message, _ string, v jsontext.Value) ([]modelio.Part, bool) {
	text, ok := v.Text()
	return []modelio.Part{modelio.TextPart(text)}, ok
}

// markedText returns the function that takes a text as the content of a message and marks it.
func markedText(word string) toParts {
	return func(m *modelio.Message, name string, v jsontext.Value) ([]modelio.Part, bool) {
		mark(&m.Metadata, word)
		return plainText(m, name, v)
	}
}

// wholeTool returns an entry in a list of tools that is not a function.
func wholeTool(entry jsontext.Value) modelio.ToolDefinition {
	tool := modelio.ToolDefinition{Metadata: entry.Object()}
	for name := range entry.Members() {
		if tool.Name == "" || name < tool.Name {
			tool.Name = name
		}
	}
	mark(&tool.Metadata, "tool")
	return tool
}
