// Package encoder encodes Model IO requests as bodies of the APIs that package contract calls. Package provider decodes
// such a body to the same request.
//
// Requests that were not decoded by a codec are in plain GK terms. Package contract refuses those that their API cannot
// express; here, whatever the API has no place for is left out, as are the path, the query and the headers of a decoded
// request.
package encoder

import (
	"bytes"
	"encoding/json"
	"maps"

	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/internal/provider"
	"github.com/traceforge/traceforge-go/modelio"
)

// A list is an array of values.
type list = []json.RawMessage

// encodeBody encodes the members that a form decodes, except for messages and Options. own reports whether a tool type
// is one that the caller defines, which tool encodes; the Metadata of other tools are complete.
func encodeBody(
	r *modelio.Request, parameters map[string]string,
	own func(kind json.RawMessage) bool, tool func(modelio.ToolDefinition) modelio.Object,
) modelio.Object {
	body := encodeParameters(r, parameters)
	jsontext.KeepText(&body, "model", r.Model)
	if r.Tools == nil {
		return body
	}
	all := list{}
	for _, t := range r.Tools {
		o := modelio.Object{}
		if own(t.Metadata["type"]) {
			o = tool(t)
		}
		all = append(all, overlaid(o, t.Metadata))
	}
	body["tools"] = jsontext.List(all)
	return body
}

// isUntyped is for APIs in which only the caller's own tools have no type.
func isUntyped(kind json.RawMessage) bool { return kind == nil }

// A blockWriter encodes a part as a block.
type blockWriter func(part modelio.Part) modelio.Object

// encodeOutput encodes the result of a tool call as blocks or as text.
func encodeOutput(result *modelio.ToolResponse, one blockWriter) json.RawMessage {
	if result.Content != nil {
		return encodeContent(result.Content, false, one)
	}
	return argumentsOf(result.Output)
}

// encodeContent encodes content as text if it should and can be, and otherwise as blocks, each with the Metadata of its
// part on top.
func encodeContent(parts []modelio.Part, asText bool, one blockWriter) json.RawMessage {
	if asText && provider.IsPlainText(parts) {
		return jsontext.Text(*parts[0].Text)
	}
	all := list{}
	for _, part := range parts {
		o := modelio.Object{}
		if part.Custom != nil {
			overlay(o, part.Custom)
		} else {
			maps.Copy(o, one(part))
		}
		all = append(all, overlaid(o, part.Metadata))
	}
	return jsontext.List(all)
}

// texts returns an object with string members, given as alternating names and values.
func texts(pairs ...string) modelio.Object {
	o := modelio.Object{}
	for i := 0; i < len(pairs); i += 2 {
		o[pairs[i]] = jsontext.Text(pairs[i+1])
	}
	return o
}

// overlay puts the members of extra on top of those of base, and merges objects. It reverses jsontext.Keep and
// KeepRest: base is what a codec makes of the fields, and extra are the members without a field. Marks of our own are
// not members of the request.
func overlay(base, extra modelio.Object) {
	for name, v := range extra {
		if provider.IsMark(name) {
			continue
		}
		if under, ok := base[name]; ok && bytes.Equal(v, provider.SpacedText) {
			v = jsontext.Text(string(provider.Spaced([]byte(jsontext.WordOf(under))))) // a codec wrote it
		} else if ok {
			a, aok := jsontext.MembersOf(under)
			b, bok := jsontext.MembersOf(v)
			if aok && bok {
				overlay(a, b)
				v = jsontext.ObjectText(a)
			}
		}
		base[name] = v
	}
}

// overlaid encodes an object with extra on top.
func overlaid(o, extra modelio.Object) json.RawMessage {
	overlay(o, extra)
	return jsontext.ObjectText(o)
}

// encodeParameters encodes the parameters of a request; names maps the API's names to ours.
func encodeParameters(r *modelio.Request, names map[string]string) modelio.Object {
	said := modelio.Object{}
	for _, parameter := range modelio.Parameters {
		if number := *parameter.Field(r); number != nil {
			said[parameter.Name] = json.RawMessage(*number)
		}
	}
	if r.Stop != nil {
		said["stop"] = jsontext.Texts(r.Stop)
	}
	o := modelio.Object{}
	for name, ours := range names {
		jsontext.Keep(&o, name, said[ours])
	}
	return o
}

// argumentsOf encodes the input of a call, or the output of a tool, as a string.
func argumentsOf(input json.RawMessage) json.RawMessage {
	switch {
	case input == nil:
		return jsontext.Text("{}")
	case input[0] == '"':
		return input
	}
	return jsontext.Text(string(input))
}

// encodeFunctionTool encodes name, description and schema of a tool.
func encodeFunctionTool(tool modelio.ToolDefinition, schemaName string) modelio.Object {
	o := modelio.Object{"name": jsontext.Text(tool.Name)}
	jsontext.KeepText(&o, "description", tool.Description)
	jsontext.Keep(&o, schemaName, tool.InputSchema)
	return o
}
