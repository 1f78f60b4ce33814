package provider

import (
	"encoding/json"

	"github.com/traceforge/traceforge-go/modelio"
)

func (bedrockConverse) DecodeResponse(a *Answer) (*Response, error) {
	return decodeAnswer(converseAPI, a, func() fold { return &converseFold{} }, func(body value) (*Response, error) {
		return converseAnswer(converseAPI, body)
	})
}

var converseUsage = usageNames{
	input:      [][]string{{"inputTokens"}},
	output:     [][]string{{"outputTokens"}},
	total:      [][]string{{"totalTokens"}},
	cacheRead:  [][]string{{"cacheReadInputTokens"}, {"cacheReadInputTokenCount"}},
	cacheWrite: [][]string{{"cacheWriteInputTokens"}, {"cacheWriteInputTokenCount"}},
}

func converseAnswer(api string, body value) (*Response, error) {
	message := body.member("output", "message")
	if !message.isObject() {
		return nil, &WireError{API: api, Reason: "the answer has neither output nor an error"}
	}
	c := Candidate{
		Message:         modelio.Message{Role: modelio.RoleModel},
		FinishReasonRaw: body.member("stopReason").word(),
	}
	c.FinishReason = finishReason(c.FinishReasonRaw)
	c.Message.Content, _ = converseBlocks(message.member("content"))
	tidy(&c.Message)
	return &Response{
		Candidates: []Candidate{c},
		Usage:      converseUsage.decode(body.member("usage")),
		Metadata:   beside(body, "output", "stopReason", "usage"),
	}, nil
}

// converseFold makes an answer of its events, whose kinds are their names.
type converseFold struct {
	role   value
	blocks sequence[converseGrowing]
	top    growing
	done   bool
	begun  bool
}

// converseGrowing is a block that is under way.
type converseGrowing struct {
	block     growing
	call      growing // of a tool call, but for its input
	input     []byte  // the inside of the string that holds its text
	reasoning growing
}

func (f *converseFold) add(name string, event value) error {
	f.begun = true
	block := func() *converseGrowing { return f.blocks.at(event.member("contentBlockIndex")) }
	switch name {
	case "messageStart":
		f.role = event.member("role")
	case "contentBlockStart":
		for kind, v := range event.member("start").members() {
			if kind == "toolUse" {
				block().call.putAll(v)
			} else {
				block().block.put(kind, v)
			}
		}
	case "contentBlockDelta":
		block().delta(event.member("delta"))
	case "messageStop", "metadata":
		for name, v := range event.members() {
			if name != "p" { // padding
				f.top.put(name, v)
			}
		}
		f.done = f.done || name == "messageStop"
	}
	return nil
}

func (b *converseGrowing) delta(delta value) {
	for kind, v := range delta.members() {
		switch kind {
		case "toolUse":
			if input := v.member("input"); input.isString() {
				raw := input.raw()
				b.input = append(b.input, raw[1:len(raw)-1]...)
			}
		case "reasoningContent":
			for name, m := range v.members() {
				b.reasoning.grow(name, m)
			}
		default:
			b.block.grow(kind, v)
		}
	}
}

func (b *converseGrowing) json() json.RawMessage {
	block := b.block.object()
	if call := b.call.object(); len(call) > 0 {
		call["input"] = json.RawMessage("{}")
		if len(b.input) > 0 {
			call["input"] = inputOf(b.input)
		}
		block["toolUse"] = jsonObject(call)
	}
	if reasoning := b.reasoning.object(); len(reasoning) > 0 {
		if redacted, ok := reasoning["redactedContent"]; ok {
			block["reasoningContent"] = jsonObject(modelio.Object{"redactedContent": redacted})
		} else {
			if _, ok := reasoning["text"]; !ok {
				reasoning["text"] = jsonText("")
			}
			block["reasoningContent"] = jsonObject(modelio.Object{"reasoningText": jsonObject(reasoning)})
		}
	}
	return jsonObject(block)
}

func (f *converseFold) body() (json.RawMessage, bool) {
	if !f.begun {
		return nil, false
	}
	content := list{}
	for _, b := range f.blocks.items {
		content = append(content, b.json())
	}
	message := modelio.Object{"content": jsonList(content)}
	if f.role.present() {
		message["role"] = f.role.raw()
	}
	body := f.top.object()
	body["output"] = jsonObject(modelio.Object{"message": jsonObject(message)})
	return jsonObject(body), f.done
}

// converseEvent returns the kind of an event that says it by the name of a member, as
// Amazon's own models have it; "" for any other.
func converseEvent(v value) (kind string, event value) {
	for name, m := range v.members() {
		switch name {
		case "messageStart", "contentBlockStart", "contentBlockDelta", "contentBlockStop", "messageStop", "metadata":
			return name, m
		}
	}
	return "", value{}
}
