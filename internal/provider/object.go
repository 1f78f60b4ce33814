package provider

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"unicode/utf8"

	"github.com/traceforge/traceforge-go/modelio"
)

// jsonText returns s as a JSON string in canonical form.
func jsonText[T ~string](s T) json.RawMessage {
	return appendText(make([]byte, 0, len(s)+2), string(s))
}

func appendText(dst []byte, s string) []byte {
	dst = append(dst, '"')
	for _, r := range s { // bytes that are not UTF-8 become U+FFFD, as no JSON text can hold them
		switch {
		case r == '"' || r == '\\':
			dst = append(dst, '\\', byte(r))
		case r >= ' ':
			dst = utf8.AppendRune(dst, r)
		case controls[r] != 0:
			dst = append(dst, '\\', controls[r])
		default:
			dst = fmt.Appendf(dst, `\u%04x`, r)
		}
	}
	return append(dst, '"')
}

// controls maps the control characters that have an escape sequence of two characters to the
// second of them.
var controls = [' ']byte{'\b': 'b', '\t': 't', '\n': 'n', '\f': 'f', '\r': 'r'}

// jsonTexts returns an array of strings.
func jsonTexts(all []string) json.RawMessage {
	list := make([]json.RawMessage, len(all))
	for i, s := range all {
		list[i] = jsonText(s)
	}
	return jsonList(list)
}

// jsonList returns an array of values, each as it is spelled.
func jsonList(values []json.RawMessage) json.RawMessage {
	list := []byte{'['}
	for i, v := range values {
		if i > 0 {
			list = append(list, ',')
		}
		list = append(list, v...)
	}
	return append(list, ']')
}

// jsonObject returns an object with its members sorted by name, each value as it is spelled.
func jsonObject(o modelio.Object) json.RawMessage {
	text := []byte{'{'}
	for i, name := range slices.Sorted(maps.Keys(o)) {
		if i > 0 {
			text = append(text, ',')
		}
		text = append(appendText(text, name), ':')
		text = append(text, o[name]...)
	}
	return append(text, '}')
}

// keep adds a member to an object that may be nil.
func keep(o *modelio.Object, name string, v json.RawMessage) {
	if *o == nil {
		*o = modelio.Object{}
	}
	(*o)[name] = v
}

// keepRest adds what is left of v without some of its members, if anything is.
func keepRest(o *modelio.Object, name string, v value, without ...string) {
	if rest := v.rest(without...); rest != nil {
		keep(o, name, jsonObject(rest))
	}
}

// overlay puts the members of extra over those of base, and merges where both are objects. It
// undoes what keep and keepRest do: base is what a codec makes of the fields, extra is what had
// none. Our own marks are no members of the wire.
func overlay(base, extra modelio.Object) {
	for name, v := range extra {
		if name == markWire || name == markURL {
			continue
		}
		if under, ok := base[name]; ok {
			a, aok := members(under)
			b, bok := members(v)
			if aok && bok {
				overlay(a, b)
				v = jsonObject(a)
			}
		}
		base[name] = v
	}
}

// members returns the members of a JSON object.
func members(raw json.RawMessage) (modelio.Object, bool) {
	doc, err := parse(raw)
	if err != nil || !doc.root().isObject() {
		return nil, false
	}
	return doc.root().object(), true
}
