package provider

import (
	"bytes"
	"encoding/json"
	"net/url"

	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/modelio"
)

// urlSegment returns a path segment that keepOutside has kept; "" if there is none.
func urlSegment(r *modelio.Request, name string) string {
	return urlOf(r).Member(name).Word()
}

func urlOf(r *modelio.Request) jsontext.Value {
	doc, err := jsontext.Parse(r.Options[markURL])
	if err != nil {
		return jsontext.Value{}
	}
	return doc.Root()
}

// endpoint returns an escaped path with the query that keepOutside has kept.
func endpointOf(r *modelio.Request, path string) string {
	query := url.Values{}
	for name, v := range urlOf(r).Member("query").Members() {
		if many, ok := v.Texts(); ok {
			query[name] = many
		} else {
			query.Set(name, v.Word())
		}
	}
	if len(query) == 0 {
		return path
	}
	return path + "?" + query.Encode()
}

// encodeBody writes what a form decodes, but for messages and Options. own reports whether a tool of a type is
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
