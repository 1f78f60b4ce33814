package provider

import (
	"bytes"
	"strings"

	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/modelio"
)

// decodeMCPAnswer decodes a message or a stream of messages. Messages that the server sent before the answer, which are
// its own requests and notifications, are custom parts, like the elements of lists. A stream that the client listens to
// has no end. A stream whose events have ids continues when the client asks for the rest (2025-11-25, "Resumability and
// Redelivery").
func decodeMCPAnswer(a *Answer) (*modelio.Response, error) {
	if len(bytes.TrimSpace(a.Body)) == 0 {
		resp := looseResponse() // for a notification, or an answer
		resp.Complete = a.Asked == nil || !isMCPRequest(a.Asked) || mcpListens(a.Asked)
		return resp, nil
	}
	resp, err := a.decode(mcpStream, func(body jsontext.Value) (*modelio.Response, error) {
		return mcpAnswer(body, a.Asked)
	})
	if err == nil && resp.Error != nil {
		sayMCPErrors(resp, a.Seen())
	}
	if err == nil && !resp.Complete && resp.Error == nil {
		ids := EventIDs(a)
		goesOn := len(ids) > 0 && ids[len(ids)-1] != ""
		resp.Complete = !a.Open && (a.Asked != nil && mcpListens(a.Asked) || goesOn)
	}
	return resp, err
}

// mcpStream folds a stream of messages to a list of them.
var mcpStream = foldRules{add: func(f *fold, _ string, message jsontext.Value) {
	f.body.member("messages").append(message.Raw())
	f.done = f.done || isMCPAnswer(message)
}}

// mcpAnswer decodes one message, or those of a stream.
func mcpAnswer(body jsontext.Value, asked *modelio.Request) (*modelio.Response, error) {
	if body.Member("error").IsObject() {
		return looseResponse(mcpErrorParts(body)...), nil
	}
	messages := []jsontext.Value{body}
	if list := body.Member("messages"); list.IsArray() {
		messages = list.Values()
	}
	resp := looseResponse()
	said := &resp.Candidates[0].Message
	for _, message := range messages {
		switch result := message.Member("result"); {
		case message.Member("method").IsWord():
			said.Content = append(said.Content, mcpServerMessage(message))
		case result.IsObject():
			said.Content = append(append(said.Content, mcpBeside(message, "result")...), mcpParts(result, asked)...)
		default:
			return nil, neither("a result")
		}
	}
	if last := len(said.Content); last > 0 && said.Content[last-1].ToolResponse != nil {
		said.Role = modelio.RoleTool
	}
	return resp, nil
}

// mcpBeside returns the members that an answer should not have in addition to the named one. Programs that ignore case
// read Result as result, and some look for a result before an error.
func mcpBeside(message jsontext.Value, of string) []modelio.Part {
	if more := beside(message, "jsonrpc", "id", of); more != nil {
		return []modelio.Part{{Custom: more}}
	}
	return nil
}

// mcpErrorParts returns the members of an error other than its code and message.
func mcpErrorParts(message jsontext.Value) []modelio.Part {
	parts := mcpBeside(message, "error")
	if data := message.Member("error", "data"); data.Present() {
		parts = append(parts, modelio.Part{Custom: modelio.Object{"data": data.Raw()}})
	}
	return parts
}

// sayMCPErrors adds the errors in a stream. The last of them is the error of the answer.
func sayMCPErrors(resp *modelio.Response, events []Seen) {
	var parts []modelio.Part
	before := jsontext.Value{}
	for i := range events {
		doc, err := jsontext.Parse(events[i].Said)
		if err != nil || errorObject(doc.Root()) == nil {
			continue
		}
		if before.Present() {
			parts = append(parts, modelio.Part{Custom: modelio.Object{"error": before.Raw()}})
		}
		before = doc.Root().Member("error")
		parts = append(parts, mcpErrorParts(doc.Root())...)
	}
	if parts == nil {
		return
	}
	if len(resp.Candidates) == 0 {
		resp.Candidates = looseResponse().Candidates
	}
	said := &resp.Candidates[0].Message
	said.Content = append(said.Content, parts...)
}

// mcpServerMessage keeps a request or notification of the server, without what relates it to others.
func mcpServerMessage(message jsontext.Value) modelio.Part {
	kind := "request"
	if !message.Member("id").Present() {
		kind = "notification"
	}
	o := modelio.Object(message.Rest("jsonrpc", "id"))
	if params := message.Member("params"); params.IsObject() {
		o["params"] = jsontext.ObjectText(params.Object())
	}
	keepPresence(o, mcpPassing)
	return modelio.Part{Custom: modelio.Object{kind: jsontext.ObjectText(o)}}
}

// mcpSubscription is the member of _meta that names the request by which a client listens (2026-07-28).
const mcpSubscription = "io.modelcontextprotocol/subscriptionId"

// mcpParts decodes a result, whose members show its method. Only the name of a called tool is missing.
func mcpParts(result jsontext.Value, asked *modelio.Request) (parts []modelio.Part) {
	if asked != nil && asked.Model != "" && !result.Member("inputRequests").Present() {
		p := mcpResult(result)
		p.ToolResponse.Name = asked.Model
		p.Metadata = sayingSomething(p.Metadata)
		return []modelio.Part{p}
	}
	var taken []string
	each := func(list string, one func(jsontext.Value) modelio.Part) {
		if v := result.Member(list); v.IsArray() {
			taken = append(taken, list)
			parts = append(parts, partsOf(v, one)...)
		}
	}
	// each in the plural of its elements
	for _, list := range []string{"tools", "prompts", "resources", "resourceTemplates"} {
		each(list, func(v jsontext.Value) modelio.Part {
			return modelio.Part{Custom: modelio.Object{strings.TrimSuffix(list, "s"): v.Raw()}}
		})
	}
	each("contents", mcpContents)
	each("messages", mcpPromptMessage)
	each("content", mcpBlock) // of a task
	if text, ok := result.Member("instructions").Text(); ok {
		taken, parts = append(taken, "instructions"), append(parts, modelio.TextPart(text))
	}
	if meta := result.Member("_meta"); meta.Member(mcpSubscription).Present() {
		taken = append(taken, "_meta")
	}
	if said := beside(result, taken...); said != nil {
		parts = append(parts, modelio.Part{Custom: said})
	}
	return parts
}

// mcpContents decodes the contents of a resource: a text or bytes, with their location in Metadata.
func mcpContents(v jsontext.Value) modelio.Part {
	if p, ok := textPart(v, "text"); ok {
		return p
	}
	p, ok := dataPart(v, "mimeType", "blob")
	return partOf(v, p, ok)
}

// mcpPromptMessage decodes a message of a prompt, with its role in Metadata.
func mcpPromptMessage(v jsontext.Value) modelio.Part {
	p := mcpBlock(v.Member("content"))
	jsontext.Keep(&p.Metadata, "role", v.Member("role").Raw())
	return p
}

// mcpContent decodes one or more content blocks. It reports false for any other value, and for an empty list, which
// could not be distinguished from none.
func mcpContent(v jsontext.Value) ([]modelio.Part, bool) {
	if v.IsObject() {
		return []modelio.Part{mcpBlock(v)}, true
	}
	return objects(v, mcpBlock)
}

// mcpBlock decodes a content block. Links to resources, text resources, and blocks without what their part needs are
// custom parts.
func mcpBlock(v jsontext.Value) modelio.Part {
	var p modelio.Part
	ok := false
	switch v.Member("type").Word() {
	case "text":
		p, ok = textPart(v, "text", "type")
	case "image", "audio":
		p, ok = mcpMedia(v)
	case "resource":
		p, ok = mcpResource(v)
	case "tool_use":
		p, ok = callPart(v, "name", "id", "input", "type")
	case "tool_result":
		p = mcpResult(v, "type", "toolUseId")
		p.ToolResponse.Ref = v.Member("toolUseId").Word()
		ok = p.ToolResponse.Ref != ""
	}
	return partOf(v, p, ok)
}

// mcpMedia decodes an image or audio. Its type is in Metadata if the content type differs from it.
func mcpMedia(v jsontext.Value) (modelio.Part, bool) {
	names := []string{"mimeType", "data"}
	if strings.HasPrefix(v.Member("mimeType").Word(), v.Member("type").Word()+"/") {
		names = append(names, "type")
	}
	return dataPart(v, names...)
}

// mcpResource decodes an embedded resource that is not text; its other members are in Metadata's resource.
func mcpResource(v jsontext.Value) (modelio.Part, bool) {
	resource := v.Member("resource")
	p, ok := dataPart(resource, "mimeType", "blob")
	left := p.Metadata
	p.Metadata = v.Rest("type", "resource")
	jsontext.Keep(&p.Metadata, "resource", jsontext.ObjectText(left))
	return p, ok
}

// mcpResult decodes the result of a tool, without the members named.
func mcpResult(v jsontext.Value, without ...string) modelio.Part {
	result := &modelio.ToolResponse{Output: v.Member("structuredContent").Raw()}
	without = append(without, "structuredContent")
	if parts, ok := objects(v.Member("content"), mcpBlock); ok {
		result.Content = parts
		without = append(without, "content")
	}
	return modelio.Part{ToolResponse: result, Metadata: v.Rest(without...)}
}
