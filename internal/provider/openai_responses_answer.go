package provider

import (
	"encoding/json"
	"strings"

	"github.com/traceforge/traceforge-go/modelio"
)

func (openAIResponses) DecodeResponse(a *Answer) (*Response, error) {
	return decodeAnswer(responsesAPI, a, func() fold { return &responsesFold{} }, responsesAnswer)
}

var responsesUsage = usageNames{
	input:      [][]string{{"input_tokens"}},
	output:     [][]string{{"output_tokens"}},
	total:      [][]string{{"total_tokens"}},
	reasoning:  [][]string{{"output_tokens_details", "reasoning_tokens"}},
	cacheRead:  [][]string{{"input_tokens_details", "cached_tokens"}},
	cacheWrite: [][]string{{"input_tokens_details", "cache_write_tokens"}},
}

// responsesAnswer decodes a response object. All items of its output are parts of one message.
func responsesAnswer(body value) (*Response, error) {
	if !body.member("output").isArray() {
		return nil, &WireError{API: responsesAPI, Reason: "the answer has neither output nor an error"}
	}
	c := Candidate{
		Message:         modelio.Message{Role: modelio.RoleModel},
		FinishReasonRaw: body.member("status").word(),
	}
	if reason := body.member("incomplete_details", "reason").word(); reason != "" {
		c.FinishReasonRaw = reason
	}
	c.FinishReason = finishReason(c.FinishReasonRaw)
	for _, item := range body.member("output").elements() {
		c.Message.Content = append(c.Message.Content, responsesParts(item)...)
	}
	tidy(&c.Message)
	for _, part := range c.Message.Content {
		if part.Text != nil && metadataWord(part.Metadata, "type") == "refusal" {
			c.FinishReason = modelio.FinishBlocked // the status is plain "completed"
		}
	}
	return &Response{
		Candidates: []Candidate{c},
		Usage:      responsesUsage.decode(body.member("usage")),
		ID:         body.member("id").word(),
		Model:      body.member("model").word(),
		Metadata:   beside(body, "id", "model", "usage", "object", "output", "status", "incomplete_details", "error"),
	}, nil
}

// responsesParts decodes an item of an output. Its id and status change or go without saying.
func responsesParts(item value) []modelio.Part {
	if item.member("type").word() == "image_generation_call" && item.member("result").isWord() {
		contentType := "image/" + firstWord(item, "output_format")
		if contentType == "image/" {
			contentType = "image/png"
		}
		part := modelio.MediaPart(contentType, dataURL(contentType, item.member("result").word()))
		part.Metadata = item.rest("id", "status", "result")
		return []modelio.Part{part}
	}
	m := responsesItem(item)
	if encrypted, ok := m.Metadata["encrypted_content"]; ok {
		if len(m.Content) == 0 {
			m.Content = []modelio.Part{modelio.ReasoningPart("")}
		}
		keep(&m.Content[0].Metadata, "encrypted_content", encrypted)
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
	response value
	items    sequence[responsesGrowing]
	done     bool
}

// responsesGrowing is an item that is under way.
type responsesGrowing struct {
	item             growing // but for what follows
	content, summary sequence[growing]
}

func (f *responsesFold) add(name string, event value) error {
	kind := event.member("type").word()
	if kind == "" {
		kind = name
	}
	item := func() *responsesGrowing { return f.items.at(event.member("output_index")) }
	content := func() *growing { return item().content.at(event.member("content_index")) }
	summary := func() *growing { return item().summary.at(event.member("summary_index")) }
	switch strings.TrimPrefix(kind, "response.") {
	case "created", "queued", "in_progress":
		f.response = event.member("response")
	case "completed", "incomplete", "failed":
		f.response, f.done = event.member("response"), true
	case "output_item.added", "output_item.done":
		item().put(event.member("item"))
	case "content_part.added", "content_part.done":
		content().putAll(event.member("part"))
	case "reasoning_summary_part.added", "reasoning_summary_part.done":
		summary().putAll(event.member("part"))
	case "output_text.delta":
		content().growBlock("output_text", "text", event)
	case "refusal.delta":
		content().growBlock("refusal", "refusal", event)
	case "reasoning_text.delta":
		content().growBlock("reasoning_text", "text", event)
	case "reasoning_summary_text.delta":
		summary().growBlock("summary_text", "text", event)
	case "output_text.annotation.added":
		content().append("annotations", event.member("annotation").raw())
	case "function_call_arguments.delta", "mcp_call_arguments.delta":
		item().item.grow("arguments", event.member("delta"))
	case "function_call_arguments.done", "mcp_call_arguments.done": // some hosts send no deltas
		item().item.put("arguments", event.member("arguments"))
	case "custom_tool_call_input.delta":
		item().item.grow("input", event.member("delta"))
	case "code_interpreter_call_code.delta":
		item().item.grow("code", event.member("delta"))
	}
	return nil
}

// put makes the item what v says.
func (g *responsesGrowing) put(v value) {
	for name, m := range v.members() {
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
		if m.isEmpty() {
			continue
		}
		*blocks = sequence[growing]{}
		for i, block := range m.elements() {
			blocks.indexes = append(blocks.indexes, int64(i))
			blocks.items = append(blocks.items, &growing{set: block.object()})
		}
	}
}

// growBlock lets a block of the given type grow by the event's delta.
func (g *growing) growBlock(kind, field string, event value) {
	if !g.has("type") {
		keep(&g.set, "type", jsonText(kind))
	}
	g.grow(field, event.member("delta"))
	if tokens := event.member("logprobs"); !tokens.isEmpty() {
		g.extend("logprobs", tokens)
	}
}

func (g *responsesGrowing) json() json.RawMessage {
	o := g.item.object()
	if _, known := o["type"]; !known && len(g.content.items) > 0 { // only its text came
		o["type"], o["role"] = jsonText("message"), jsonText("assistant")
	}
	if len(g.content.items) > 0 {
		o["content"] = jsonGrowing(g.content.items)
	}
	if len(g.summary.items) > 0 {
		o["summary"] = jsonGrowing(g.summary.items)
	}
	return jsonObject(o)
}

func (f *responsesFold) body() (json.RawMessage, bool) {
	if !f.response.present() && len(f.items.items) == 0 {
		return nil, false
	}
	body := f.response.object()
	if f.response.member("output").isEmpty() {
		output := list{}
		for _, item := range f.items.items {
			output = append(output, item.json())
		}
		body["output"] = jsonList(output)
	}
	return jsonObject(body), f.done
}
