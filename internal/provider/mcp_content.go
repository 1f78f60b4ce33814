package provider

import (
	"strings"

	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/modelio"
)

// mcpContent decodes a content block, or a list of them. It reports false for what is neither, and for an empty
// list, which could not be told from none.
func mcpContent(v jsontext.Value) ([]modelio.Part, bool) {
	if v.IsObject() {
		return []modelio.Part{mcpBlock(v)}, true
	}
	return objects(v, mcpBlock)
}

// mcpBlock decodes a content block. Links to resources, resources that are text, and blocks that lack what their part
// needs, are custom parts.
func mcpBlock(v jsontext.Value) modelio.Part {
	var p modelio.Part
	ok := false
	switch v.Member("type").Word() {
	case "text":
		p, ok = mcpText(v)
	case "image", "audio":
		p, ok = mcpMedia(v)
	case "resource":
		p, ok = mcpResource(v)
	case "tool_use":
		call := toolRequest(v, "name", "id", "input")
		p = modelio.Part{ToolRequest: call, Metadata: rest(v, "type", "id", "name", "input")}
		ok = call.Name != "" && call.Ref != ""
	case "tool_result":
		p = mcpResult(v, "type", "toolUseId")
		p.ToolResponse.Ref = v.Member("toolUseId").Word()
		ok = p.ToolResponse.Ref != ""
	}
	if !ok {
		return modelio.Part{Custom: v.Object()}
	}
	return p
}

// rest returns the members of an object but those named; nil: there are none.
func rest(v jsontext.Value, without ...string) modelio.Object {
	if o := v.Rest(without...); len(o) > 0 {
		return o
	}
	return nil
}

func mcpText(v jsontext.Value) (modelio.Part, bool) {
	text, ok := v.Member("text").Text()
	p := modelio.TextPart(text)
	p.Metadata = rest(v, "type", "text")
	return p, ok
}

// mcpMedia decodes an image or a sound. Its type is in Metadata where the content type says another.
func mcpMedia(v jsontext.Value) (modelio.Part, bool) {
	contentType := v.Member("mimeType").Word()
	data, ok := v.Member("data").Text()
	p := modelio.MediaPart(contentType, dataURL(contentType, data))
	without := []string{"mimeType", "data"}
	if strings.HasPrefix(contentType, v.Member("type").Word()+"/") {
		without = append(without, "type")
	}
	p.Metadata = rest(v, without...)
	return p, ok && isContentType(contentType)
}

// mcpResource decodes an embedded resource that is no text; what else it says is in Metadata's resource.
func mcpResource(v jsontext.Value) (modelio.Part, bool) {
	resource := v.Member("resource")
	p, ok := mcpBlob(resource)
	p.Metadata = rest(v, "type", "resource")
	jsontext.Keep(&p.Metadata, "resource", jsontext.ObjectText(resource.Rest("mimeType", "blob")))
	return p, ok
}

// mcpBlob decodes the bytes of a resource.
func mcpBlob(resource jsontext.Value) (modelio.Part, bool) {
	contentType := resource.Member("mimeType").Word()
	blob, ok := resource.Member("blob").Text()
	return modelio.MediaPart(contentType, dataURL(contentType, blob)), ok && isContentType(contentType)
}

// mcpResult decodes the result of a tool, less the members named.
func mcpResult(v jsontext.Value, without ...string) modelio.Part {
	result := &modelio.ToolResponse{Output: v.Member("structuredContent").Raw()}
	without = append(without, "structuredContent")
	if parts, ok := objects(v.Member("content"), mcpBlock); ok {
		result.Content = parts
		without = append(without, "content")
	}
	return modelio.Part{ToolResponse: result, Metadata: rest(v, without...)}
}
