package provider

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/modelio"
)

// A fold makes of the events of a stream the body that the API would have answered with, had
// it not been asked to stream, so that both are decoded alike.
type fold interface {
	// add takes the next event's name and data.
	add(name string, data jsontext.Value) error
	// body returns what has come so far, nil if nothing has, and whether that is all.
	body() (body json.RawMessage, complete bool)
}

// A list is an array that grows.
type list []json.RawMessage

// A growing is an object that comes piece by piece. Strings are joined as they are escaped, so
// that a surrogate pair that is split between two pieces is whole again.
type growing struct {
	set   modelio.Object    // what does not grow
	texts map[string][]byte // strings that do, without quotes
	lists map[string]list   // arrays that do
}

// grow appends to the string name. Any other value but null replaces it.
func (g *growing) grow(name string, v jsontext.Value) {
	if !v.IsString() {
		g.put(name, v)
		return
	}
	if g.texts == nil {
		g.texts = map[string][]byte{}
	}
	if was := g.set[name]; len(was) > 1 && was[0] == '"' {
		g.texts[name] = slices.Clone(was[1 : len(was)-1])
	}
	delete(g.set, name)
	raw := v.Raw()
	g.texts[name] = append(g.texts[name], raw[1:len(raw)-1]...)
}

// extend appends the elements of v to the array name. A v that is no array replaces it.
func (g *growing) extend(name string, v jsontext.Value) {
	if !v.IsArray() {
		g.put(name, v)
		return
	}
	for _, e := range v.Elements() {
		g.append(name, e.Raw())
	}
}

// append appends an element to the array name.
func (g *growing) append(name string, element json.RawMessage) {
	if g.lists == nil {
		g.lists = map[string]list{}
	}
	if _, ok := g.lists[name]; !ok {
		if doc, err := jsontext.Parse(g.set[name]); err == nil {
			for _, e := range doc.Root().Elements() {
				g.lists[name] = append(g.lists[name], e.Raw())
			}
		}
		delete(g.set, name)
	}
	g.lists[name] = append(g.lists[name], element)
}

// put replaces the member name, but not what says something by what says nothing.
func (g *growing) put(name string, v jsontext.Value) {
	if !v.Present() || v.IsNull() || g.has(name) && saysNothing(v.Raw()) {
		return
	}
	delete(g.texts, name)
	delete(g.lists, name)
	jsontext.Keep(&g.set, name, v.Raw())
}

// putAll puts all members of v.
func (g *growing) putAll(v jsontext.Value) {
	for name, m := range v.Members() {
		g.put(name, m)
	}
}

// first puts the member name unless one that says something is there.
func (g *growing) first(name string, v jsontext.Value) {
	if was, ok := g.set[name]; !ok || saysNothing(was) {
		g.put(name, v)
	}
}

// has reports whether the member name is there.
func (g *growing) has(name string) bool {
	_, set := g.set[name]
	_, grows := g.texts[name]
	_, extends := g.lists[name]
	return set || grows || extends
}

// saysNothing reports whether a value is null or empty.
func saysNothing(raw json.RawMessage) bool {
	switch string(raw) {
	case "null", "[]", "{}", `""`:
		return true
	}
	return false
}

func (g *growing) object() modelio.Object {
	o := modelio.Object{}
	for name, v := range g.set {
		o[name] = v
	}
	for name, inner := range g.texts {
		o[name] = quoted(inner)
	}
	for name, l := range g.lists {
		o[name] = jsontext.List(l)
	}
	return o
}

func (g *growing) json() json.RawMessage { return jsontext.ObjectText(g.object()) }

func quoted(inner []byte) json.RawMessage {
	return bytes.Join([][]byte{{'"'}, inner, {'"'}}, nil)
}

// growMembers lets the strings of an object grow. Those of the given names do so unless a piece
// repeats what has come so far: some hosts say a name whole each time, others in pieces.
func growMembers(g **growing, v jsontext.Value, repeated ...string) {
	if !v.IsObject() {
		return
	}
	if *g == nil {
		*g = &growing{}
	}
	for name, m := range v.Members() {
		if slices.Contains(repeated, name) && bytes.Equal(quoted((*g).texts[name]), m.Raw()) {
			continue
		}
		(*g).grow(name, m)
	}
}

func jsonGrowing(objects []*growing) json.RawMessage {
	all := list{}
	for _, g := range objects {
		all = append(all, g.json())
	}
	return jsontext.List(all)
}

// A sequence is the pieces of an array that come with their index, in its order.
type sequence[T any] struct {
	indexes []int64
	items   []*T
}

// at returns the item of an index; where v is no index, that of 0.
func (s *sequence[T]) at(v jsontext.Value) *T {
	if n, ok := v.Count(); ok {
		return s.index(*n)
	}
	return s.index(0)
}

func (s *sequence[T]) index(index int64) *T {
	i, found := slices.BinarySearch(s.indexes, index)
	if !found {
		s.indexes = slices.Insert(s.indexes, i, index)
		s.items = slices.Insert(s.items, i, new(T))
	}
	return s.items[i]
}
