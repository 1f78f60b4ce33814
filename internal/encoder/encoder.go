// Package encoder encodes Model IO requests as bodies of the APIs that package contract calls. Package provider decodes
// such a body to the same request.
//
// Requests that were not decoded by a codec are in plain GK terms. A member that the API cannot express is an error,
// except for metadata of system messages if the API has one member for all of them, and output schemas of tools. The
// path, the query and the headers of a decoded request are left out. Errors are of type [*provider.WireError].
package encoder

import (
	"bytes"
	"encoding/json"
	"maps"
	"strconv"

	"github.com/traceforge/traceforge-go/internal/inorder"
	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/internal/provider"
	"github.com/traceforge/traceforge-go/modelio"
)

// A list is an array of values.
type list = []json.RawMessage

// A writer encodes a request for an API. It keeps its first error, after which its output is unused.
type writer struct {
	api string
	err error
}

// fail notes something that the API cannot express.
func (w *writer) fail(pointer, reason string) {
	if w.err == nil {
		w.err = &provider.WireError{API: w.api, Pointer: pointer, Reason: reason}
	}
}

// failAt is fail for a part of a message; part is -1 for the message itself.
func (w *writer) failAt(message, part int, reason string) {
	pointer := "/messages/" + strconv.Itoa(message)
	if part >= 0 {
		pointer += "/content/" + strconv.Itoa(part)
	}
	w.fail(pointer, reason)
}

const noBlock = "a part of a kind that the API has no block for"

// body encodes the members that a form decodes, except for messages and Options. own reports whether a tool type is one
// that the caller defines, which tool encodes; the Metadata of other tools are complete. It fails for a request with a
// prompt.
func (w *writer) body(
	r *modelio.Request, parameters map[string]string,
	own func(kind json.RawMessage) bool, tool func(modelio.ToolDefinition) modelio.Object,
) modelio.Object {
	if r.Prompt != nil {
		w.fail("/prompt", "the API takes messages and no prompt")
	}
	body := w.parameters(r, parameters)
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

// A blockWriter encodes a part as a block among others.
type blockWriter func(at int, part modelio.Part) modelio.Object

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
	for i, part := range parts {
		o := modelio.Object{}
		if part.Custom != nil {
			overlay(o, part.Custom)
		} else {
			maps.Copy(o, one(i, part))
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

// parameters encodes the parameters of a request; names maps the API's names to ours. It fails on a parameter that the
// API does not have.
func (w *writer) parameters(r *modelio.Request, names map[string]string) modelio.Object {
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
		if v, ok := said[ours]; ok {
			o[name] = v
			delete(said, ours)
		}
	}
	for _, ours := range inorder.Names(said) {
		w.fail(jsontext.PointerTo(ours), "the API has no such parameter")
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
