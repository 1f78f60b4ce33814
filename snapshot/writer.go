package snapshot

import (
	"bytes"
	"fmt"
	"reflect"

	"github.com/traceforge/traceforge-go/canon"
)

// A Writer writes documents like [Document.Write], but it also supports documents that grow record by record, as a test
// makes calls: records that were appended and are unchanged are not encoded again. It keeps the records, whose memory
// must not be changed in place. The zero value is ready to use. A Writer is not safe for concurrent use.
type Writer struct {
	coder   *coder // nil if no record was appended since a document was written
	chooser *chooser
	given   []Snapshot // the records, as they were appended
	lines   [][]byte   // each record in one line, after lineBegins
	media   [][]Medium // media that each record refers to
}

// Write seals and encodes a document, and calls check, unless it is nil, with the document as it will be read again.
// check must not keep its argument, and nobody may change data.
func (w *Writer) Write(d *Document, check func(read *Document) error) (data []byte, err error) {
	d.Version = Version
	w.begin()
	c, h, n := w.coder, w.chooser, 0
	for n < min(len(w.given), len(d.Snapshots)) && w.given[n].equal(d.Snapshots[n]) {
		was := &c.doc.Snapshots[n]
		d.Snapshots[n].Continues, d.Snapshots[n].Hash = was.Continues, was.Hash
		n++
	}
	h.resume(d, n)
	c.doc, c.calls, c.texts = d, h.calls, append(c.texts[:n], make([]map[string]string, len(d.Snapshots)-n)...)
	w.lines, w.media = w.lines[:n], w.media[:n]
	for i := n; i < len(d.Snapshots); i++ {
		h.chooseFor(i)
		w.encode(i)
	}
	d.Hash = d.combinedHash()
	lines, err := w.lines, c.err()
	if *w = (Writer{media: w.media}); err != nil {
		return nil, err
	}
	data = fileOf(lines, d.Hash)
	read, err := Parse(data)
	if err == nil && check != nil {
		err = check(read)
	}
	if err != nil {
		return nil, err
	}
	return data, nil
}

// begin starts a document, unless records were appended.
func (w *Writer) begin() {
	if w.coder == nil {
		d := &Document{Version: Version}
		*w = Writer{chooser: newChooser(d), coder: &coder{cursor: cursor{form: inFile}, sealing: true, doc: d}}
		w.coder.calls = w.chooser.calls
	}
}

// Append seals a record and encodes it in one line after those that were appended before. [ParseRecords] reads these
// lines, and [Writer.Write] reuses them. The zero value starts with the first record of a document.
func (w *Writer) Append(s Snapshot) (line []byte, err error) {
	w.begin()
	c, h, i := w.coder, w.chooser, len(w.lines)
	w.given = append(w.given, s)
	c.doc.Snapshots, c.texts = append(c.doc.Snapshots, s), append(c.texts, nil)
	h.paths, h.said = append(h.paths, nil), append(h.said, nil)
	h.chooseFor(i)
	if _, twice := c.calls[s.ID]; !twice {
		c.calls[s.ID] = i
	}
	w.encode(i)
	if err := c.err(); err != nil {
		*w = Writer{}
		return nil, err
	}
	return w.lines[i][len(lineBegins):], nil
}

// encode seals and encodes the i-th record.
func (w *Writer) encode(i int) {
	c := w.coder
	s := &c.doc.Snapshots[i]
	room := coreRoom
	if s.Continues == nil {
		texts := textsOf(s.Request.Messages)
		room += texts + texts/3
	}
	c.dst, c.steps = make([]byte, 0, room), []step{{"snapshots", -1}, {"", i}}
	c.write(lineBegins)
	c.record(s)
	w.lines, w.media = append(w.lines, c.dst), append(w.media, s.Media())
}

// equal reports whether two records are equal, except for their seals.
func (s Snapshot) equal(other Snapshot) bool {
	s.Hash, other.Hash = "", ""
	return reflect.DeepEqual(&s, &other)
}

// lineBegins comes before a record in one line, so that together with the end of a document it forms one.
const lineBegins = `{"version":"` + Version + `","snapshots":[`

// fileOf returns the file of a document whose records are encoded. It reuses the memory of the first record, which may
// be long.
func fileOf(lines [][]byte, hash canon.Hash) []byte {
	data := []byte(lineBegins)
	for i, line := range lines {
		if i == 0 {
			data = line
			continue
		}
		data = append(append(data, ','), line[len(lineBegins):]...)
	}
	return layOut(fmt.Appendf(data, `],"hash":%q}`, hash))
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
	return Parse(fmt.Appendf(nil, lineBegins+`%s],"hash":%q}`, bytes.Join(lines, []byte(",")), hash))
}

// Media returns the media that the i-th record of the last document refers to, without duplicates.
func (w *Writer) Media(i int) []Medium { return w.media[i] }
