package provider

import (
	"encoding/json"

	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/modelio"
)

var ollamaUsage = usageNames{
	input:  [][]string{{"prompt_eval_count"}},
	output: [][]string{{"eval_count"}},
}

// ollamaAnswer decodes an answer of either API: to a chat it has a message, to a prompt a response.
func ollamaAnswer(body jsontext.Value) (*modelio.Response, error) {
	message, text := body.Member("message"), body.Member("response")
	if !message.IsObject() && !text.IsString() {
		return nil, neither("a message")
	}
	c := candidate(body.Member("done_reason").Word())
	if message.IsObject() {
		c.Message = ollamaMessage(message)
		delete(c.Message.Metadata, "role")
	} else {
		if thinking := body.Member("thinking"); thinking.IsWord() {
			c.Message.Content = []modelio.Part{modelio.ReasoningPart(thinking.Word())}
		}
		if text, ok := text.Text(); ok {
			c.Message.Content = append(c.Message.Content, modelio.TextPart(text))
		}
	}
	c.Message.Role = modelio.RoleModel
	for _, part := range c.Message.Content {
		if part.ToolRequest != nil {
			delete(part.Metadata, "function") // the call's place in the list
		}
	}
	tidy(&c.Message)
	resp := &modelio.Response{
		Candidates: []modelio.Candidate{c},
		Model:      body.Member("model").Word(),
		Usage:      ollamaUsage.decode(body),
		Metadata: beside(body, "model", "message", "response", "thinking", "done", "done_reason",
			"prompt_eval_count", "eval_count"),
	}
	resp.Usage.Unknown = nil // the rest of the body
	if resp.Usage.InputTokens == nil && resp.Usage.OutputTokens == nil {
		resp.Usage = nil
	}
	return resp, nil
}

// ollamaFold makes one answer of the answers that the API streams.
type ollamaFold struct {
	top     growing
	message *growing
	calls   list
	done    bool
}

func (f *ollamaFold) add(_ string, chunk jsontext.Value) error {
	for name, v := range chunk.Members() {
		switch name {
		case "message":
			f.calls = append(f.calls, elementsOf(v.Member("tool_calls"))...)
			growMembers(&f.message, v, "role", "tool_calls")
		case "response", "thinking":
			f.top.grow(name, v)
		case "done":
			f.done = string(v.Raw()) == "true"
		default:
			f.top.put(name, v)
		}
	}
	return nil
}

// elementsOf returns the elements of an array.
func elementsOf(v jsontext.Value) list {
	var all list
	for _, e := range v.Elements() {
		all = append(all, e.Raw())
	}
	return all
}

func (f *ollamaFold) body() (json.RawMessage, bool) {
	body := f.top.object()
	if f.message != nil {
		message := f.message.object()
		if len(f.calls) > 0 {
			message["tool_calls"] = jsontext.List(f.calls)
		}
		body["message"] = jsontext.ObjectText(message)
	}
	if len(body) == 0 {
		return nil, false
	}
	return jsontext.ObjectText(body), f.done
}
