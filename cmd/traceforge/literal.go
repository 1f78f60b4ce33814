package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/contract"
	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/internal/page"
	"github.com/traceforge/traceforge-go/internal/place"
	"github.com/traceforge/traceforge-go/snapshot"
	"github.com/traceforge/traceforge-go/snapshot/store"
)

// A record is a call in the format's literal form.
type record struct {
	*snapshot.Snapshot
	text json.RawMessage
	hash canon.Hash // the seal of that
}

// literal returns the literal forms of the calls that are chosen.
func literal(chosen ...selection) (records []record, err error) {
	for _, s := range chosen {
		for _, call := range s.calls() {
			text, err := call.SF()
			if err != nil {
				return nil, err
			}
			doc, err := jsontext.Parse(text)
			if err != nil {
				return nil, err
			}
			for _, one := range doc.Root().Member("snapshots").Elements() {
				records = append(records, record{call, one.Raw(), canon.Hash(one.Member("hash").Word())})
			}
		}
	}
	return records, nil
}

// writeSF writes what is chosen in the format's literal form: a call alone, or the document of each test
// (SF "Complete Snapshot Structure").
func writeSF(c *call, chosen []selection) error {
	for _, s := range chosen {
		text, err := s.Document.SF()
		if s.call >= 0 {
			var records []record
			if records, err = literal(s); err == nil {
				text = records[0].text
			}
		}
		if err != nil {
			return err
		}
		var indented bytes.Buffer
		if err := json.Indent(&indented, bytes.TrimSpace(text), "", "  "); err != nil {
			return err
		}
		c.text(indented.String() + "\n")
	}
	return nil
}

// writeJSON writes records in the literal form, with the hashes that other formats name them by.
func writeJSON(c *call, chosen []selection) error {
	records, err := literal(chosen...)
	if err != nil {
		return err
	}
	var texts []json.RawMessage
	for _, r := range records {
		request, response, err := cores(r.Snapshot)
		if err != nil {
			return err
		}
		members, _ := jsontext.MembersOf(r.text)
		members["prompt_hash"] = jsontext.Text(canon.Sum(request))
		members["response_hash"] = jsontext.Text(canon.Sum(response))
		texts = append(texts, jsontext.ObjectText(members))
	}
	return c.json(struct {
		Snapshots []json.RawMessage `json:"snapshots"`
	}{texts})
}

func cores(s *snapshot.Snapshot) (request, response []byte, err error) {
	if request, err = snapshot.RequestCore(&s.Request, s.Source.Ignored); err != nil {
		return nil, nil, err
	}
	response, err = snapshot.ResponseCore(&s.Response)
	return request, response, err
}

// showHash prints what has a hash.
func showHash(c *call, hash canon.Hash) error {
	s, dir, err := c.store()
	if err != nil {
		return err
	}
	var broken error
	for doc, err := range place.Documents(s) {
		if err != nil {
			broken = errors.Join(broken, err)
			continue
		}
		for i := range doc.Document.Snapshots {
			data, err := hashed(doc, i, hash)
			switch {
			case err != nil:
				return err
			case data == nil:
				continue
			case c.is("sf") || doc.Document.Snapshots[i].Hash == hash:
				return writeSF(c, []selection{{doc, true, i}})
			case c.terminal:
				data = []byte(page.PrintableText(string(data)))
			}
			_, err = c.stdout.Write(data)
			return err
		}
	}
	return errors.Join(fmt.Errorf("%s has nothing whose hash is %s", dir, hash), broken)
}

// hashed returns the text or the bytes of a record that have a hash; nil: nothing of it has.
func hashed(doc *store.Doc, i int, hash canon.Hash) ([]byte, error) {
	s := &doc.Document.Snapshots[i]
	if s.Response.RawOutputRef == hash {
		return doc.Raw(i)
	}
	if slices.ContainsFunc(s.Media(), func(m snapshot.Medium) bool { return m.Hash == hash }) {
		return doc.Media(hash)
	}
	request, response, err := cores(s)
	if err != nil {
		return nil, err
	}
	for _, text := range [][]byte{request, response} {
		if canon.Sum(text) == hash {
			return text, nil
		}
	}
	records, err := literal(selection{doc, true, i})
	if err != nil {
		return nil, err
	}
	if s.Hash == hash || records[0].hash == hash {
		return s.SF()
	}
	recorded, err := recordedCall(doc, i)
	if err != nil { // as of one that is no generation
		return nil, nil
	}
	text, err := recorded.Blob(hash)
	if err != nil {
		return nil, nil
	}
	return text, nil
}

func recordedCall(doc *store.Doc, i int) (*contract.Recorded, error) {
	raw, err := doc.Raw(i)
	if err != nil {
		return nil, err
	}
	return contract.FromSnapshot(contract.Record{
		Provider: doc.Provider, Snapshot: &doc.Document.Snapshots[i], Raw: raw, Media: doc.Media,
	})
}

// writeReceipts writes records in the terms of the call contract (LC), a line of JSON each.
func writeReceipts(c *call, chosen []selection) error {
	for _, s := range chosen {
		if !s.inStore {
			return usageError{errors.New("--receipt reads what is beside a document: name one of a store")}
		}
		for i, call := range s.calls() {
			recorded, err := recordedCall(s.Doc, i)
			if err != nil {
				return fmt.Errorf("%s: %w", call.ID, err)
			}
			line, err := json.Marshal(recorded)
			if err != nil {
				return fmt.Errorf("%s: %w", call.ID, err)
			}
			c.text(string(line) + "\n")
		}
	}
	return nil
}
