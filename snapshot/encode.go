package snapshot

import (
	"bytes"
	"encoding/json"

	"github.com/traceforge/traceforge-go/canon"
)

// Encode returns the bytes of d's file: members in the order of the format, all values canonical,
// two spaces of indentation, a final newline. [Document.Seal] comes first. A
// document that [Parse] would reject is not encoded; an error is an [*Error] with every violation.
func (d *Document) Encode() ([]byte, error) {
	writing := document{Document: *d, records: make([]record, len(d.Snapshots))}
	for i, s := range d.Snapshots {
		writing.records[i].Snapshot = s
	}
	var b builder
	documentObject.encode(&b, writing)
	if err := b.err(); err != nil {
		return nil, err
	}
	if err := check(b.text); err != nil {
		return nil, err
	}
	return layOut(b.text), nil
}

// check returns what [Parse] would say of a text that a builder wrote: its values are canonical, so
// there is nothing to rewrite before it is read.
func check(text []byte) error {
	if nesting(text) > canon.MaxDepth {
		_, err := Parse(text)
		return err
	}
	if _, found := decodeDocument(text); len(found) > 0 {
		return &Error{Violations: found}
	}
	return nil
}

// nesting returns how many arrays and objects are in each other at most.
func nesting(text []byte) (most int) {
	for i, depth := 0, 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			i = stringEnd(text, i) - 1
		case '{', '[':
			depth++
			most = max(most, depth)
		case '}', ']':
			depth--
		}
	}
	return most
}

// layOut returns a compact text as a file has it: as JSON.stringify(value, null, 2) of
// ECMAScript prints it, with a final newline.
func layOut(text []byte) []byte {
	const most = 64 << 10 // of white space, beside which a longer text is mostly strings
	var out bytes.Buffer
	out.Grow(len(text) + min(len(text)/4, most))
	_ = json.Indent(&out, text, "", "  ") // unreachable error: text is JSON
	out.WriteByte('\n')
	return out.Bytes()
}
