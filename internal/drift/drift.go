// Package drift finds the differences between two requests to a model: which JSON values differ, where, and which
// component is the cause.
//
// A [Comparer] divides requests into components (request.go) and describes differences as [Change] (component.go). A
// [Style] shows changes as lines (render.go), using the [Edits] between texts. [Difference] is the same by JSON
// pointer, for programs. Likeness and distance choose the record that a call is compared with. Package page compares
// answers.
package drift

import (
	"bytes"
	"encoding/json"
	"maps"
	"strconv"

	"github.com/traceforge/traceforge-go/internal/inorder"
	"github.com/traceforge/traceforge-go/internal/jsontext"
)

// A Difference is a place where two JSON texts differ.
type Difference struct {
	// Pointer is RFC 6901. In an array that grew or shrank, it has the index on the side with the element.
	Pointer  string          `json:"pointer"`
	Recorded json.RawMessage `json:"recorded,omitempty"` // nil if absent
	Got      json.RawMessage `json:"got,omitempty"`      // nil if absent
}

// JSON returns the differences between two canonical JSON texts in document order, or none if they are equal. Both
// texts must be valid JSON.
func JSON(recorded, got []byte) []Difference {
	return First(0, recorded, got)
}

// First is [JSON] for the first most differences; 0 means all.
func First(most int, recorded, got []byte) []Difference {
	d := differ{most: most}
	d.compare("", recorded, got)
	return d.found
}

type differ struct {
	found []Difference
	most  int
}

// compare adds the differences between two texts; nil means absent.
func (d *differ) compare(pointer string, recorded, got json.RawMessage) {
	if bytes.Equal(recorded, got) {
		return
	}
	if r, g := jsontext.ValueOf(recorded), jsontext.ValueOf(got); r.Present() && g.Present() {
		d.values(pointer, r, g)
		return
	}
	d.found = append(d.found, Difference{pointer, recorded, got}) // one is absent, or nested too deeply
}

func (d *differ) values(pointer string, recorded, got jsontext.Value) {
	switch {
	case d.most > 0 && len(d.found) == d.most, bytes.Equal(recorded.Raw(), got.Raw()):
	case recorded.IsObject() && got.IsObject():
		r, g := maps.Collect(recorded.Members()), maps.Collect(got.Members())
		for _, name := range inorder.Names(r, g) {
			d.values(pointer+jsontext.PointerTo(name), r[name], g[name])
		}
	case recorded.IsArray() && got.IsArray():
		same := func(a, b jsontext.Value) bool { return bytes.Equal(a.Raw(), b.Raw()) }
		align(recorded.Values(), got.Values(), same, func(i int, a, b jsontext.Value) {
			d.values(pointer+"/"+strconv.Itoa(i), a, b)
		})
	default:
		d.found = append(d.found, Difference{pointer, recorded.Raw(), got.Raw()})
	}
}

// align skips equal elements at both ends, and visits the elements between them in pairs. An inserted element is then
// one difference, and does not affect the elements after it. If one list is longer, the other side is the zero value.
func align[T any](recorded, got []T, equal func(a, b T) bool, visit func(i int, a, b T)) {
	begin, tail := head(recorded, got, equal), 0
	for tail < len(recorded)-begin && tail < len(got)-begin &&
		equal(recorded[len(recorded)-1-tail], got[len(got)-1-tail]) {
		tail++
	}
	r, g := recorded[begin:len(recorded)-tail], got[begin:len(got)-tail]
	for i := range max(len(r), len(g)) {
		var a, b T
		if i < len(r) {
			a = r[i]
		}
		if i < len(g) {
			b = g[i]
		}
		visit(begin+i, a, b)
	}
}

// head returns how many elements at the beginning of two lists are equal.
func head[T any](a, b []T, equal func(a, b T) bool) (n int) {
	most := min(len(a), len(b))
	if most > 0 && &a[0] == &b[0] {
		return most // the same memory
	}
	for n < most && equal(a[n], b[n]) {
		n++
	}
	return n
}

// outputOptions are provider options that determine the form of the answer.
var outputOptions = map[string]bool{
	"response_format": true, "output_config": true, "output_format": true, "format": true,
	"text": true, "output": true, "modalities": true,
}

// toolOptions are provider options that determine how tools may be used.
var toolOptions = map[string]bool{
	"tool_choice": true, "parallel_tool_calls": true, "toolChoice": true, "toolConfig": true,
	"functions": true, "function_call": true, "tools": true,
}

// Size measures the distance between two requests: the number of bytes in the values that differ, without common
// prefixes and suffixes of strings.
func Size(differences []Difference) int {
	size := 0
	for _, d := range differences {
		r, g := string(d.Recorded), string(d.Got)
		size += len(r) + len(g) - 2*commonEnds(r, g) + 1
	}
	return size
}
