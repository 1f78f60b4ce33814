package provider

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"slices"
	"unicode/utf8"

	"github.com/traceforge/traceforge-go/internal/jsontext"
)

// Most events of a stream say the next words of a text and differ in nothing else. The others do to the body what the
// second event of the row did, so they are taken without being parsed: decoding a stream of thousands of events costs
// a tenth.

// A row is where a fold is in a row of such events.
type row struct {
	again bool   // it was like the one before itself
	piece []byte // what it said
	text  *node  // what it grew, if it did nothing else
}

// continues takes an event that does what the one before it did, and reports whether it did so.
func (f *fold) continues(event *Seen) bool {
	r := &f.row
	alike := event.Piece != nil
	text := r.text
	if !alike || !r.again {
		text = nil
	}
	*r = row{alike, event.Piece, text}
	f.log = journal{}
	if text != nil {
		text.raw = append(text.raw, event.Piece...)
	}
	return text != nil
}

// begin ends an event that was folded: others may do what it did.
func (f *fold) begin() {
	if f.row.again && f.log.changes == 1 && f.log.text != nil && bytes.Equal(f.log.piece, f.row.piece) {
		f.row.text = f.log.text
	}
}

// A journal is what an event did to a body.
type journal struct {
	changes int    // of all kinds
	text    *node  // the last one that grew
	piece   []byte // what it grew by
}

func (j *journal) change() {
	if j != nil {
		j.changes++
	}
}

func (j *journal) grow(text *node, piece []byte) {
	if j != nil {
		j.changes++
		j.text, j.piece = text, piece
	}
}

// pieces are the members of events that hold the next words of a text, in the APIs that have a codec.
var pieces = []string{
	"arguments", "code", "completion", "content", "delta", "generation", "input", "outputText", "partial_json",
	"reasoning", "reasoning_content", "refusal", "response", "text", "thinking", "tool_plan", "transcript",
}

// IsPiece reports whether a member of an event may hold the next words of a text.
func IsPiece(member string) bool { return slices.Contains(pieces, member) }

// padding are the members of events that say nothing of an answer, and are another in each.
var padding = []string{"obfuscation", "p", "sequence_number"}

// Alike reports whether two events that are JSON differ only in one string, a piece of a text, and in padding. It
// returns the piece of the second, as it is escaped, with something in it; that it is whole, and valid, is known
// where the first event is valid JSON.
func Alike(first, second []byte) (piece []byte, alike bool) {
	for {
		same := commonPrefix(first, second)
		if same == len(first) && same == len(second) {
			return piece, len(piece) > 0
		}
		name, begin := memberAt(first[:same])
		var ends, endsToo int
		switch {
		case begin == 0:
			return nil, false
		case first[begin-1] == '"':
			ends, endsToo = begin+stringEnd(first[begin:]), begin+stringEnd(second[begin:])
		default:
			ends, endsToo = begin+digits(first[begin:]), begin+digits(second[begin:])
		}
		if ends < same || endsToo < same || ends == len(first) || endsToo == len(second) || first[ends] != second[endsToo] {
			return nil, false
		}
		switch {
		case slices.Contains(padding, string(name)):
		case piece == nil && first[begin-1] == '"' && IsPiece(string(name)) && endsToo > begin:
			piece = second[begin:endsToo:endsToo]
		default:
			return nil, false
		}
		first, second = first[ends:], second[endsToo:]
	}
}

// memberAt returns the name of the member in whose string or number a text ends, and where its value begins, behind a
// quote. It returns 0 where the text ends in neither.
func memberAt(text []byte) (name []byte, begin int) {
	begin = len(text)
	for begin > 0 && '0' <= text[begin-1] && text[begin-1] <= '9' {
		begin--
	}
	before := bytes.TrimRight(text[:begin], " ")
	if !bytes.HasSuffix(before, []byte(":")) {
		begin = bytes.LastIndexByte(text, '"') + 1
		for begin > 1 && text[begin-2] == '\\' { // of a text that was escaped
			begin = bytes.LastIndexByte(text[:begin-1], '"') + 1
		}
		before = bytes.TrimRight(text[:max(0, begin-1)], " ")
		if !bytes.HasSuffix(before, []byte(":")) {
			return nil, 0
		}
	}
	before = bytes.TrimRight(before[:len(before)-1], " ")
	if !bytes.HasSuffix(before, []byte(`"`)) {
		return nil, 0
	}
	before = before[:len(before)-1]
	return before[bytes.LastIndexByte(before, '"')+1:], begin
}

// stringEnd returns where the inside of a string ends, at its quote. It returns the length of text where that is no
// string, or holds what is rarely in one.
func stringEnd(text []byte) int {
	for at := 0; ; {
		n, ascii := jsontext.Plain(text[at:])
		if !ascii && !utf8.Valid(text[at:at+n]) {
			return len(text)
		}
		at += n
		switch {
		case at+1 < len(text) && text[at] == '\\' && bytes.IndexByte([]byte(`"\/bfnrt`), text[at+1]) >= 0:
			at += 2
		case at < len(text) && text[at] == '"':
			return at
		default:
			return len(text)
		}
	}
}

// digits returns how many digits a text begins with.
func digits(text []byte) int { return len(text) - len(bytes.TrimLeft(text, "0123456789")) }

// commonPrefix returns how many bytes two texts begin with in common.
func commonPrefix(a, b []byte) (n int) {
	most := min(len(a), len(b))
	for ; n+8 <= most; n += 8 {
		if diff := binary.LittleEndian.Uint64(a[n:]) ^ binary.LittleEndian.Uint64(b[n:]); diff != 0 {
			return n + bits.TrailingZeros64(diff)/8
		}
	}
	for n < most && a[n] == b[n] {
		n++
	}
	return n
}
