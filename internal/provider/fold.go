package provider

import (
	"bytes"
	"encoding/json"

	"github.com/traceforge/traceforge-go/modelio"
)

// A fold makes of the events of a stream the body that the API would have answered with, had
// it not been asked to stream, so that both are decoded alike.
type fold interface {
	// add takes the next event's name and data.
	add(name string, data value) error
	// body returns what has come so far, and whether that is all.
	body() (body json.RawMessage, complete bool)
}

// A growing is an object whose strings grow piece by piece. Strings are joined as they are
// escaped, so that a surrogate pair that is split between two pieces is whole again.
type growing struct {
	set   modelio.Object    // what does not grow
	texts map[string][]byte // what does, without quotes
}

// grow appends a string to the member name. Any other value but null replaces it.
func (g *growing) grow(name string, v value) {
	switch {
	case v.isNull():
	case v.isString():
		if g.texts == nil {
			g.texts = map[string][]byte{}
		}
		raw := v.raw()
		g.texts[name] = append(g.texts[name], raw[1:len(raw)-1]...)
	default:
		g.put(name, v)
	}
}

// put replaces the member name, but not what says something by what says nothing.
func (g *growing) put(name string, v value) {
	if v.present() && !v.isNull() && !(g.has(name) && saysNothing(v.raw())) {
		delete(g.texts, name)
		keep(&g.set, name, v.raw())
	}
}

// first sets the member name unless a value that says something did so before.
func (g *growing) first(name string, v value) {
	if was, ok := g.set[name]; !ok || string(was) == `""` {
		g.put(name, v)
	}
}

// has reports whether the member name is there.
func (g *growing) has(name string) bool {
	_, grows := g.texts[name]
	_, set := g.set[name]
	return grows || set
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
	return o
}

func quoted(inner []byte) json.RawMessage {
	return bytes.Join([][]byte{{'"'}, inner, {'"'}}, nil)
}

// A list is an array that grows by the elements of other arrays.
type list []json.RawMessage

// extend appends the elements of an array; any other value has none.
func (l *list) extend(v value) {
	for _, e := range v.elements() {
		*l = append(*l, e.raw())
	}
}
