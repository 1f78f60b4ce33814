package provider

import (
	"bytes"
	"encoding/json"
	"maps"
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

// wantMessages fails for a request with a prompt, in an API that takes messages.
func wantMessages(r *modelio.Request, api string) error {
	if r.Prompt != nil {
		return &WireError{API: api, Pointer: "/prompt", Reason: "the API takes messages and no prompt"}
	}
	return nil
}

// options returns a copy of the members of Options that go into the body.
func optionsOf(r *modelio.Request) modelio.Object {
	o := maps.Clone(r.Options)
	delete(o, markURL)
	delete(o, markHeaders)
	delete(o, markWire)
	return o
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
