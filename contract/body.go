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

// toJSON returns the JSON of a value that is known to have one. It does not escape characters for HTML.
func toJSON(v any) json.RawMessage {
	text, err := jsontext.Marshal(v)
	if err != nil {
		panic("contract: " + err.Error()) // unreachable: values consist of valid parts
	}
	return text
}

// nested returns an object with only v, at a path.
func nested(path []string, v any) modelio.Object {
	for _, name := range slices.Backward(path[1:]) {
		v = object{name: v}
	}
	return modelio.Object{path[0]: toJSON(v)}
}

// merge copies the members of src into dst, and merges objects recursively. It returns the pointers of members that
// both have.
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
		dst[name] = toJSON(inner)
	}
	return both
}

// remove removes the member at a path from o, and the objects that become empty.
func remove(o modelio.Object, path []string) {
	if inner, _ := jsontext.MembersOf(o[path[0]]); len(path) > 1 {
		if remove(inner, path[1:]); len(inner) > 0 {
			o[path[0]] = toJSON(inner)
			return
		}
	}
	delete(o, path[0])
}
