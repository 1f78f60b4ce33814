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
	if !ok {
		return modelio.Part{Custom: v.Object()}
	}
	return p
}

// mcpMedia decodes an image or a sound. Its type is in Metadata where the content type says another.
func mcpMedia(v jsontext.Value) (modelio.Part, bool) {
	names := []string{"mimeType", "data"}
	if strings.HasPrefix(v.Member("mimeType").Word(), v.Member("type").Word()+"/") {
		names = append(names, "type")
	}
	return dataPart(v, names...)
}

// mcpResource decodes an embedded resource that is no text; what else it says is in Metadata's resource.
func mcpResource(v jsontext.Value) (modelio.Part, bool) {
	resource := v.Member("resource")
	p, ok := dataPart(resource, "mimeType", "blob")
	left := p.Metadata
	p.Metadata = v.Rest("type", "resource")
	jsontext.Keep(&p.Metadata, "resource", jsontext.ObjectText(left))
	return p, ok
}

// mcpResult decodes the result of a tool, less the members named.
func mcpResult(v jsontext.Value, without ...string) modelio.Part {
	result := &modelio.ToolResponse{Output: v.Member("structuredContent").Raw()}
	without = append(without, "structuredContent")
	if parts, ok := objects(v.Member("content"), mcpBlock); ok {
		result.Content = parts
		without = append(without, "content")
	}
	return modelio.Part{ToolResponse: result, Metadata: v.Rest(without...)}
}
