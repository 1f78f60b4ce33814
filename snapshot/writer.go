package snapshot

import (
	"bytes"
	"fmt"

	"github.com/traceforge/traceforge-go/canon"
)

// A Writer encodes the records of a document one by one, as a test makes calls. It keeps the records, whose memory must
// not be changed in place. The zero value is ready to use. A Writer is not safe for concurrent use.
type Writer struct {
	coder   *coder // nil before the first record
	chooser *chooser
}

// Append seals a record and encodes it in one line after those that were appended before. [ParseRecords] reads these
// lines. The zero value, and a Writer after an error, start with the first record of a document.
func (w *Writer) Append(s Snapshot) (line []byte, err error) {
	if w.coder == nil {
		d := &Document{Version: Version}
		*w = Writer{&coder{cursor: cursor{form: inFile}, sealing: true, doc: d}, newChooser(d)}
		w.coder.calls = w.chooser.calls
	}
	c, h, d := w.coder, w.chooser, w.coder.doc
	i := len(d.Snapshots)
	d.Snapshots, c.texts = append(d.Snapshots, s), append(c.texts, nil)
	h.chooseFor(i)
	if _, twice := c.calls[s.ID]; !twice {
		c.calls[s.ID] = i
	}
	c.dst, c.steps = make([]byte, 0, d.Snapshots[i].room()), []step{{"snapshots", -1}, {"", i}}
	c.record(&d.Snapshots[i])
	if err := c.err(); err != nil {
		*w = Writer{}
		return nil, err
	}
	line, c.dst = c.dst, nil
	return line, nil
}

// room returns about how long the text of a record is.
func (s *Snapshot) room() int {
	if s.Continues != nil {
		return coreRoom
	}
	texts := textsOf(s.Request.Messages)
	return coreRoom + texts + texts/8
}

// ParseRecords reads records that [Writer.Append] encoded, in the same way as [Parse] reads a document with these
// records. There may be none.
func ParseRecords(lines [][]byte) (*Document, error) {
	if len(lines) == 0 {
		return &Document{Version: Version}, nil
	}
	hash := CombinedHash(Version, len(lines), func(i int) canon.Hash {
		at := bytes.LastIndex(lines[i], []byte(`"sha256:`)) // if it has none, it is refused
		return canon.Hash(bytes.Trim(lines[i][max(at, 0):], `"}`))
	})
	return Parse(
		fmt.Appendf(nil, `{"version":%q,"snapshots":[%s],"hash":%q}`, Version, bytes.Join(lines, []byte(",")), hash))
}
