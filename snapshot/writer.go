package snapshot

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/modelio"
)

// A Writer writes versions of a document as [Document.Write] does, one after the other, as a test makes one call
// more. It encodes a record again only where the record or the one that it continues has changed. It keeps the
// documents, whose memory must not change in place. The zero value is ready to use. A Writer is not for several
// goroutines at once.
type Writer struct {
	chooser *chooser
	records []*writtenRecord // of the document that was written last
	data    []byte           // its file; nil means it has none, as it was written record by record
	read    *Document        // that document as it was read from its file; nil means it was not
	log     *coder           // of records that are appended; nil means none are
}

// A writtenRecord is a record as it was written.
type writtenRecord struct {
	given     Snapshot // as it came
	continues *Continues
	hash      canon.Hash
	base      *writtenRecord    // the record that it continues; nil means none
	members   map[string]string // that need not be repeated in those that continue it
	copied    int               // messages that its request does not share with that of base
	text      []byte            // a part of the file
	line      []byte            // the same in one line, behind lineBegins; nil means text has it
	media     []Medium          // that it names
}

// Write seals a document and encodes it, and asks check about it as it will be read again; nil means nothing is
// asked. Check must not keep what it is given, and nobody may change the data.
func (w *Writer) Write(d *Document, check func(read *Document) error) (data []byte, err error) {
	d.Version = Version
	records, changed := w.choose(d)
	if len(changed) == len(records) {
		data, err = w.whole(d, records)
	} else {
		data, err = w.some(d, records, changed, check != nil)
	}
	if err == nil && check != nil {
		err = check(w.read)
	}
	if err != nil {
		*w = Writer{}
		return nil, err
	}
	w.records, w.data, w.log = records, data, nil
	return data, nil
}

// Append seals a record behind those that were appended before and encodes it, in one line, as [ParseRecords] reads it with
// them. [Writer.Write] takes it from there. The zero value begins with the first record of a document.
func (w *Writer) Append(s Snapshot) (line []byte, err error) {
	if w.log == nil {
		*w = Writer{log: &coder{cursor: cursor{form: inFile}, sealing: true, doc: &Document{Version: Version}, calls: map[string]int{}}}
		w.chooser = newChooser(w.log.doc)
		w.chooser.calls = w.log.calls
	}
	c, h, i := w.log, w.chooser, len(w.records)
	r := &writtenRecord{given: s}
	c.doc.Snapshots, c.texts = append(c.doc.Snapshots, s), append(c.texts, nil)
	h.paths, h.said = append(h.paths, nil), append(h.said, nil)
	h.chooseFor(i)
	if _, twice := c.calls[s.ID]; !twice {
		c.calls[s.ID] = i
	}
	sealed := &c.doc.Snapshots[i]
	if r.continues = sealed.Continues; r.continues != nil {
		j, _ := earlier(c.calls, sealed, i)
		r.base = w.records[j]
	}
	c.dst, c.steps = sealed.room(), recordSteps(i)
	c.write(lineBegins)
	c.record(sealed)
	r.line = c.dst
	r.settle(sealed, c.texts[i], nil)
	if err := c.err(); err != nil {
		*w = Writer{}
		return nil, err
	}
	w.records = append(w.records, r)
	return r.line[len(lineBegins):], nil
}

// room returns memory for a record that is written, of about its size in pieces: what it continues does not stand in it.
func (s *Snapshot) room() []byte {
	own := s.Request.Messages
	if s.Continues != nil {
		own = own[min(len(own), s.Continues.Messages):]
	}
	texts := textsOf(own)
	return make([]byte, 0, coreRoom+texts+texts/2)
}

// lineBegins is in front of a record in one line, so that this and the end of a document make a document of it.
const lineBegins = `{"version":"` + Version + `","snapshots":[`

// ParseRecords reads records that [Writer.Append] encoded, as [Parse] reads a document that has them in this order.
func ParseRecords(lines [][]byte) (*Document, error) {
	seals := make(Seals, len(lines))
	for i, line := range lines {
		if at := bytes.LastIndex(line, []byte(`"sha256:`)); at >= 0 {
			seals[i] = canon.Hash(bytes.Trim(line[at:], `"}`))
		}
	}
	return Parse(fmt.Appendf(nil, lineBegins+`%s],"hash":%q}`, bytes.Join(lines, []byte(",")), seals.Combined(Version)))
}

// Media returns the media that the i-th record of the document that was written last names, each once.
func (w *Writer) Media(i int) []Medium { return w.records[i].media }

// choose chooses what the requests of d continue, and finds the records that are written already. changed are the
// indexes of the others.
func (w *Writer) choose(d *Document) (records []*writtenRecord, changed []int) {
	if w.chooser == nil {
		w.chooser = newChooser(d)
	}
	was := make(map[string]*writtenRecord, len(w.records))
	if len(w.records) > 0 && len(d.Snapshots) > 0 && sameTest(&w.records[0].given, &d.Snapshots[0]) {
		for _, r := range w.records {
			was[r.given.ID] = r
		}
	}
	same := 0 // so many records are those of the document that was written last
	records = make([]*writtenRecord, len(d.Snapshots))
	for i := range d.Snapshots {
		s := &d.Snapshots[i]
		if old := was[s.ID]; old != nil && old.given.equal(s) {
			records[i] = old
		}
		if i == same && i < len(w.records) && records[i] == w.records[i] {
			s.Continues, s.Hash = records[i].continues, records[i].hash
			same++
		}
	}
	w.chooser.resume(d, same)
	for i := same; i < len(d.Snapshots); i++ {
		s, old := &d.Snapshots[i], records[i]
		given := *s
		w.chooser.chooseFor(i)
		var base *writtenRecord
		if s.Continues != nil {
			if j, ok := earlier(w.chooser.calls, s, i); ok {
				base = records[j]
			}
		}
		if old != nil && old.base == base && (i == 0) == (old == w.records[0]) && reflect.DeepEqual(old.continues, s.Continues) {
			s.Hash = old.hash
			continue
		}
		records[i] = &writtenRecord{given: given, continues: s.Continues, base: base}
		changed = append(changed, i)
	}
	w.chooser.scratch.dst = nil // is as long as the longest text
	return records, changed
}

func sameTest(a, b *Snapshot) bool {
	return a.Source.Package == b.Source.Package && a.Source.Test == b.Source.Test
}

// equal reports whether two records are the same, whatever their seals.
func (s *Snapshot) equal(other *Snapshot) bool {
	if s.Hash == other.Hash {
		return reflect.DeepEqual(s, other)
	}
	a, b := *s, *other
	a.Hash, b.Hash = "", ""
	return reflect.DeepEqual(&a, &b)
}

// whole writes all records.
func (w *Writer) whole(d *Document, records []*writtenRecord) (data []byte, err error) {
	c := coder{cursor: cursor{form: inFile}, sealing: true}
	c.writeDocument(d)
	if err := c.err(); err != nil {
		return nil, err
	}
	data = layOut(c.dst)
	if w.read, err = Parse(data); err != nil {
		return nil, err
	}
	for i, text := range recordsIn(data, len(records)) {
		records[i].settle(&d.Snapshots[i], c.texts[i], text)
	}
	return data, nil
}

func (r *writtenRecord) settle(s *Snapshot, members map[string]string, text []byte) {
	r.hash, r.members, r.text, r.media = s.Hash, members, text, s.Media()
}

// some writes the records that changed, and puts them between the others. The document is read again where asked is
// set, and where its parts alone do not prove it.
func (w *Writer) some(d *Document, records []*writtenRecord, changed []int, asked bool) (data []byte, err error) {
	c := coder{cursor: cursor{form: inFile}, sealing: true, doc: d, calls: w.chooser.calls, texts: make([]map[string]string, len(records))}
	unread := false
	for i, r := range records {
		c.texts[i] = r.members
		if unread = unread || r.line != nil; r.line != nil && len(records) > 1 {
			r.text, r.line = indented(r.line[len(lineBegins):], 2), nil
		}
	}
	var found []Violation
	for _, i := range changed {
		r := records[i]
		c.dst, c.steps = d.Snapshots[i].room(), recordSteps(i)
		c.record(&d.Snapshots[i])
		if len(c.found) == 0 && !asked {
			found = append(found, r.examine(d, i, c.dst, w.chooser.calls)...)
		}
		r.settle(&d.Snapshots[i], c.texts[i], indented(c.dst, 2))
	}
	if c.found = append(c.found, found...); len(c.found) > 0 {
		return nil, c.err()
	}
	if d.Hash = d.combinedHash(); w.data != nil && slices.Equal(records, w.records) {
		if asked && w.read == nil {
			w.read, err = Parse(w.data)
		}
		return w.data, err
	}
	w.read = nil
	copied := 0
	for _, r := range records {
		copied += r.copied
	}
	data = joined(d, records)
	for _, r := range records {
		r.line = nil
	}
	if asked || unread || copied > copiedMost || len(w.chooser.calls) < len(records) {
		w.read, err = Parse(data)
	}
	return data, err
}

func recordSteps(i int) []step { return []step{{"snapshots", -1}, {"", i}} }

// examine reads the i-th record of a document, whose others are known to be right, from its text.
func (r *writtenRecord) examine(d *Document, i int, text []byte, calls map[string]int) []Violation {
	read, err := jsontext.ParseStrict(text)
	if err != nil {
		return unreadable(text, err).Violations
	}
	c := coder{cursor: cursor{at: read.Root(), dst: make([]byte, 0, 512), steps: recordSteps(i)},
		doc: d, calls: calls, tails: make([][]modelio.Message, len(d.Snapshots))}
	c.record(&Snapshot{})
	r.copied = c.copied
	return c.found
}

const (
	recordsBegin  = "[\n    "
	recordsFollow = ",\n    "
	recordsEnd    = "\n  ],\n"
)

// joined returns the file of a document, of whose records the texts are known. They are parts of it then.
func joined(d *Document, records []*writtenRecord) []byte {
	if sole := records[0]; len(records) == 1 && sole.line != nil { // it may be long, and is laid out where it is
		data := layOut(fmt.Appendf(sole.line, `],"hash":%q}`, d.Hash))
		sole.text = recordsIn(data, 1)[0]
		return data
	}
	size := 200
	for _, r := range records {
		size += len(r.text) + len(recordsFollow)
	}
	data := fmt.Appendf(make([]byte, 0, size), "{\n  \"version\": %q,\n  \"snapshots\": "+recordsBegin, d.Version)
	for i, r := range records {
		if i > 0 {
			data = append(data, recordsFollow...)
		}
		start := len(data)
		data = append(data, r.text...)
		r.text = data[start:len(data):len(data)]
	}
	return fmt.Appendf(data, recordsEnd+"  \"hash\": %q\n}\n", d.Hash)
}

// recordsIn returns the texts of the n records of a file. No line break in it stands in a string.
func recordsIn(data []byte, n int) [][]byte {
	texts := make([][]byte, 0, n)
	_, rest, _ := bytes.Cut(data, []byte(recordsBegin))
	for range n {
		const last = "\n    }"
		end := bytes.Index(rest, []byte(last))
		end += len(last)
		texts = append(texts, rest[:end:end])
		rest = rest[min(end+len(recordsFollow), len(rest)):]
	}
	return texts
}
