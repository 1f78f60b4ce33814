package snapshot

import (
	"bytes"
	"cmp"
	"fmt"
	"hash"
	"maps"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/traceforge/traceforge-go/internal/inorder"
	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/modelio"
)

// A form is a representation of values.
type form uint8

const (
	inMemory form = iota // in memory: texts joined, numbers as they were sent
	inFile               // in files: texts in pieces, special numbers as objects, members in file order
	literal              // SF's literal form: as in files, but with texts joined and nothing left out
	inCore               // the canonical form of that (RFC 8785)
	asSealed             // a text in the spelling of SF's JavaScript
)

// A need says when a member is present.
type need uint8

const (
	required need = iota
	nullable      // always present; null without a value (design R6)
	optional      // present unless it is empty
	valued        // present if it has a value, which may be null
)

// A cursor is at a value of a document, which it reads or writes in a form. Members that cannot be read or written are
// reported and left out.
type cursor struct {
	form form
	at   jsontext.Value // reading: the current value
	dst  []byte         // the output; reading: memory for values of any kind
	sum  hash.Hash      // hash of the output as sealed that is not in dst any more; nil if all of it is

	steps   []step // path to the current value
	found   []Violation
	members []member // members of the objects being read, and of values of any kind
}

// A coder visits the members of a document in file order. It either reads them from a text or writes them, so that one
// list of members serves both.
type coder struct {
	cursor
	frames []frame // of the open objects

	doc         *Document
	old         bool                // the document is of VersionSF
	index       int                 // index of the current record
	base        *Snapshot           // the record that it continues; nil if there is none
	ownType     bool                // reading: the current response contains its content type
	own, before map[string]string   // writing to a file: members of it and of base that need not be repeated
	texts       []map[string]string // writing to a file: of all records
	sealing     bool                // writing: compute the hashes too
	calls       map[string]int      // reading: indexes of records by their ids
	tails       [][]modelio.Message // reading: complete requests that no other request has extended yet
	plains      []plain             // reading: memory for contents
	seal        *coder              // reading: computes the seals, one after another
	copied      int                 // reading: number of messages that complete requests could not share
	room        room
}

// A room is initial memory for a coder's lists, most of which are short: it is allocated with the coder.
type room struct {
	steps  [8]step
	frames [6]frame
	first  answer   // of the current response
	others []answer // to the same request
}

// Memory of about the size of a core is allocated at once, so that it does not grow many times.
const coreRoom = 4 << 10

func newCoreCoder(texts int) *coder {
	c := &coder{cursor: cursor{form: inCore, dst: make([]byte, 0, coreRoom+texts+texts/8)}}
	c.steps, c.frames = c.room.steps[:0], c.room.frames[:0]
	return c
}

// textsOf returns the length of the texts in messages, in bytes.
func textsOf(messages []modelio.Message) (n int) {
	for i := range messages {
		for _, part := range messages[i].Content {
			if part.Text != nil {
				n += len(*part.Text)
			}
		}
	}
	return n
}

// A step leads to a member or an element.
type step struct {
	name  string // name of a member
	index int    // index of an element; -1 for a member
}

// A frame is an open object.
type frame struct {
	first, next, last int             // reading: its members, and the one that probably comes next
	unknown           *modelio.Object // destination of its further members; nil if it may have none
	start, opened     int             // writing: start of the object and of its last member in dst
	name              string          // writing: name of the last member
	valued            int             // writing: start of the last member's value
	sf                []string        // writing SF's literal form: the members that come first
	inherits          []string        // members that default to those of base; "*" for all, nil for none
	path              string          // writing: prefix of their names in a record's texts
}

func (f *frame) inherited(name string) bool {
	return slices.Contains(f.inherits, name) || slices.Contains(f.inherits, "*")
}

// A member is a member of an object that is read.
type member struct {
	name  string
	value jsontext.Value
	taken bool
}

func (c *cursor) reading() bool { return c.form == inMemory }

// pointer returns the RFC 6901 pointer to the current value.
func (c *cursor) pointer(below ...string) string {
	tokens := make([]string, 0, len(c.steps)+len(below))
	for _, s := range c.steps {
		if s.index >= 0 {
			s.name = strconv.Itoa(s.index)
		}
		tokens = append(tokens, s.name)
	}
	return jsontext.PointerTo(append(tokens, below...)...)
}

// foundMost limits the violations that are collected: a text from anywhere may have millions.
const foundMost = 1000

//go:noinline
func (c *cursor) report(rule, message string, below ...string) {
	if len(c.found) == foundMost {
		return
	}
	c.found = append(c.found, Violation{Pointer: c.pointer(below...), Rule: rule, Message: message})
}

func (c *cursor) reportf(rule, format string, args ...any) {
	c.report(rule, fmt.Sprintf(format, args...))
}

// mismatch reports that the current value is not what the format requires.
func (c *cursor) mismatch(want string) {
	c.reportf(RuleType, "must be %s, is %s", want, c.at.Kind())
}

func (c *cursor) err() error {
	if len(c.found) == 0 {
		return nil
	}
	return &Error{Violations: sorted(c.found)}
}

// enter starts a member. It is called in hundreds of places and therefore not inlined. The same holds for the functions
// below: see package jsontext.
//
//go:noinline
func (c *cursor) enter(name string) { c.steps = append(c.steps, step{name, -1}) }

//go:noinline
func (c *cursor) element(index int) { c.steps = append(c.steps, step{"", index}) }

//go:noinline
func (c *cursor) leave() { c.steps = c.steps[:len(c.steps)-1] }

//go:noinline
func (c *cursor) write(text string) { c.dst = append(c.dst, text...) }

// comma writes the comma before the i-th element or member.
func (c *cursor) comma(i int) { c.dst = jsontext.AppendComma(c.dst, i) }

// writeText writes a string. It reserves more memory than the string needs, so that a long text is not copied while it
// grows.
func (c *cursor) writeText(s string) {
	if need := len(s) + len(s)/16; cap(c.dst)-len(c.dst) < need {
		c.dst = slices.Grow(c.dst, max(need+need/8, len(c.dst)))
	}
	if !utf8.ValidString(s) {
		c.report(RuleUnicode, "must be valid UTF-8")
		s = ""
	}
	c.dst = jsontext.AppendText(c.dst, s)
}

// object reads or writes an object; fields visits its members. Further members go to unknown; if unknown is nil, none
// are permitted.
func (c *coder) object(unknown *modelio.Object, fields func()) bool {
	if c.reading() {
		return c.readObject(unknown, fields)
	}
	start := len(c.dst)
	c.frames = append(c.frames, frame{start: start})
	c.write("{")
	fields()
	c.settle()
	sf := c.top().sf
	c.frames = c.frames[:len(c.frames)-1]
	c.write("}")
	switch {
	case sf != nil: // its objects have no further members
		c.rewrite(start, sf, nil)
	case unknown != nil && len(*unknown) > 0:
		c.rewrite(start, nil, *unknown)
	}
	return true
}

// sfOrder names the members of the open object that SF defines; its literal form has these first.
func (c *coder) sfOrder(names []string) {
	if c.form == literal {
		c.top().sf = names
	}
}

// rewrite writes the object that starts at start again, with the members named in first at the front. Members that no
// field has keep their places.
func (c *coder) rewrite(start int, first []string, unknown modelio.Object) {
	all, _ := jsontext.MembersOf(bytes.Clone(c.dst[start:]))
	c.dst = c.dst[:start]
	names := slices.Collect(maps.Keys(all))
	for name := range unknown {
		if all[name] == nil {
			names = append(names, name)
		}
	}
	rank := func(name string) int {
		if i := slices.Index(first, name); i >= 0 {
			return i
		}
		return len(first)
	}
	order := c.order()
	inorder.By(names, func(a, b string) int { return cmp.Or(rank(a)-rank(b), order(a, b)) })
	c.writeMembers(names, func(name string) {
		if text := all[name]; text != nil {
			c.dst = append(c.dst, text...)
		} else {
			c.writeRaw(unknown[name])
		}
	})
}

// writeMembers writes an object.
func (c *cursor) writeMembers(names []string, value func(name string)) {
	c.write("{")
	for i, name := range names {
		c.comma(i)
		c.writeText(name)
		c.write(":")
		c.enter(name)
		value(name)
		c.leave()
	}
	c.write("}")
}

// inherit names members of the open object that need not be repeated if they equal those of the call that is continued.
func (c *coder) inherit(path string, names ...string) {
	if c.form == inFile || c.reading() && c.base != nil {
		c.top().path, c.top().inherits = path, names
	}
}

// settle removes the member that was written last if it need not be repeated.
func (c *coder) settle() {
	top := c.top()
	name := top.name
	if top.name = ""; name == "" || !top.inherited(name) || string(c.dst[top.valued:]) == "null" {
		return
	}
	at, value := top.path+name, c.dst[top.valued:]
	if before, ok := c.before[at]; ok && before == string(value) {
		c.own[at] = before
		c.dst = c.dst[:top.opened]
		return
	}
	c.own[at] = string(value)
}

//go:noinline
func (c *coder) top() *frame { return &c.frames[len(c.frames)-1] }

func (c *coder) readObject(unknown *modelio.Object, fields func()) bool {
	if !c.at.IsObject() {
		c.mismatch("an object")
		return false
	}
	at, found := c.at, len(c.found)
	first := len(c.members)
	for name, value := range at.Members() {
		c.members = append(c.members, member{name: name, value: value})
	}
	c.frames = append(c.frames, frame{first: first, next: first, last: len(c.members), unknown: unknown})
	fields()
	for i := first; i < c.top().last; i++ {
		m := c.members[i]
		switch {
		case m.taken:
		case unknown == nil:
			c.report(RuleUnknown, "is no member of the format", m.name)
		default:
			c.enter(m.name)
			c.at = m.value
			jsontext.Keep(unknown, m.name, c.memory())
			c.leave()
		}
	}
	c.frames = c.frames[:len(c.frames)-1]
	c.members = c.members[:first]
	c.at = at
	return len(c.found) == found
}

// writeName writes the name of the next member.
func (c *coder) writeName(name string) {
	c.top().opened = len(c.dst)
	if len(c.dst) > c.top().start+1 {
		c.write(",")
	}
	c.writeText(name)
	c.write(":")
	c.top().name, c.top().valued = name, len(c.dst)
	c.enter(name)
}

// A state says what to do with a member.
type state uint8

const (
	skip state = iota // nothing
	null              // read: the value is null
	here              // read or write the value, then leave
)

// member moves to a member of the open object. empty is true if there is nothing to write.
func (c *coder) member(name string, n need, empty bool) state {
	if c.reading() {
		return c.readMember(name, n)
	}
	c.settle()
	if !empty || n == required {
		c.writeName(name)
		return here
	}
	if _, before := c.before[c.top().path+name]; n == nullable || before && c.top().inherited(name) {
		c.writeNull(name)
	}
	return skip
}

func (c *coder) writeNull(name string) {
	c.writeName(name)
	c.write("null")
	c.leave()
}

func (c *coder) readMember(name string, n need) state {
	top := c.top()
	i := top.next
	if i == top.last || c.members[i].name != name {
		i = slices.IndexFunc(c.members[top.first:top.last], func(m member) bool { return m.name == name })
		if i >= 0 {
			i += top.first
		}
	}
	if i < 0 {
		if n == required || n == nullable {
			c.report(RuleMissing, "is required", name)
		}
		return skip
	}
	top.next = i + 1
	m := &c.members[i]
	isNull := m.value.IsNull()
	if isNull && top.unknown != nil && n == optional {
		return skip // the field could not distinguish it from an absent one
	}
	m.taken = true
	if isNull && (n == nullable || n == optional && top.inherited(name)) {
		return null
	}
	c.at = m.value
	c.enter(name)
	return here
}

// emptied notes that the value that was just read would be left out if it were a field's.
func (c *coder) emptied() {
	if top := c.top(); top.unknown != nil {
		jsontext.Keep(top.unknown, c.steps[len(c.steps)-1].name, c.memory())
		return
	}
	c.report(RuleEmpty, "must be left out where it is empty")
}
