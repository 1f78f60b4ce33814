package provider

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"

	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/modelio"
)

var converseParameters = parametersOf(
	"temperature", "maxTokens=max_tokens",
	"topP=top_p", "stopSequences=stop",
)

// The Converse and ConverseStream operations of AWS Bedrock. The URL contains the model, and whether the answer is
// streamed. There is no seed.
var _ = Register(&Codec{
	API:     "bedrock.converse",
	Hosts:   []string{"bedrock*.amazonaws.com", "bedrock*.amazonaws.com.cn", "bedrock*.api.aws"},
	Keys:    []string{"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"},
	Tokens:  []string{"AWS_BEARER_TOKEN_BEDROCK"},
	Fixed:   claudeFixed,
	Match:   postsToModel("/converse", "/converse-stream"),
	body:    converseForm.decode,
	outside: operationOf("converse"),
	Refusal: refuseAsBedrock,
	answer:  converseAnswer,
	stream:  converseStream,
	looks:   isConverseAnswer,
	begins:  func(name string, _ jsontext.Value) bool { return name == "messageStart" },
})

func isConverseAnswer(body jsontext.Value) bool {
	return body.Member("output", "message").IsObject() && body.Member("stopReason").Present()
}

// postsToModel returns the Match for operations on a model of Bedrock.
func postsToModel(operations ...string) func(*Wire) bool {
	return both(namesModel, posts(jsontext.Value.IsObject, operations...))
}

func namesModel(w *Wire) bool { return bedrockModel(w.URL) != "" }

// bedrockModel returns the model in a path /model/<model>/<operation>; "" for any other path. A model may be an ARN
// with slashes and colons.
func bedrockModel(u *url.URL) string {
	_, rest, _ := strings.Cut(u.EscapedPath(), "/model/")
	escaped, _, _ := cutLast(rest, "/")
	model, _ := url.PathUnescape(escaped) // parsed before
	return model
}

// operationOf returns the function that takes the model from a path, and its operation if that is not the usual one.
func operationOf(usual string) outside {
	return also(func(w *Wire, req *modelio.Request) { modelOfPath(req, bedrockModel(w.URL)) }, sayOperation(usual))
}

var converseForm = requestForm{members: converseMembers, parameters: converseParameters, in: "inferenceConfig"}

// converseMembers are members that Amazon's own models accept in the same form.
var converseMembers = map[string]taker{
	"system":     takeMessage(modelio.RoleSystem, blocksOf(converseBlock)),
	"messages":   takeMessages(claudeSpeakers.taking(partTaker{"content", blocksOf(converseBlock)}), false),
	"toolConfig": takeToolConfig,
}

func takeToolConfig(r *modelio.Request, name string, v jsontext.Value) (ok bool) {
	if r.Tools, ok = objects(v.Member("tools"), converseTool); ok {
		jsontext.KeepRest(&r.Options, name, v, "tools")
	}
	return ok
}

// converseTool decodes a tool specification. Any other entry is kept completely.
func converseTool(v jsontext.Value) modelio.ToolDefinition {
	spec := v.Member("toolSpec")
	if !spec.Member("name").IsWord() {
		return wholeTool(v)
	}
	tool := modelio.ToolDefinition{Metadata: v.Rest("toolSpec")}
	rest := functionTool(&tool, spec, "")
	if schema := spec.Member("inputSchema"); schema.Len() == 1 && schema.Member("json").Present() {
		tool.InputSchema = schema.Member("json").Raw()
		delete(rest, "inputSchema")
	}
	jsontext.KeepObject(&tool.Metadata, "toolSpec", rest)
	return tool
}

func converseBlocks(v jsontext.Value) ([]modelio.Part, bool) { return objects(v, converseBlock) }

// converseBlock decodes a block, which has one member named after its kind. A block that no part can represent, or that
// does not have the form of its kind, becomes a custom part with all of its members.
func converseBlock(v jsontext.Value) modelio.Part {
	var part modelio.Part
	found, fits := 0, true
	for kind, inner := range v.Members() {
		ok := true
		switch kind {
		case "text":
			part.Text, ok = textField(inner)
		case "image", "video", "audio", "document":
			source := inner.Member("source")
			part.Media, ok = formattedMedia(kind, inner.Member("format").Word(), source.Member("bytes").Word())
			ok = ok && source.Len() == 1
			jsontext.KeepRest(&part.Metadata, kind, inner, "format", "source")
		case "toolUse":
			part.ToolRequest = toolRequest(inner, "name", "toolUseId", "input")
			ok = part.ToolRequest.Name != "" && part.ToolRequest.Ref != "" && part.ToolRequest.Input != nil
			jsontext.KeepRest(&part.Metadata, kind, inner, "name", "toolUseId", "input")
		case "toolResult":
			part.ToolResponse = &modelio.ToolResponse{Ref: inner.Member("toolUseId").Word()}
			ok = part.ToolResponse.Ref != "" && converseResult(part.ToolResponse, inner.Member("content"))
			jsontext.KeepRest(&part.Metadata, kind, inner, "toolUseId", "content")
		case "reasoningContent":
			text := inner.Member("reasoningText")
			part.Reasoning, ok = textField(text.Member("text"))
			rest := inner.Rest("reasoningText")
			jsontext.KeepRest(&rest, "reasoningText", text, "text")
			jsontext.KeepObject(&part.Metadata, kind, rest)
		default:
			jsontext.Keep(&part.Metadata, kind, inner.Raw())
			continue
		}
		found, fits = found+1, fits && ok
	}
	return partOf(v, part, fits && found == 1)
}

// converseResult takes the content of a tool result: a single text or JSON value is the output.
func converseResult(result *modelio.ToolResponse, v jsontext.Value) (ok bool) {
	result.Content, ok = converseBlocks(v)
	if only := v.Head(); v.Len() == 1 && only.Len() == 1 {
		text, output := only.Member("text"), only.Member("json")
		switch {
		case text.IsString():
			result.Content, result.Output = nil, text.Raw()
		case output.Present() && !output.IsString():
			result.Content, result.Output = nil, output.Raw()
		}
	}
	return ok
}

var converseAnswer = needs("output", with(jsontext.Value.IsObject, "output", "message"), converseReply)

func converseReply(body jsontext.Value) *modelio.Response {
	message := body.Member("output", "message")
	c := candidate(body.Member("stopReason").Word())
	c.Message.Content, _ = converseBlocks(message.Member("content"))
	for i := range c.Message.Content {
		citedPart(&c.Message.Content[i])
		ranPart(&c.Message.Content[i])
	}
	c.Message.Content = append(c.Message.Content, guarded(body.Member("trace"))...)
	c.Citations = converseCitations(message.Member("content"))
	return responseOf(body, converseUsage.of(body), []modelio.Candidate{c}, "output", "stopReason")
}

// citedPart turns a text with citations into a text, which is how it is streamed.
func citedPart(part *modelio.Part) {
	cited := jsontext.ValueOf(part.Custom["citationsContent"])
	if !cited.Present() {
		return
	}
	text := joined(cited.Member("content"))
	part.Text, part.Custom = &text, nil
	jsontext.KeepRest(&part.Metadata, "citationsContent", cited, "content")
}

// ranPart marks a call that Bedrock runs itself in the same way as for all APIs.
func ranPart(part *modelio.Part) {
	if kind := MetadataWord(part.Metadata, "toolUse", "type"); kind == "server_tool_use" { // the only one
		part.Metadata["type"] = jsontext.Text(kind)
	}
}

// guarded returns what a guardrail did, if the request asked for it; otherwise nil.
func guarded(trace jsontext.Value) []modelio.Part {
	if !trace.Member("guardrail").IsObject() {
		return nil
	}
	return []modelio.Part{{Custom: (&steady{}).object(trace, nil)}}
}

// converseStream folds events, whose kinds are their names.
var converseStream = foldRules{add: addConverse}

var (
	converseTop   = rules{"p": skip} // padding
	converseStart = rules{
		"toolUse": func(block *node, name string, v jsontext.Value) {
			block.member(name).putAll(v)
			block.member(name).member("input").set(json.RawMessage("{}"))
		},
		"toolResult": func(block *node, name string, v jsontext.Value) {
			block.member(name).putAll(v)
			block.member(name).member("content").become(arrayNode)
		},
	}
	converseDelta = rules{
		"toolUse": func(block *node, name string, v jsontext.Value) {
			block.member(name).growInner("input", v.Member("input"))
		},
		"toolResult": func(block *node, name string, v jsontext.Value) {
			block.member(name).extend("content", v)
		},
		"image":            into("image", rules{"source": into("source", growing())}),
		"reasoningContent": growReasoning,
		"citation": func(block *node, _ string, v jsontext.Value) {
			block.member("citationsContent").member("citations").append(v.Raw())
		},
		"": (*node).grow,
	}
)

// growReasoning takes reasoning, which is streamed without the object around its text and signature.
func growReasoning(block *node, name string, v jsontext.Value) {
	reasoning := block.member(name)
	if redacted := v.Member("redactedContent"); redacted.Present() {
		reasoning.grow("redactedContent", redacted)
		return
	}
	text := reasoning.member("reasoningText")
	growing().fold(text, v)
	if text.get("text") == nil { // only its signature was sent
		text.member("text").become(textNode)
	}
}

func addConverse(f *fold, name string, event jsontext.Value) {
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
}

// converseEvents are the kinds of events that say something.
var converseEvents = []string{"messageStart", "contentBlockStart", "contentBlockDelta", "messageStop", "metadata"}

// converseEvent returns the kind of an event that has a member named after it, as with Amazon's own models, or "".
func converseEvent(v jsontext.Value) (kind string, event jsontext.Value) {
	for name, m := range v.Members() {
		if slices.Contains(converseEvents, name) {
			return name, m
		}
	}
	return "", jsontext.Value{}
}
