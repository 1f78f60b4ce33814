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

// A form is what values are turned into.
type form uint8

const (
	inMemory form = iota // what a file says: texts joined, numbers as they were sent
	inFile               // what a file has: texts in pieces, numbers kept, members in the order of files
	literal              // SF's literal form: as in a file, but texts joined and nothing left out
	inCore               // the canonical form of that (RFC 8785)
	asSealed             // a text as SF's JavaScript spells it
)

// A need says when a member is present.
type need uint8

const (
	required need = iota
	nullable      // present, and null where there is no value (design R6)
	optional      // present where it is not empty
	valued        // present where there is a value; null is one
)

// A cursor is at a value of a document, which it reads or writes in a form. A member that cannot be read or written
// is reported, and left out.
type cursor struct {
	form form
	at   jsontext.Value // reading: the value at hand
	dst  []byte         // what is written; reading: the memory of values of any kind
	sum  hash.Hash      // of what was written as sealed, and is not in dst any more; nil: all is

	steps   []step // to the value at hand
	found   []Violation
	members []member // of the objects that are read; and of values of any kind

	examining   bool // reading: note texts that are in other pieces than files have them
	otherPieces []Violation
}

// A coder goes through the members of a document, in the order in which files have them. It reads
// them from a text, or it writes them, so that one list of members serves both.
type coder struct {
	cursor
	frames []frame // of the objects that are open

	doc         *Document
	old         bool                // the document is of VersionSF
	index       int                 // of the record at hand
	base        *Snapshot           // the record that it continues; nil means none
	ownType     bool                // reading: the response at hand says its content type
	own, before map[string]string   // writing to a file: members of it, and of base, that need not be repeated
	texts       []map[string]string // writing to a file: of all records
	sealing     bool                // writing: compute the hashes too
	calls       map[string]int      // reading: indexes of the records by their ids
	tails       [][]modelio.Message // reading: whole requests that no other has been made longer of
	plains      []plain             // reading: room for contents
	seal        *coder              // reading: of what seals cover, one after another
	copied      int                 // reading: messages that whole requests do not share
	room        room
}

// A room is where a coder begins its lists, since most are short: it is allocated with the coder.
type room struct {
	steps  [8]step
	frames [6]frame
	first  answer   // of the response at hand
	others []answer // to the same request
}

// A core is written into memory of about its size, so that it does not grow many times.
const coreRoom = 4 << 10

func newCoreCoder(texts int) *coder {
	c := &coder{cursor: cursor{form: inCore, dst: make([]byte, 0, coreRoom+texts+texts/8)}}
	c.steps, c.frames = c.room.steps[:0], c.room.frames[:0]
	return c
}

// textsOf is how many bytes the texts of messages have.
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
	name  string // of a member
	index int    // of an element; -1 means a member
}

// A frame is an object that is open.
type frame struct {
	first, next, last int             // reading: its members, and the one that is likely to be next
	unknown           *modelio.Object // where its further members are; nil means it has none
	start, opened     int             // writing: where it and its last member begin in dst
	name              string          // writing: of the last member
	valued            int             // writing: where its value begins
	sf                []string        // writing SF's literal form: the members that come first
	inherits          []string        // members that are those of base where they are absent; null: none. "*": all
	path              string          // writing: what the names of those begin with in a record's texts
}

func (f *frame) inherited(name string) bool {
	return slices.Contains(f.inherits, name) || slices.Contains(f.inherits, "*")
}

// A member is one of an object that is read.
type member struct {
	name  string
	value jsontext.Value
	taken bool
}

func (c *cursor) reading() bool { return c.form == inMemory }

// pointer returns the RFC 6901 pointer of the value at hand.
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

// foundMost bounds the violations that are collected: a text from anywhere may have millions.
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

// mismatch reports that the value at hand is not what the format wants.
func (c *cursor) mismatch(want string) {
	c.reportf(RuleType, "must be %s, is %s", want, c.at.Kind())
}

func (c *cursor) err() error {
	if len(c.found) == 0 {
		return nil
	}
	return &Error{Violations: sorted(c.found)}
}

// enter begins a member. It is called in hundreds of places, and not compiled into each of them, as are those below:
// see package jsontext.
//
//go:noinline
func (c *cursor) enter(name string) { c.steps = append(c.steps, step{name, -1}) }

//go:noinline
func (c *cursor) element(index int) { c.steps = append(c.steps, step{"", index}) }

//go:noinline
func (c *cursor) leave() { c.steps = c.steps[:len(c.steps)-1] }

//go:noinline
func (c *cursor) write(text string) { c.dst = append(c.dst, text...) }

// writeText writes a string. It makes room for more than that, so that a long text is not copied
// while it grows.
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

// object reads or writes an object; fields goes through its members. Further members are those of
// unknown; where it is nil there are none.
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
	case sf != nil: // whose objects have no further members
		c.rewrite(start, sf, nil)
	case unknown != nil && len(*unknown) > 0:
		c.rewrite(start, nil, *unknown)
	}
	return true
}

// sfOrder says which members of the object that is open SF has; its literal form has these first.
func (c *coder) sfOrder(names []string) {
	if c.form == literal {
		c.top().sf = names
	}
}

// rewrite writes the object that begins at start again, with the members of the names in first in front, and those that
// no field has in their places.
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
		if i > 0 {
			c.write(",")
		}
		c.writeText(name)
		c.write(":")
		c.enter(name)
		value(name)
		c.leave()
	}
	c.write("}")
}

// inherit says which members of the object that is open need not be repeated where they are those of the
// call that is continued.
func (c *coder) inherit(path string, names ...string) {
	if c.form == inFile || c.reading() && c.base != nil {
		c.top().path, c.top().inherits = path, names
	}
}

// settle looks at the member that was written last, and takes it back if it need not be repeated.
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

// A state is what there is of a member.
type state uint8

const (
	skip state = iota // nothing to do
	null              // read: there is no value
	here              // read or write the value, then leave
)

// member goes to a member of the object that is open. empty says whether there is nothing to write.
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
		return skip // no field can tell it from an absent one
	}
	m.taken = true
	if isNull && (n == nullable || n == optional && top.inherited(name)) {
		return null
	}
	c.at = m.value
	c.enter(name)
	return here
}

// emptied says that the value that was just read is one that is left out where it is a field's.
func (c *coder) emptied() {
	if top := c.top(); top.unknown != nil {
		jsontext.Keep(top.unknown, c.steps[len(c.steps)-1].name, c.memory())
		return
	}
	c.report(RuleEmpty, "must be left out where it is empty")
}
