package reading

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/traceforge/traceforge-go/internal/jsontext"
)

// An account is what a program makes of an answer: a text, calls of tools, and why it ended.
type account struct {
	text   []byte
	finish string
	calls  []*call
	blocks []*block

	id    string // of the first chunk, where others are left out
	seen  bool   // something came that the account is about
	over  bool   // the program ends with an error
	event int    // the number of the one under way
	name  string // what its framing calls it

	recorded string // the text of the record
	same     int    // how much of the text was compared with that
	differs  int    // the event in which the text left it; 0 means none
	effect
}

// An effect is what an event did to an account.
type effect struct {
	changes int     // texts that grew, and all else
	grew    *[]byte // the last of the texts
	by      string  // what the last of them grew by, or else piece
	piece   []byte
}

// A call is one of a tool, at its place in the answer.
type call struct {
	place           int64
	name, arguments []byte
	event           int
}

// A block is a part of an answer that grows.
type block struct {
	kind, name  string
	text, input []byte
}

// grow adds to a text. One that comes at once is not copied.
func (a *account) grow(text *[]byte, v view) {
	piece := v.text()
	if piece == "" && !v.isText() {
		return
	}
	a.changes, a.grew, a.by, a.piece = a.changes+1, text, piece, nil
	if last := v.last(); *text == nil && last.IsString() && !last.Escaped() {
		inner := last.Raw()[1 : len(piece)+1]
		*text = inner[:len(inner):len(inner)]
		return
	}
	*text = append(*text, piece...)
}

// growCall adds what comes of a call to the one at a place.
func (a *account) growCall(place int64, v view) {
	c := a.at(place)
	a.grow(&c.name, v.at("name"))
	a.grow(&c.arguments, v.at("arguments"))
}

// continues takes the next piece of the one text that the event before added its piece to; nothing where that did nothing.
func (a *account) continues(before, piece []byte) bool {
	if before == nil || a.changes > 1 || a.changes == 1 && a.grew == nil {
		return false
	}
	text, ok := unescaped(piece)
	said, known := unescaped(before)
	switch {
	case !ok || !known || a.changes == 1 && a.by != string(said) && !(a.piece != nil && bytes.Equal(a.piece, said)):
		return false
	case a.changes == 1:
		*a.grew, a.by, a.piece = append(*a.grew, text...), "", text
		a.follow()
	}
	return true
}

// say adds to the text of the answer. Mistral says it in blocks, and Cloudflare as the value that it is the JSON of.
func (a *account) say(texts ...view) {
	for _, v := range texts {
		a.grow(&a.text, v)
		for _, block := range v.each() {
			a.grow(&a.text, block.at("text"))
		}
	}
	a.follow()
}

// unescaped returns the characters that the inside of a JSON string stands for.
func unescaped(inner []byte) ([]byte, bool) {
	if bytes.IndexByte(inner, '\\') < 0 {
		return inner, true
	}
	text, whole := jsontext.Unescaped(string(inner))
	return []byte(text), whole
}

// follow compares what the text has grown by with the record's.
func (a *account) follow() {
	switch all := len(a.text); {
	case a.differs > 0:
	case all > len(a.recorded) || a.recorded[a.same:all] != string(a.text[a.same:]):
		a.differs = a.event
	default:
		a.same = all
	}
}

// ends notes a reason to stop.
func (a *account) ends(reason view) {
	if word := reason.text(); word != "" {
		a.finish, a.changes = word, a.changes+2
	}
}

// at returns the call at a place, in whose order calls are.
func (a *account) at(place int64) *call {
	i, found := slices.BinarySearchFunc(a.calls, place, func(c *call, place int64) int { return cmp.Compare(c.place, place) })
	if !found {
		a.changes += 2
		a.calls = slices.Insert(a.calls, i, &call{place: place, event: a.event})
	}
	return a.calls[i]
}

// add adds a call that is whole.
func (a *account) add(name, arguments string) {
	a.changes += 2
	a.calls = append(a.calls, &call{int64(len(a.calls)), []byte(name), []byte(arguments), a.event})
}
