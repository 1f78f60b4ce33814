package snapshot

import (
	"bytes"
	"fmt"
	"reflect"

	"github.com/traceforge/traceforge-go/canon"
)

// A Writer writes a document as [Document.Write] does, also one whose records came one by one, as a test makes one call
// more: those at its beginning that were appended as they are now are not encoded again. It keeps the records, whose
// memory must not change in place. The zero value is ready to use. A Writer is not for several goroutines at once.
type Writer struct {
	coder   *coder // nil means no record was appended since a document was written
	chooser *chooser
	given   []Snapshot // the records, as they came
	lines   [][]byte   // each in one line, behind lineBegins
	media   [][]Medium // that each names
}

// Write seals a document and encodes it, and asks check about it as it will be read again; nil means nothing is
// asked. Check must not keep what it is given, and nobody may change the data.
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

// begin begins a document, unless records were appended.
func (w *Writer) begin() {
	if w.coder == nil {
		d := &Document{Version: Version}
		*w = Writer{chooser: newChooser(d), coder: &coder{cursor: cursor{form: inFile}, sealing: true, doc: d}}
		w.coder.calls = w.chooser.calls
	}
}

// Append seals a record behind those that were appended before and encodes it, in one line, as [ParseRecords] reads it with
// them. [Writer.Write] takes it from there. The zero value begins with the first record of a document.
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

// encode seals the i-th record and encodes it.
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

// equal reports whether two records are the same, whatever their seals.
func (s Snapshot) equal(other Snapshot) bool {
	s.Hash, other.Hash = "", ""
	return reflect.DeepEqual(&s, &other)
}

// lineBegins is in front of a record in one line, so that this and the end of a document make a document of it.
const lineBegins = `{"version":"` + Version + `","snapshots":[`

// fileOf returns the file of a document whose records are encoded. It takes the memory of the first, which may be long.
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

// ParseRecords reads records that [Writer.Append] encoded, as [Parse] reads a document that has them in this order. There may
// be none.
func ParseRecords(lines [][]byte) (*Document, error) {
	if len(lines) == 0 {
		return &Document{Version: Version}, nil
	}
	seals := make(Seals, len(lines))
	for i, line := range lines {
		if at := bytes.LastIndex(line, []byte(`"sha256:`)); at >= 0 {
			seals[i] = canon.Hash(bytes.Trim(line[at:], `"}`))
		}
	}
	return Parse(fmt.Appendf(nil, lineBegins+`%s],"hash":%q}`, bytes.Join(lines, []byte(",")), seals.Combined(Version)))
}

// Media returns the media that the i-th record of the document that was written last names, each once.
func (w *Writer) Media(i int) []Medium { return w.media[i] }
