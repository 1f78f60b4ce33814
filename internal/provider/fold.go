package provider

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"

	"github.com/traceforge/traceforge-go/internal/inorder"
	"github.com/traceforge/traceforge-go/internal/jsontext"
)

// foldRules turn the events of an API into the body of its unstreamed answer, so that both are decoded in the same way.
// The zero value is for an API that does not stream: its last event is the body. A stream is complete after the event
// [DONE], or when add has set done.
type foldRules struct {
	pieces  rules                                            // for events that are pieces of the body itself
	add     func(f *fold, name string, event jsontext.Value) // for other events, by name and data
	end     func(f *fold)                                    // completes a body that is not empty
	inArray bool                                             // the events may be sent as one JSON array
}

// A fold is a body that is being assembled.
type fold struct {
	foldRules
	body  node
	log   journal // for the current event
	row   *node   // the text that each event of a row grows, see continues; nil outside of a row
	done  bool    // the body is complete
	wrong error   // an event that the API does not have

	model foldRules // rules of the requested model, if the API has several
}

// next takes the next event.
func (f *fold) next(name string, event jsontext.Value) {
	switch {
	case f.add != nil:
		f.add(f, name, event)
	case f.pieces != nil:
		f.pieces.fold(&f.body, event)
	default:
		f.body, f.done = node{kind: wholeNode, raw: event.Raw()}, true
	}
}

// result returns what was assembled so far, or nil.
func (f *fold) result() json.RawMessage {
	if f.body.kind != wholeNode && len(f.body.members) == 0 {
		return nil
	}
	if f.end != nil {
		f.end(f)
	}
	return f.body.json()
}

// rules define, by name, what happens to the members of a piece of an object. The rule for the empty name applies to
// all others; without it they are put.
type rules map[string]rule

// A rule takes a member of a piece into the growing object.
type rule func(object *node, name string, v jsontext.Value)

func (r rules) fold(object *node, piece jsontext.Value) {
	object.become(objectNode)
	for name, v := range piece.Members() {
		take, ok := r[name]
		if !ok {
			take = r[""]
		}
		if take == nil {
			take = (*node).put
		}
		take(object, name, v)
	}
}

// endsWith returns the end function for a stream whose body always has a member.
func endsWith(kind nodeKind, name string) func(*fold) {
	return func(f *fold) { f.body.member(name).become(kind) }
}

// skip leaves out a member.
func skip(*node, string, jsontext.Value) {}

// into returns the rule for a member that is an object in pieces, named as in the body. It is not inlined,
// like posts.
//
//go:noinline
func into(as string, r rules) rule {
	return func(object *node, _ string, v jsontext.Value) {
		if v.IsObject() {
			r.fold(object.member(as), v)
		}
	}
}

// each returns the rule for a member that is a list of pieces, each with the index of the element that it belongs to.
// It is not inlined, like posts.
//
//go:noinline
func each(take func(element *node, piece jsontext.Value)) rule {
	return func(object *node, name string, v jsontext.Value) {
		for _, piece := range v.Elements() {
			take(object.member(name).at(piece.Member("index")), piece)
		}
	}
}

// growing returns the rules for an object whose strings grow. A string with one of the given names does not grow by a
// piece that repeats it: some hosts repeat a complete name each time, others send it in pieces.
func growing(repeated ...string) rules {
	r := rules{"": (*node).grow}
	for _, name := range repeated {
		r[name] = func(object *node, name string, v jsontext.Value) {
			if !v.IsString() || object.is(name) != string(inside(v)) {
				object.grow(name, v)
			}
		}
	}
	return r
}

// A node is a JSON value that is assembled from pieces.
type node struct {
	kind    nodeKind
	raw     json.RawMessage  // whole: the value; text and inner: the escaped content of the string
	members map[string]*node // of an object
	items   []*node          // of an array

	index int64            // its index in an array whose pieces have indexes
	keyed map[string]*node // the latest item for each key, in an array whose pieces have other keys
	log   *journal         // the fold's log of edits; nil for none
}

// A nodeKind is how a value grows.
type nodeKind uint8

const (
	noNode     nodeKind = iota // empty so far
	wholeNode                  // does not grow
	textNode                   // a string; its pieces may split a surrogate pair
	innerNode                  // a value whose text is sent as a string
	objectNode                 // grows by its members
	arrayNode                  // grows by its items
)

// become changes the kind of n. It keeps content that can continue to grow.
func (n *node) become(kind nodeKind) {
	if n.kind == kind {
		return
	}
	was := *n
	n.clear()
	n.kind, n.index = kind, was.index
	if was.kind != wholeNode {
		return
	}
	switch v := jsontext.ValueOf(was.raw); kind {
	case textNode:
		if v.IsString() {
			n.raw = slices.Clone(inside(v))
		}
	case objectNode:
		n.putAll(v)
	case arrayNode:
		for _, e := range v.Elements() {
			n.append(e.Raw())
		}
	}
}

// clear resets n to its initial state.
func (n *node) clear() {
	n.log.change()
	*n = node{log: n.log}
}

// inside returns the escaped content of a string, without its quotes.
func inside(v jsontext.Value) []byte {
	raw := v.Raw()
	return raw[1 : len(raw)-1]
}

// member returns a member of an object, adding it if necessary.
func (n *node) member(name string) *node {
	n.become(objectNode)
	if n.members == nil {
		n.members = map[string]*node{}
	}
	if n.members[name] == nil {
		n.log.change()
		n.members[name] = &node{log: n.log}
	}
	return n.members[name]
}

// get returns a member of an object, or nil.
func (n *node) get(name string) *node {
	if n == nil {
		return nil
	}
	return n.members[name]
}

// is returns the spelling of a member that was sent at once, or the content of a growing string.
func (n *node) is(name string) string {
	if member := n.get(name); member != nil {
		return string(member.raw)
	}
	return ""
}

// at returns the item of an array with the index v, or with 0 if v is not an index.
func (n *node) at(v jsontext.Value) *node { return n.item(integer(v)) }

func (n *node) item(index int64) *node {
	n.become(arrayNode)
	i, found := slices.BinarySearchFunc(n.items, index, byIndex)
	if !found {
		n.log.change()
		n.items = slices.Insert(n.items, i, &node{index: index, log: n.log})
	}
	return n.items[i]
}

func byIndex(item *node, index int64) int { return cmp.Compare(item.index, index) }

// add adds an item to an array.
func (n *node) add() *node {
	n.become(arrayNode)
	n.log.change()
	n.items = append(n.items, &node{index: int64(len(n.items)), log: n.log})
	return n.items[len(n.items)-1]
}

// key makes an item of an array the latest one for a key.
func (n *node) key(key string, item *node) {
	if n.keyed == nil {
		n.keyed = map[string]*node{}
	}
	n.keyed[key] = item
}

// list returns the items of an array.
func (n *node) list() []*node {
	if n == nil {
		return nil
	}
	return n.items
}

// last returns the last item of an array, or nil.
func (n *node) last() *node {
	if items := n.list(); len(items) > 0 {
		return items[len(items)-1]
	}
	return nil
}

func (n *node) append(element json.RawMessage) { n.add().set(element) }

// set makes n a complete value.
func (n *node) set(raw json.RawMessage) {
	if n.kind != wholeNode || !bytes.Equal(n.raw, raw) {
		n.log.change()
	}
	*n = node{kind: wholeNode, raw: raw, index: n.index, log: n.log}
}

// put sets a member, but does not replace a non-empty value by an empty one.
func (n *node) put(name string, v jsontext.Value) {
	if v.Present() && !v.IsNull() && (n.get(name) == nil || !saysNothing(v.Raw())) {
		n.member(name).set(v.Raw())
	}
}

// putAll puts all members of v.
func (n *node) putAll(v jsontext.Value) { rules{}.fold(n, v) }

// first puts a member unless there is a non-empty value already.
func (n *node) first(name string, v jsontext.Value) {
	if was := n.get(name); was == nil || saysNothing(was.raw) {
		n.put(name, v)
	}
}

// grow appends to a string member. Any other value except null replaces it.
func (n *node) grow(name string, v jsontext.Value) {
	if !v.IsString() {
		n.put(name, v)
		return
	}
	n.member(name).growText(v)
}

// growText appends a string to n.
func (n *node) growText(v jsontext.Value) {
	n.become(textNode)
	n.extendText(inside(v))
}

// extendText appends an escaped piece of a text.
func (n *node) extendText(piece []byte) {
	if len(piece) > 0 {
		n.log.grow(n, piece)
		n.raw = append(n.raw, piece...)
	}
}

// growInner appends v, a piece of a value's text, to a member.
func (n *node) growInner(name string, v jsontext.Value) {
	if !v.IsWord() {
		return
	}
	member := n.member(name)
	member.become(innerNode)
	member.extendText(inside(v))
}

// extend appends the elements of v to an array member. A v that is not an array replaces it.
func (n *node) extend(name string, v jsontext.Value) {
	if !v.IsArray() {
		n.put(name, v)
		return
	}
	for _, e := range v.Elements() {
		n.member(name).append(e.Raw())
	}
}

// unite appends those elements of v to an array member that are not in it. A v that is not an array replaces it.
func (n *node) unite(name string, v jsontext.Value) {
	if !v.IsArray() {
		n.put(name, v)
	}
	for _, e := range v.Elements() {
		list, key := n.member(name), string(e.Raw())
		if list.keyed[key] == nil {
			list.append(e.Raw())
			list.key(key, list.last())
		}
	}
}

// saysNothing reports whether a value is null or empty.
func saysNothing(raw json.RawMessage) bool {
	switch string(raw) {
	case "null", "[]", "{}", `""`:
		return true
	}
	return false
}

func (n *node) json() json.RawMessage { return n.appendTo(nil) }

// appendTo appends the value. It allocates memory for a long text at once, since that is most of a stream.
func (n *node) appendTo(dst []byte) []byte {
	switch n.kind {
	case wholeNode:
		return append(dst, n.raw...)
	case textNode:
		return append(append(append(slices.Grow(dst, len(n.raw)+len(`""`)), '"'), n.raw...), '"')
	case innerNode:
		return append(dst, inputOf(n.raw)...)
	case objectNode:
		dst = append(dst, '{')
		for i, name := range inorder.Names(n.members) {
			dst = jsontext.AppendText(jsontext.AppendComma(dst, i), name)
			dst = n.members[name].appendTo(append(dst, ':'))
		}
		return append(dst, '}')
	case arrayNode:
		dst = append(dst, '[')
		for i, item := range n.items {
			dst = item.appendTo(jsontext.AppendComma(dst, i))
		}
		return append(dst, ']')
	}
	return append(dst, "null"...)
}

// A list is an array of values.
type list = []json.RawMessage

// inputOf returns the value whose text is the content of a string, or the string if that is not a complete value.
func inputOf(inside []byte) json.RawMessage {
	text := slices.Concat([]byte(`"`), inside, []byte(`"`))
	if input, ok := jsontext.ValueOf(text).Text(); ok { // the pieces were strings
		if value, err := jsontext.Parse([]byte(input)); err == nil {
			return value.Root().Raw()
		}
	}
	return text
}
