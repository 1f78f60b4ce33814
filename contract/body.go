package contract

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/modelio"
)

// object is a JSON object that is about to be written.
type object map[string]any

// encode writes a value that is known to be writable, with the characters of texts as they are.
func encode(v any) json.RawMessage {
	text, err := jsontext.Marshal(v)
	if err != nil {
		panic("contract: " + err.Error()) // unreachable: values are made of valid parts
	}
	return text
}

// at returns the object whose only member, down the path, is v.
func at(path []string, v any) modelio.Object {
	for _, name := range slices.Backward(path[1:]) {
		v = object{name: v}
	}
	return modelio.Object{path[0]: encode(v)}
}

// merge puts the members of src into dst, objects into objects. It returns the pointers of members that both have.
func merge(dst, src modelio.Object, pointer string) (both []string) {
	for _, name := range slices.Sorted(maps.Keys(src)) {
		old, ok := dst[name]
		if !ok {
			dst[name] = src[name]
			continue
		}
		here := pointer + jsontext.PointerTo(name)
		inner, isObject := jsontext.MembersOf(old)
		more, areObjects := jsontext.MembersOf(src[name])
		if !isObject || !areObjects {
			both = append(both, here)
			continue
		}
		both = append(both, merge(inner, more, here)...)
		dst[name] = encode(inner)
	}
	return both
}

// remove removes the member down the path from o, with the objects that it leaves empty.
func remove(o modelio.Object, path []string) {
	if inner, ok := jsontext.MembersOf(o[path[0]]); ok && len(path) > 1 {
		if remove(inner, path[1:]); len(inner) > 0 {
			o[path[0]] = encode(inner)
			return
		}
	}
	delete(o, path[0])
}
