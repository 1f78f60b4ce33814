package provider

import (
	"encoding/json"
	"slices"

	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/modelio"
)

func converseAnswer(body jsontext.Value) (*modelio.Response, error) {
	message := body.Member("output", "message")
	if !message.IsObject() {
		return nil, neither("output")
	}
	c := candidate(body.Member("stopReason").Word())
	c.Message.Content, _ = converseBlocks(message.Member("content"))
	for i := range c.Message.Content {
		citedPart(&c.Message.Content[i])
	}
	tidy(&c.Message)
	c.Citations = converseCitations(message.Member("content"))
	return responseOf(body, converseUsage, []modelio.Candidate{c}, "output", "stopReason"), nil
}

// citedPart makes text that stands with its citations a text, as it is streamed.
func citedPart(part *modelio.Part) {
	doc, err := jsontext.Parse(part.Custom["citationsContent"])
	if err != nil {
		return
	}
	var text string
	for _, said := range doc.Root().Member("content").Elements() {
		text += said.Member("text").Word()
	}
	part.Text, part.Custom = &text, nil
	jsontext.KeepRest(&part.Metadata, "citationsContent", doc.Root(), "content")
}

// converseStream folds events, whose kinds are their names.
var converseStream = folding{add: addConverse}

var (
	converseTop   = rules{"p": skip} // padding
	converseStart = rules{"toolUse": func(block *node, name string, v jsontext.Value) {
		block.member(name).putAll(v)
		block.member(name).member("input").set(json.RawMessage("{}"))
	}}
	converseDelta = rules{
		"toolUse": func(block *node, name string, v jsontext.Value) {
			block.member(name).growInner("input", v.Member("input"))
		},
		"reasoningContent": growReasoning,
		"citation": func(block *node, _ string, v jsontext.Value) {
			block.member("citationsContent").member("citations").append(v.Raw())
		},
		"": (*node).grow,
	}
)

// growReasoning takes reasoning, which streams without the object that has its text and signature.
func growReasoning(block *node, name string, v jsontext.Value) {
	reasoning := block.member(name)
	if redacted := v.Member("redactedContent"); redacted.Present() {
		reasoning.grow("redactedContent", redacted)
		return
	}
	text := reasoning.member("reasoningText")
	growing().fold(text, v)
	if text.get("text") == nil { // its signature alone has come
		text.member("text").become(textNode)
	}
}

func addConverse(f *fold, name string, event jsontext.Value) error {
	content := f.body.member("output").member("message").member("content")
	content.become(arrayNode)
	switch name {
	case "contentBlockStart":
		converseStart.fold(content.at(event.Member("contentBlockIndex")), event.Member("start"))
	case "contentBlockDelta":
		converseDelta.fold(content.at(event.Member("contentBlockIndex")), event.Member("delta"))
	case "messageStop", "metadata":
		converseTop.fold(&f.body, event)
		f.done = f.done || name == "messageStop"
	}
	return nil
}

// converseEvents are the kinds of events.
var converseEvents = []string{
	"messageStart", "contentBlockStart", "contentBlockDelta", "contentBlockStop", "messageStop", "metadata",
}

// converseEvent returns the kind of an event that says it by the name of a member, as
// Amazon's own models have it; "" for any other.
func converseEvent(v jsontext.Value) (kind string, event jsontext.Value) {
	for name, m := range v.Members() {
		if slices.Contains(converseEvents, name) {
			return name, m
		}
	}
	return "", jsontext.Value{}
}
