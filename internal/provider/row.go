package provider

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"slices"
	"unicode/utf8"

	"github.com/traceforge/traceforge-go/internal/jsontext"
)

// Most events of a stream only add the next words of a text. In a row of such events, each event after the second has
// the same effect as the second, so it is taken without being parsed: decoding a stream of thousands of events costs a
// tenth.

// continues takes an event with the same effect as the one before, and reports whether it did.
func (f *fold) continues(event *Seen) bool {
	f.log = journal{}
	if event.Piece == nil {
		f.row = nil
	}
	if f.row == nil {
		return false
	}
	f.row.raw = append(f.row.raw, event.Piece...)
	return true
}

// startRow starts a row after an event that was folded, if later ones may repeat its effect.
func (f *fold) startRow(event *Seen) {
	if f.log.changes == 1 && f.log.text != nil && bytes.Equal(f.log.piece, event.Piece) {
		f.row = f.log.text
	}
}

// A journal records what an event did to a body.
type journal struct {
	changes int    // number of changes of any kind
	text    *node  // the last text that grew
	piece   []byte // what was added to it
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

// pieces are members of events that contain the next words of a text. Register adds [Codec.Pieces].
var pieces = []string{
	"arguments", "code", "completion", "content", "delta", "generation", "input", "outputText", "partial_json",
	"reasoning", "reasoning_content", "refusal", "response", "text", "thinking", "tool_plan", "transcript",
}

// IsPiece reports whether a member of an event may contain the next words of a text.
func IsPiece(member string) bool { return slices.Contains(pieces, member) }

// padding are members of events that are not part of an answer, and differ in each event.
var padding = []string{"obfuscation", "p", "sequence_number"}

// Alike reports whether two JSON events differ only in one string, a piece of a text, and in padding. It returns the
// piece of the second event, escaped and not empty. The piece is complete and valid if the first event is valid JSON.
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

// memberAt returns the name of the member in whose string or number a text ends, and the start of its value, after a
// quote. It returns 0 if the text ends in neither.
func memberAt(text []byte) (name []byte, begin int) {
	begin = len(text)
	for begin > 0 && '0' <= text[begin-1] && text[begin-1] <= '9' {
		begin--
	}
	before := bytes.TrimRight(text[:begin], " ")
	if !bytes.HasSuffix(before, []byte(":")) {
		begin = bytes.LastIndexByte(text, '"') + 1
		for begin > 1 && text[begin-2] == '\\' { // in an escaped text
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

// stringEnd returns the end of a string's content, at its quote. It returns the length of text if that is not a string,
// or contains rare characters.
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

// digits returns the number of digits at the start of a text.
func digits(text []byte) int { return len(text) - len(bytes.TrimLeft(text, "0123456789")) }

// commonPrefix returns the length of the common prefix of two texts in bytes.
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
