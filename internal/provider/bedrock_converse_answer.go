package provider

import (
	"encoding/json"

	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/modelio"
)

var converseUsage = usageNames{
	input:      [][]string{{"inputTokens"}},
	output:     [][]string{{"outputTokens"}},
	total:      [][]string{{"totalTokens"}},
	cacheRead:  [][]string{{"cacheReadInputTokens"}, {"cacheReadInputTokenCount"}},
	cacheWrite: [][]string{{"cacheWriteInputTokens"}, {"cacheWriteInputTokenCount"}},
}

func converseAnswer(body jsontext.Value) (*modelio.Response, error) {
	message := body.Member("output", "message")
	if !message.IsObject() {
		return nil, neither("output")
	}
	c := candidate(body.Member("stopReason").Word())
	c.Message.Content, _ = converseBlocks(message.Member("content"))
	tidy(&c.Message)
	return &modelio.Response{
		Candidates: []modelio.Candidate{c},
		Usage:      converseUsage.decode(body.Member("usage")),
		Metadata:   beside(body, "output", "stopReason", "usage"),
	}, nil
}

// converseFold makes an answer of its events, whose kinds are their names.
type converseFold struct {
	role   jsontext.Value
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

func (f *converseFold) add(name string, event jsontext.Value) error {
	f.begun = true
	block := func() *converseGrowing { return f.blocks.at(event.Member("contentBlockIndex")) }
	switch name {
	case "messageStart":
		f.role = event.Member("role")
	case "contentBlockStart":
		for kind, v := range event.Member("start").Members() {
			if kind == "toolUse" {
				block().call.putAll(v)
			} else {
				block().block.put(kind, v)
			}
		}
	case "contentBlockDelta":
		block().delta(event.Member("delta"))
	case "messageStop", "metadata":
		for name, v := range event.Members() {
			if name != "p" { // padding
				f.top.put(name, v)
			}
		}
		f.done = f.done || name == "messageStop"
	}
	return nil
}

func (b *converseGrowing) delta(delta jsontext.Value) {
	for kind, v := range delta.Members() {
		switch kind {
		case "toolUse":
			if input := v.Member("input"); input.IsString() {
				raw := input.Raw()
				b.input = append(b.input, raw[1:len(raw)-1]...)
			}
		case "reasoningContent":
			for name, m := range v.Members() {
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
		block["toolUse"] = jsontext.ObjectText(call)
	}
	if reasoning := b.reasoning.object(); len(reasoning) > 0 {
		if redacted, ok := reasoning["redactedContent"]; ok {
			block["reasoningContent"] = jsontext.ObjectText(modelio.Object{"redactedContent": redacted})
		} else {
			if _, ok := reasoning["text"]; !ok {
				reasoning["text"] = jsontext.Text("")
			}
			block["reasoningContent"] = jsontext.ObjectText(modelio.Object{"reasoningText": jsontext.ObjectText(reasoning)})
		}
	}
	return jsontext.ObjectText(block)
}

func (f *converseFold) body() (json.RawMessage, bool) {
	if !f.begun {
		return nil, false
	}
	content := list{}
	for _, b := range f.blocks.items {
		content = append(content, b.json())
	}
	message := modelio.Object{"content": jsontext.List(content)}
	if f.role.Present() {
		message["role"] = f.role.Raw()
	}
	body := f.top.object()
	body["output"] = jsontext.ObjectText(modelio.Object{"message": jsontext.ObjectText(message)})
	return jsontext.ObjectText(body), f.done
}

// converseEvent returns the kind of an event that says it by the name of a member, as
// Amazon's own models have it; "" for any other.
func converseEvent(v jsontext.Value) (kind string, event jsontext.Value) {
	for name, m := range v.Members() {
		switch name {
		case "messageStart", "contentBlockStart", "contentBlockDelta", "contentBlockStop", "messageStop", "metadata":
			return name, m
		}
	}
	return "", jsontext.Value{}
}
