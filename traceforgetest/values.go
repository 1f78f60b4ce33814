package traceforgetest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/traceforge/traceforge-go/modelio"
)

// Opaque values are what a provider hands out to get back unread: signatures of reasoning,
// encrypted reasoning, ids of items. They are random like the ids of tool calls, so in what is
// stored they are numbered by order of appearance too (design R8).
type opaque struct {
	numbers   map[string]string // value -> signature_1
	originals map[string]string // signature_1 -> value
}

func newOpaque() *opaque {
	return &opaque{numbers: map[string]string{}, originals: map[string]string{}}
}

func (o *opaque) clone() *opaque {
	return &opaque{numbers: maps.Clone(o.numbers), originals: maps.Clone(o.originals)}
}

// Values are the parts of a call that its stored form names instead of holding them.
type values struct {
	opaque *opaque
	media  *media
}

func newValues() *values { return &values{newOpaque(), &media{}} }

// options returns a request's options with their opaque values numbered.
func (v *values) options(o modelio.Object) (map[string]json.RawMessage, error) {
	replaced := make(map[string]json.RawMessage, len(o))
	for _, name := range slices.Sorted(maps.Keys(o)) {
		value, err := v.opaque.member(o, name)
		if err != nil {
			return nil, err
		}
		replaced[name] = value
	}
	return replaced, nil
}

// clone returns values that can be added to for another answer to the same request.
func (v *values) clone() *values { return &values{v.opaque.clone(), v.media} }

// marshal returns the JSON of v with its opaque values numbered and its media named.
func (v *values) marshal(value any) (json.RawMessage, error) {
	text, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	if text, err = v.opaque.replace(text); err != nil {
		return nil, err
	}
	return v.media.replace(text)
}

// opaqueMembers names the members whose strings are opaque, and what they are numbered as.
var opaqueMembers = map[string]string{
	"signature":         "signature",
	"thoughtSignature":  "signature",
	"thought_signature": "signature",
	"encrypted_content": "encrypted",

	"previous_response_id": "response",
}

// replace numbers the opaque values of a JSON text.
func (o *opaque) replace(text json.RawMessage) (json.RawMessage, error) {
	if !mayBeOpaque(text) {
		return text, nil
	}
	switch text[0] {
	case '{':
		return replaceIn[map[string]json.RawMessage](text, func(members map[string]json.RawMessage) error {
			for _, name := range slices.Sorted(maps.Keys(members)) {
				value, err := o.member(members, name)
				if err != nil {
					return err
				}
				members[name] = value
			}
			return nil
		})
	case '[':
		return replaceIn[[]json.RawMessage](text, func(elements []json.RawMessage) error {
			for i := range elements {
				element, err := o.replace(elements[i])
				if err != nil {
					return err
				}
				elements[i] = element
			}
			return nil
		})
	default:
		return text, nil
	}
}

func replaceIn[T any](text json.RawMessage, edit func(T) error) (json.RawMessage, error) {
	var value T
	if err := json.Unmarshal(text, &value); err != nil {
		return nil, err
	}
	if err := edit(value); err != nil {
		return nil, err
	}
	return json.Marshal(value)
}

func (o *opaque) member(members map[string]json.RawMessage, name string) (json.RawMessage, error) {
	kind, ok := opaqueMembers[name]
	if name == "data" && isRedacted(members["type"]) {
		kind, ok = "encrypted", true
	}
	var value string
	if json.Unmarshal(members[name], &value) != nil || value == "" {
		return o.list(name, members[name])
	}
	switch {
	case ok:
		return json.Marshal(o.number(kind, value))
	case isHandedOut(name, value):
		return json.Marshal(o.number("item", value))
	case name == "path":
		if path := o.path(value); path != value {
			return json.Marshal(path)
		}
	}
	return members[name], nil
}

// list numbers the ids in the value of a member that is no string: it may be a list of them.
func (o *opaque) list(name string, text json.RawMessage) (json.RawMessage, error) {
	var ids []string
	if json.Unmarshal(text, &ids) != nil || len(ids) == 0 {
		return o.replace(text)
	}
	for i, id := range ids {
		if !isHandedOut(name, id) {
			return text, nil
		}
		ids[i] = o.number("item", id)
	}
	return json.Marshal(ids)
}

// isRedacted reports whether a type is one whose data is encrypted reasoning.
func isRedacted(kind json.RawMessage) bool {
	return string(kind) == `"redacted_thinking"` || string(kind) == `"reasoning.encrypted"`
}

func (o *opaque) number(kind, value string) string {
	if number, ok := o.numbers[value]; ok {
		return number
	}
	for n := 1; ; n++ {
		number := fmt.Sprintf("%s_%d", kind, n)
		if _, taken := o.originals[number]; !taken {
			o.numbers[value], o.originals[number] = number, value
			return number
		}
	}
}

// mayBeOpaque spares decoding what has no opaque member.
func mayBeOpaque(text json.RawMessage) bool {
	return slices.ContainsFunc(opaqueSigns, func(sign string) bool { return bytes.Contains(text, []byte(sign)) })
}

// opaqueSigns are what a text with an opaque value holds one of.
var opaqueSigns = []string{
	`ignature"`, `"encrypted_content"`, `"redacted_thinking"`, `"reasoning.encrypted"`,
	`"id"`, `_id"`, `_ids"`, `"container"`, `"conversation"`, `"path"`, `files/`, `cachedContents/`, `batches/`,
}
