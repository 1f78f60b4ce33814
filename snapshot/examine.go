package snapshot

import (
	"bytes"
	"errors"
	"time"

	"github.com/traceforge/traceforge-go/canon"
)

// An examined is what the check of a record's file yields beside violations.
type examined struct {
	id        string
	source    Source
	timestamp time.Time
	refs
	seal canon.Hash
}

// examine checks the file that was read: it must be what [Document.Encode] writes for a
// document with one record that [Parse] takes.
func (s *scratch) examine() (examined, []Violation) {
	if snap := s.wellFormed(); snap != nil {
		return examinedOf(snap), nil
	}
	doc, err := Parse(s.file)
	var e *Error
	if errors.As(err, &e) {
		return examined{}, e.Violations
	}
	if n := len(doc.Snapshots); n != 1 {
		return examined{}, []Violation{{"/snapshots", ruleName, "must be one record in a file of a store"}}
	}
	found := examinedOf(&doc.Snapshots[0])
	data, err := doc.Encode()
	switch {
	case err != nil: // unreachable: what Parse takes can be encoded
		return found, []Violation{{"", ruleCanonical, err.Error()}}
	case bytes.Contains(s.file, []byte("\r\n")):
		return found, []Violation{{"", ruleCanonical, "has CRLF line ends: git must not change them, as .gitattributes says"}}
	case !bytes.Equal(s.file, data):
		return found, []Violation{{"", ruleCanonical, "differs from what traceforge writes in white space, order or spelling"}}
	}
	return found, nil
}

func examinedOf(snap *Snapshot) examined {
	return examined{
		id:        snap.ID,
		source:    snap.Source,
		timestamp: snap.Timestamp,
		refs:      refsOf(snap),
		seal:      snap.Hash,
	}
}

// wellFormed returns the record of the file if nothing is wrong with it. It reads the file once
// per question instead of building what Parse does; nil leaves the answer to Parse.
func (s *scratch) wellFormed() *Snapshot {
	s.scan(s.file)
	r, ok := s.sealed()
	if !ok || !s.laidOut || mayHaveIndex(s.text) {
		return nil
	}
	for _, m := range r.members {
		if !canon.Canonical(s.text[m.start:m.end]) {
			return nil
		}
	}
	s.cursor.reset(s.text)
	s.cursor.sealed = true
	var d document
	if !documentObject.decode(&s.cursor, &d) {
		return nil
	}
	return &d.records[0].Snapshot
}
