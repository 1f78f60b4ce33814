// Package encoder writes Model IO requests as bodies of the APIs that package contract calls. Package provider
// decodes such a body to the same request again.
//
// Requests that no codec decoded are in plain GK terms. A member that the API has no place for is an error, except
// metadata of system messages where the API has one member for all of them, and the output schemas of tools. The
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

// A writer writes a request for an API. Its first error stays, and what it writes besides is for nobody.
type writer struct {
	api string
	err error
}

// fail notes what the API has no way to say.
func (w *writer) fail(pointer, reason string) {
	if w.err == nil {
		w.err = &provider.WireError{API: w.api, Pointer: pointer, Reason: reason}
	}
}

// failAt is fail for one part of one message; -1 is no part.
func (w *writer) failAt(message, part int, reason string) {
	pointer := "/messages/" + strconv.Itoa(message)
	if part >= 0 {
		pointer += "/content/" + strconv.Itoa(part)
	}
	w.fail(pointer, reason)
}

const noBlock = "a part of a kind that the API has no block for"

// body writes what a form decodes, except for messages and Options. own reports whether a tool of a type is
// one that the caller defines, which is for tool; others are whole in their Metadata. It fails for a
// request with a prompt.
func (w *writer) body(
	r *modelio.Request, parameters map[string]string,
	own func(kind json.RawMessage) bool, tool func(modelio.ToolDefinition) modelio.Object,
) modelio.Object {
	if r.Prompt != nil {
		w.fail("/prompt", "the API takes messages and no prompt")
	}
	body := w.parameters(r, parameters)
	if r.Model != "" {
		body["model"] = jsontext.Text(r.Model)
	}
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

// isUntyped is for APIs in which only the caller's own tools have no type beside their fields.
func isUntyped(kind json.RawMessage) bool { return kind == nil }

// A blockWriter makes the block of a part that has a place among others.
type blockWriter func(at int, part modelio.Part) modelio.Object

// encodeOutput writes the result of a tool call as blocks or as text.
func encodeOutput(result *modelio.ToolResponse, one blockWriter) json.RawMessage {
	if result.Content != nil {
		return encodeContent(result.Content, false, one)
	}
	return argumentsOf(result.Output)
}

// encodeContent writes content as text where it should and can be, else as blocks, each with the Metadata of its part over
// what one makes of it.
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

// texts returns an object whose members are strings, given as names and values.
func texts(pairs ...string) modelio.Object {
	o := modelio.Object{}
	for i := 0; i < len(pairs); i += 2 {
		o[pairs[i]] = jsontext.Text(pairs[i+1])
	}
	return o
}

// overlay puts the members of extra over those of base, and merges where both are objects. It
// undoes what jsontext.Keep and KeepRest do: base is what a codec makes of the fields, extra is what had
// none. Our own marks are no members of the wire.
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

// overlaid writes an object with extra over it.
func overlaid(o, extra modelio.Object) json.RawMessage {
	overlay(o, extra)
	return jsontext.ObjectText(o)
}

// parameters writes the parameters of a request, of which names maps what the API calls them to ours. It fails on
// one that the API does not have.
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

// argumentsOf writes the input of a call, or the output of a tool, as a string.
func argumentsOf(input json.RawMessage) json.RawMessage {
	switch {
	case input == nil:
		return jsontext.Text("{}")
	case input[0] == '"':
		return input
	}
	return jsontext.Text(string(input))
}

// encodeFunctionTool writes name, description and schema of a tool.
func encodeFunctionTool(tool modelio.ToolDefinition, schemaName string) modelio.Object {
	o := modelio.Object{"name": jsontext.Text(tool.Name)}
	if tool.Description != "" {
		o["description"] = jsontext.Text(tool.Description)
	}
	if tool.InputSchema != nil {
		o[schemaName] = tool.InputSchema
	}
	return o
}
