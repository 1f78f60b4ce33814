package provider

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/modelio"
)

var responsesUsage = usageNames{
	input:      [][]string{{"input_tokens"}},
	output:     [][]string{{"output_tokens"}},
	total:      [][]string{{"total_tokens"}},
	reasoning:  [][]string{{"output_tokens_details", "reasoning_tokens"}},
	cacheRead:  [][]string{{"input_tokens_details", "cached_tokens"}},
	cacheWrite: [][]string{{"input_tokens_details", "cache_write_tokens"}},
}

// responsesAnswer decodes a response object. All items of its output are parts of one message.
func responsesAnswer(body jsontext.Value) (*modelio.Response, error) {
	if !body.Member("output").IsArray() {
		return nil, neither("output")
	}
	c := candidate(cmp.Or(body.Member("incomplete_details", "reason").Word(), body.Member("status").Word()))
	for _, item := range body.Member("output").Elements() {
		c.Message.Content = append(c.Message.Content, responsesParts(item)...)
	}
	tidy(&c.Message)
	for _, part := range c.Message.Content {
		if part.Text != nil && metadataWord(part.Metadata, "type") == "refusal" {
			c.FinishReason = modelio.FinishBlocked // the status is plain "completed"
		}
	}
	return &modelio.Response{
		Candidates: []modelio.Candidate{c},
		Usage:      responsesUsage.decode(body.Member("usage")),
		ID:         body.Member("id").Word(),
		Model:      body.Member("model").Word(),
		Metadata:   beside(body, "id", "model", "usage", "object", "output", "status", "incomplete_details", "error"),
	}, nil
}

// responsesParts decodes an item of an output. Its id and status change or go without saying.
func responsesParts(item jsontext.Value) []modelio.Part {
	if item.Member("type").Word() == "image_generation_call" && item.Member("result").IsWord() {
		contentType := "image/" + firstWord(item, "output_format")
		if contentType == "image/" {
			contentType = "image/png"
		}
		part := modelio.MediaPart(contentType, dataURL(contentType, item.Member("result").Word()))
		part.Metadata = item.Rest("id", "status", "result")
		return []modelio.Part{part}
	}
	m := responsesItem(item)
	if encrypted, ok := m.Metadata["encrypted_content"]; ok {
		if len(m.Content) == 0 {
			m.Content = []modelio.Part{modelio.ReasoningPart("")}
		}
		jsontext.Keep(&m.Content[0].Metadata, "encrypted_content", encrypted)
	}
	for i := range m.Content {
		part := &m.Content[i]
		switch {
		case part.Custom != nil:
			delete(part.Custom, "id")
		case part.ToolRequest != nil:
			delete(part.Metadata, "id")
			delete(part.Metadata, "status")
			delete(part.Metadata, "arguments")
		}
	}
	return m.Content
}

// responsesFold makes a response object of its events. The last event has the object whole; what
// the others say counts if that did not come, or came without output.
type responsesFold struct {
	response jsontext.Value
	items    sequence[responsesGrowing]
	done     bool
}

// responsesGrowing is an item that is under way.
type responsesGrowing struct {
	item             growing // but for what follows
	content, summary sequence[growing]
}

func (f *responsesFold) add(name string, event jsontext.Value) error {
	kind := event.Member("type").Word()
	if kind == "" {
		kind = name
	}
	item := func() *responsesGrowing { return f.items.at(event.Member("output_index")) }
	content := func() *growing { return item().content.at(event.Member("content_index")) }
	summary := func() *growing { return item().summary.at(event.Member("summary_index")) }
	switch strings.TrimPrefix(kind, "response.") {
	case "created", "queued", "in_progress":
		f.response = event.Member("response")
	case "completed", "incomplete", "failed":
		f.response, f.done = event.Member("response"), true
	case "output_item.added", "output_item.done":
		item().put(event.Member("item"))
	case "content_part.added", "content_part.done":
		content().putAll(event.Member("part"))
	case "reasoning_summary_part.added", "reasoning_summary_part.done":
		summary().putAll(event.Member("part"))
	case "output_text.delta":
		content().growBlock("output_text", "text", event)
	case "refusal.delta":
		content().growBlock("refusal", "refusal", event)
	case "reasoning_text.delta":
		content().growBlock("reasoning_text", "text", event)
	case "reasoning_summary_text.delta":
		summary().growBlock("summary_text", "text", event)
	case "output_text.annotation.added":
		content().append("annotations", event.Member("annotation").Raw())
	case "function_call_arguments.delta", "mcp_call_arguments.delta":
		item().item.grow("arguments", event.Member("delta"))
	case "function_call_arguments.done", "mcp_call_arguments.done": // some hosts send no deltas
		item().item.put("arguments", event.Member("arguments"))
	case "custom_tool_call_input.delta":
		item().item.grow("input", event.Member("delta"))
	case "code_interpreter_call_code.delta":
		item().item.grow("code", event.Member("delta"))
	}
	return nil
}

// put makes the item what v says.
func (g *responsesGrowing) put(v jsontext.Value) {
	for name, m := range v.Members() {
		var blocks *sequence[growing]
		switch name {
		case "content":
			blocks = &g.content
		case "summary":
			blocks = &g.summary
			g.item.put(name, m) // an empty one says that there is none
		default:
			g.item.put(name, m)
			continue
		}
		if m.IsEmpty() {
			continue
		}
		*blocks = sequence[growing]{}
		for i, block := range m.Elements() {
			blocks.indexes = append(blocks.indexes, int64(i))
			blocks.items = append(blocks.items, &growing{set: block.Object()})
		}
	}
}

// growBlock lets a block of the given type grow by the event's delta.
func (g *growing) growBlock(kind, field string, event jsontext.Value) {
	if !g.has("type") {
		jsontext.Keep(&g.set, "type", jsontext.Text(kind))
	}
	g.grow(field, event.Member("delta"))
	if tokens := event.Member("logprobs"); !tokens.IsEmpty() {
		g.extend("logprobs", tokens)
	}
}

func (g *responsesGrowing) json() json.RawMessage {
	o := g.item.object()
	if _, known := o["type"]; !known && len(g.content.items) > 0 { // only its text came
		o["type"], o["role"] = jsontext.Text("message"), jsontext.Text("assistant")
	}
	if len(g.content.items) > 0 {
		o["content"] = jsonGrowing(g.content.items)
	}
	if len(g.summary.items) > 0 {
		o["summary"] = jsonGrowing(g.summary.items)
	}
	return jsontext.ObjectText(o)
}

func (f *responsesFold) body() (json.RawMessage, bool) {
	if !f.response.Present() && len(f.items.items) == 0 {
		return nil, false
	}
	body := f.response.Object()
	if f.response.Member("output").IsEmpty() {
		output := list{}
		for _, item := range f.items.items {
			output = append(output, item.json())
		}
		body["output"] = jsontext.List(output)
	}
	return jsontext.ObjectText(body), f.done
}
