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
	marks []mark // where the text grew
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

// A mark says how long the text was after an event.
type mark struct{ event, end int }

// grow adds to a text.
func (a *account) grow(text *[]byte, v view) {
	if piece := v.text(); piece != "" || v.isText() {
		a.changes, a.grew, a.by, a.piece = a.changes+1, text, piece, nil
		*text = append(*text, piece...)
	}
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
		a.mark()
	}
	return true
}

// say adds to the text of the answer. Mistral says it in blocks, and Cloudflare as the value that it is the JSON of.
func (a *account) say(texts ...view) {
	for _, v := range texts {
		if last := v.last(); last.IsObject() && !last.IsEmpty() && !v.way.first {
			a.text = append(a.text, last.Raw()...)
		}
		a.grow(&a.text, v)
		for _, block := range v.each() {
			a.grow(&a.text, block.at("text"))
		}
	}
	a.mark()
}

// unescaped returns the characters that the inside of a JSON string stands for.
func unescaped(inner []byte) ([]byte, bool) {
	if bytes.IndexByte(inner, '\\') < 0 {
		return inner, true
	}
	text, whole := jsontext.Unescaped(string(inner))
	return []byte(text), whole
}

func (a *account) mark() {
	if len(a.marks) == 0 || a.marks[len(a.marks)-1].end < len(a.text) {
		a.marks = append(a.marks, mark{a.event, len(a.text)})
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

// firstDifference returns the event in which the text leaves another one.
func (a *account) firstDifference(text string) int {
	same := 0
	for same < min(len(text), len(a.text)) && text[same] == a.text[same] {
		same++
	}
	for _, m := range a.marks {
		if m.end > same {
			return m.event
		}
	}
	return a.event
}
