package provider

import (
	"cmp"
	"slices"
	"strings"

	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/modelio"
)

var responsesAnswer = needs("output", hasList("output"), responseObject)

// responseObject decodes a response. All items of its output are parts of one message.
func responseObject(body jsontext.Value) *modelio.Response {
	c := candidate(cmp.Or(body.Member("incomplete_details", "reason").Word(), body.Member("status").Word()))
	for _, item := range body.Member("output").Elements() {
		parts := responsesParts(item)
		if item.Member("type").Word() == "custom_tool_call" && !declares(body.Member("tools"), item.Member("name").Word()) {
			parts = []modelio.Part{{Custom: item.Rest("id")}} // xAI's own search, which the caller must not run
		}
		c.Message.Content = append(c.Message.Content, parts...)
	}
	if body.Member("object").Word() == "response.compaction" { // it has no status
		c.FinishReason = modelio.FinishStop
	}
	c.Citations = responsesCitations(body.Member("output"))
	refuses := func(p modelio.Part) bool { return MetadataWord(p.Metadata, "type") == "refusal" }
	if slices.ContainsFunc(c.Message.Content, refuses) {
		c.FinishReason = modelio.FinishBlocked // its status is only "completed"
	}
	usage := responsesUsage.of(body)
	if underWay := []string{"queued", "in_progress"}; slices.Contains(underWay, body.Member("status").Word()) {
		usage = nil // reported when the response is done, so that polls do not count it again
	}
	return responseOf(body, usage, []modelio.Candidate{c}, "output", "status", "incomplete_details", "error")
}

// declares reports whether the tools that an answer repeats contain one with that name, which the caller declared. It
// is false for an answer that repeats none.
func declares(tools jsontext.Value, name string) bool {
	return tools.IsEmpty() || slices.ContainsFunc(tools.Values(), func(tool jsontext.Value) bool {
		return tool.Member("type").Word() == "custom" && tool.Member("name").Word() == name
	})
}

// responsesParts decodes an item of an output. Its id and status are dropped, because they change or are obvious.
func responsesParts(item jsontext.Value) []modelio.Part {
	if item.Member("type").Word() == "image_generation_call" && item.Member("result").IsWord() {
		contentType := "image/" + cmp.Or(item.Member("output_format").Word(), "png")
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

// responsesStream folds events. The last one has the complete response; the others count if that was not sent, or was
// sent without output.
var responsesStream = foldRules{add: addResponses, end: endResponses}

func addResponses(f *fold, name string, event jsontext.Value) {
	kind := cmp.Or(event.Member("type").Word(), name)
	item := func() *node { return f.body.member("items").at(event.Member("output_index")) }
	content := func() *node { return item().member("content").at(event.Member("content_index")) }
	summary := func() *node { return item().member("summary").at(event.Member("summary_index")) }
	switch what := strings.TrimPrefix(kind, "response."); what {
	case "created", "queued", "in_progress":
		f.body.put("response", event.Member("response"))
	case "completed", "incomplete", "failed":
		f.body.put("response", event.Member("response"))
		f.done = true
	case "output_item.added", "output_item.done":
		item().putAll(event.Member("item"))
	case "content_part.added": // its text may be empty
		content().putAll(event.Member("part"))
	case "output_text.delta", "refusal.delta", "reasoning_text.delta":
		content().growBlock(strings.TrimSuffix(what, ".delta"), event)
	case "reasoning_summary_text.delta":
		summary().growBlock("summary_text", event)
	case "output_text.annotation.added":
		content().member("annotations").append(event.Member("annotation").Raw())
	case "shell_call_command.added", "shell_call_command.delta", "shell_call_command.done":
		item().member("action").member("commands").at(event.Member("command_index")).growCommand(event)
	case "shell_call_output_content.delta":
		growing().fold(item().member("output").at(event.Member("command_index")), event.Member("delta"))
	default:
		text, isDelta := strings.CutSuffix(what, ".delta")
		text = strings.TrimSuffix(text, ".done")
		if member := itemTexts[text]; isDelta && member != "" {
			item().grow(member, event.Member("delta"))
		} else if member != "" { // some hosts send no deltas
			item().put(member, event.Member(member))
		}
	}
}

// itemTexts are the members of items that are sent in pieces, by what their events are called.
var itemTexts = map[string]string{
	"code_interpreter_call_code": "code",
	"custom_tool_call_input":     "input",
	"function_call_arguments":    "arguments",
	"mcp_call_arguments":         "arguments",
}

// growCommand takes an event about a command of a shell call: its start, a piece, or all of it.
func (n *node) growCommand(event jsontext.Value) {
	if piece := event.Member("delta"); piece.IsString() {
		n.growText(piece)
	} else if whole := event.Member("command"); whole.IsString() {
		n.set(whole.Raw())
	}
}

// growBlock adds an event's delta to a block of the given type.
func (n *node) growBlock(kind string, event jsontext.Value) {
	if n.get("type") == nil {
		n.member("type").set(jsontext.Text(kind))
	}
	n.grow(cmp.Or(responsesContent[kind], "text"), event.Member("delta"))
	if tokens := event.Member("logprobs"); !tokens.IsEmpty() {
		n.extend("logprobs", tokens)
	}
}

func endResponses(f *fold) {
	items := f.body.get("items").list()
	response := f.body.member("response")
	response.become(objectNode)
	f.body = *response
	if output := f.body.get("output"); output != nil && !saysNothing(output.raw) {
		return
	}
	output := f.body.member("output")
	output.become(arrayNode)
	output.items = items
	typeMessages(items)
}

// typeMessages gives items of which only the text was sent the type of messages.
func typeMessages(items []*node) {
	for _, item := range items {
		if item.get("type") == nil && item.get("content") != nil {
			item.member("type").set(jsontext.Text("message"))
			item.member("role").set(jsontext.Text("assistant"))
		}
	}
}
