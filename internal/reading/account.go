package reading

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/traceforge/traceforge-go/internal/jsontext"
)

// An account is what a program reads from an answer: its text, its tool calls, and its finish reason.
type account struct {
	text   []byte
	finish string
	calls  []*call
	blocks []*block

	pending []*call         // completed items, and parts of chunks, that the end of the stream should have
	final   map[string]bool // keys of those that it has; nil before the end
	ref     string          // of the last call in chunks
	behind  bool            // the call before that one was not complete
	torn    bool            // pieces of calls cannot be told apart

	id     string // id of the first chunk; chatSummed skips chunks with another id
	gaps   int    // number of calls without a piece, up to mostGaps
	seen   bool   // there was an event that the step reads
	failed bool   // the program ends with an error
	event  int    // number of the current event, from 1
	name   string // the event's name in its framing

	noText, noCalls bool // the step reads no text, or no calls

	recorded string // text of the record
	same     int    // number of leading bytes of text that equal the record's
	differs  int    // the event at which text starts to differ from the record's; 0 if it does not
	effect
}

// An effect is what the last event did to an account. Most events add a piece to one text. For the next such event,
// continues has the same effect without a step.
type effect struct {
	changes int     // 1 for each text that grew, 2 for anything else that the next such event changes again; 1: only grew
	grew    *[]byte // the last text that grew
	by      []byte  // what was added to it
}

// A call is a tool call, at its place in the answer.
type call struct {
	place           int64
	key             string // for pending, see final
	name, arguments []byte
	event           int
	whole           bool // a chunk with everything so far has it
}

// A block is a growing part of an answer.
type block struct {
	kind, name  string
	text, input []byte
}

// grow adds to a text. A text that arrives at once is not copied.
func (a *account) grow(text *[]byte, v view) {
	piece := v.text()
	if piece == "" && !v.isText() {
		return
	}
	if last := v.last(); *text == nil && last.IsString() && !last.Escaped() {
		inner := last.Raw()[1 : len(piece)+1]
		*text = inner[:len(inner):len(inner)]
	} else {
		*text = append(*text, piece...)
	}
	a.changes, a.grew, a.by = a.changes+1, text, (*text)[len(*text)-len(piece):]
}

// growCall adds a piece of the name and of the arguments to the call at a place.
func (a *account) growCall(place int64, v view) {
	c := a.at(place)
	a.grow(&c.name, v.at("name"))
	a.grow(&c.arguments, v.at("arguments"))
}

// continues adds the piece of an event that differs from the event before only in its piece. It reports false if a step
// must read the event, because the event before did more than add its piece to one text.
func (a *account) continues(before, piece []byte) bool {
	if before == nil || a.changes > 1 || a.changes == 1 && a.grew == nil {
		return false
	}
	text, ok := unescaped(piece)
	said, known := unescaped(before)
	switch {
	case !ok || !known || a.changes == 1 && !bytes.Equal(a.by, said):
		return false
	case a.changes == 1:
		*a.grew, a.by = append(*a.grew, text...), text
		a.follow()
	}
	return true
}

// say adds to the text of the answer. Cloudflare sends values whose JSON is the text.
func (a *account) say(texts ...view) {
	for _, v := range texts {
		a.grow(&a.text, v)
	}
	a.follow()
}

// sayContent adds a text, or Mistral's blocks of content, to the text of the answer.
func (a *account) sayContent(v view) {
	if v.isBlocks() {
		a.say(v.texts()...)
	} else {
		a.say(v)
	}
}

// unescaped returns the characters of a JSON string, given without its quotes.
func unescaped(inner []byte) ([]byte, bool) {
	if bytes.IndexByte(inner, '\\') < 0 {
		return inner, true
	}
	text, whole := jsontext.Unescaped(string(inner))
	return []byte(text), whole
}

// follow compares the new part of the text with the record's.
func (a *account) follow() {
	switch all := len(a.text); {
	case a.differs > 0:
	case all > len(a.recorded) || a.recorded[a.same:all] != string(a.text[a.same:]):
		a.differs = a.event
	default:
		a.same = all
	}
}

// ends sets the finish reason; the last one counts.
func (a *account) ends(reason view) {
	if word := reason.text(); word != "" {
		a.finish, a.changes = word, a.changes+2
	}
}

// at returns the call at a place, adding it if necessary. Calls are in the order of their places.
func (a *account) at(place int64) *call {
	i, found := slices.BinarySearchFunc(a.calls, place,
		func(c *call, place int64) int { return cmp.Compare(c.place, place) })
	if !found {
		a.calls = slices.Insert(a.calls, i, &call{place: place, event: a.event})
	}
	return a.calls[i]
}

// add adds a complete call.
func (a *account) add(name, arguments string) {
	a.changes += 2
	a.calls = append(a.calls,
		&call{place: int64(len(a.calls)), name: []byte(name), arguments: []byte(arguments), event: a.event})
}

// expect adds a call, or another part, that the end of the stream should have under a key.
func (a *account) expect(key, name, arguments string) {
	a.changes += 2
	a.pending = append(a.pending,
		&call{key: key, name: []byte(name), arguments: []byte(arguments), event: a.event})
}

// settle gives all calls their arguments in one spelling, and removes those that a later chunk with everything so far
// repeats. Such a chunk has the same call, or one of the same name if the arguments were not complete.
func (a *account) settle() {
	last := map[string]int{} // the last such chunk with a call, and with one of its name
	slices.Reverse(a.calls)
	a.calls = slices.DeleteFunc(a.calls, func(c *call) bool {
		named := string(c.name) + "("
		repeated := last[named] > c.event && c.isOpen()
		c.arguments = []byte(argumentsOf(string(c.arguments)))
		if repeated = repeated || last[c.String()] > c.event; c.whole && !repeated {
			last[named], last[c.String()] = max(last[named], c.event), max(last[c.String()], c.event)
		}
		return repeated
	})
	slices.Reverse(a.calls)
}
