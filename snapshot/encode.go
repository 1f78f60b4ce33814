package snapshot

import (
	"bytes"
	"encoding/json"
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
	data := layOut(b.text)
	if _, err := Parse(data); err != nil {
		return nil, err
	}
	return data, nil
}

// layOut returns a compact text as a file has it: as JSON.stringify(value, null, 2) of
// ECMAScript prints it, with a final newline.
func layOut(text []byte) []byte {
	var out bytes.Buffer
	out.Grow(len(text) + len(text)/4)
	_ = json.Indent(&out, text, "", "  ") // unreachable error: text is JSON
	out.WriteByte('\n')
	return out.Bytes()
}
