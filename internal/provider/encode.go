package provider

import (
	"bytes"
	"encoding/json"

	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/modelio"
)

// encodeBody writes what a form decodes, except for messages and Options. own reports whether a tool of a type is
// one that the caller defines, which is for tool; others are whole in their Metadata. It fails for a
// request with a prompt.
func encodeBody(
	r *modelio.Request, api string, p parameters,
	own func(kind json.RawMessage) bool, tool func(modelio.ToolDefinition) modelio.Object,
) (modelio.Object, error) {
	if r.Prompt != nil {
		return nil, &WireError{API: api, Pointer: "/prompt", Reason: "the API takes messages and no prompt"}
	}
	body, err := p.encode(r)
	if err != nil {
		return nil, err
	}
	if r.Model != "" {
		body["model"] = jsontext.Text(r.Model)
	}
	if r.Tools == nil {
		return body, nil
	}
	all := list{}
	for _, t := range r.Tools {
		o := modelio.Object{}
		if own(t.Metadata["type"]) {
			o = tool(t)
		}
		overlay(o, t.Metadata)
		all = append(all, jsontext.ObjectText(o))
	}
	body["tools"] = jsontext.List(all)
	return body, nil
}

// isUntyped is for APIs in which only the caller's own tools have no type beside their fields.
func isUntyped(kind json.RawMessage) bool { return kind == nil }

// encodeContent writes content as text where it should and can be, else as blocks.
func encodeContent(
	parts []modelio.Part, asText bool, blocks func([]modelio.Part) (json.RawMessage, error),
) (json.RawMessage, error) {
	if asText && isPlainText(parts) {
		return jsontext.Text(*parts[0].Text), nil
	}
	return blocks(parts)
}

// encodeOutput writes the result of a tool call as blocks or as text.
func encodeOutput(
	result *modelio.ToolResponse, blocks func([]modelio.Part) (json.RawMessage, error),
) (json.RawMessage, error) {
	if result.Content != nil {
		return blocks(result.Content)
	}
	return argumentsOf(result.Output), nil
}

// encodeParts writes each part, with its Metadata over what one makes of it.
func encodeParts(
	parts []modelio.Part, one func(i int, part modelio.Part) (modelio.Object, error),
) (json.RawMessage, error) {
	all := list{}
	for i, part := range parts {
		o := modelio.Object{}
		if part.Custom != nil {
			overlay(o, part.Custom)
		} else {
			var err error
			if o, err = one(i, part); err != nil {
				return nil, err
			}
		}
		overlay(o, part.Metadata)
		all = append(all, jsontext.ObjectText(o))
	}
	return jsontext.List(all), nil
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
// undoes what keep and keepRest do: base is what a codec makes of the fields, extra is what had
// none. Our own marks are no members of the wire.
func overlay(base, extra modelio.Object) {
	for name, v := range extra {
		if name == markWire || name == markURL || name == markHeaders {
			continue
		}
		if under, ok := base[name]; ok && bytes.Equal(v, spacedText) {
			var text string
			_ = json.Unmarshal(under, &text) // a codec wrote it
			v = jsontext.Text(string(spaced([]byte(text))))
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
