package provider

import (
	"encoding/json"

	"github.com/traceforge/traceforge-go/modelio"
)

var ollamaUsage = usageNames{
	input:  [][]string{{"prompt_eval_count"}},
	output: [][]string{{"eval_count"}},
}

// ollamaAnswer decodes an answer of either API: to a chat it has a message, to a prompt a response.
func ollamaAnswer(api string, body value) (*Response, error) {
	message, text := body.member("message"), body.member("response")
	if !message.isObject() && !text.isString() {
		return nil, &WireError{API: api, Reason: "the answer has neither a message nor an error"}
	}
	c := Candidate{FinishReasonRaw: body.member("done_reason").word()}
	c.FinishReason = finishReason(c.FinishReasonRaw)
	if message.isObject() {
		c.Message = ollamaMessage(message)
		delete(c.Message.Metadata, "role")
	} else {
		if thinking := body.member("thinking"); thinking.isWord() {
			c.Message.Content = []modelio.Part{modelio.ReasoningPart(thinking.word())}
		}
		if text, ok := text.text(); ok {
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
	resp := &Response{
		Candidates: []Candidate{c},
		Model:      body.member("model").word(),
		Usage:      ollamaUsage.decode(body),
		Metadata:   beside(body, "model", "message", "response", "thinking", "done", "done_reason", "prompt_eval_count", "eval_count"),
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

func (f *ollamaFold) add(_ string, chunk value) error {
	for name, v := range chunk.members() {
		switch name {
		case "message":
			f.calls = append(f.calls, elementsOf(v.member("tool_calls"))...)
			growMembers(&f.message, v, "role", "tool_calls")
		case "response", "thinking":
			f.top.grow(name, v)
		case "done":
			f.done = string(v.raw()) == "true"
		default:
			f.top.put(name, v)
		}
	}
	return nil
}

// elementsOf returns the elements of an array.
func elementsOf(v value) list {
	var all list
	for _, e := range v.elements() {
		all = append(all, e.raw())
	}
	return all
}

func (f *ollamaFold) body() (json.RawMessage, bool) {
	body := f.top.object()
	if f.message != nil {
		message := f.message.object()
		if len(f.calls) > 0 {
			message["tool_calls"] = jsonList(f.calls)
		}
		body["message"] = jsonObject(message)
	}
	if len(body) == 0 {
		return nil, false
	}
	return jsonObject(body), f.done
}
