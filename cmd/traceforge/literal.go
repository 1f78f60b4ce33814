package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/contract"
	"github.com/traceforge/traceforge-go/internal/annotation"
	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/internal/page"
	"github.com/traceforge/traceforge-go/internal/place"
	"github.com/traceforge/traceforge-go/internal/store"
	"github.com/traceforge/traceforge-go/snapshot"
)

// literal returns a call in the format's literal form.
func literal(s *snapshot.Snapshot) (record jsontext.Value, err error) {
	text, err := s.SF()
	if err != nil {
		return record, err
	}
	doc, err := jsontext.Parse(text)
	return doc.Root().Member("snapshots").Head(), err
}

// writeSF writes what is chosen in the format's literal form: a call alone, or the document of each test
// (SF "Complete Snapshot Structure").
func writeSF(c *call, chosen []selection) error {
	for _, s := range chosen {
		text, err := s.Document.SF()
		if err != nil {
			return err
		}
		if s.call >= 0 {
			record, err := literal(&s.Document.Snapshots[s.call])
			if err != nil {
				return err
			}
			text = record.Raw()
		}
		c.text(string(jsontext.Indented(bytes.TrimSpace(text))) + "\n")
	}
	return nil
}

// ShownRecords are what show prints for a program.
type shownRecords struct {
	Snapshots []json.RawMessage `json:"snapshots"`
}

// writeJSON writes records in the literal form, with the hashes that other formats name them by.
func writeJSON(c *call, chosen []selection) error {
	var answer shownRecords
	for _, s := range chosen {
		for _, call := range s.calls() {
			record, err := literal(call)
			if err != nil {
				return err
			}
			request, response, err := cores(call)
			if err != nil {
				return err
			}
			members := record.Object()
			members["prompt_hash"] = jsontext.Text(canon.Sum(request))
			members["response_hash"] = jsontext.Text(canon.Sum(response))
			answer.Snapshots = append(answer.Snapshots, jsontext.ObjectText(members))
		}
	}
	return c.json(answer)
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
			data, sealed, err := hashed(doc, i, hash)
			switch {
			case err != nil:
				return err
			case data == nil:
				continue
			case c.is("sf") || sealed:
				return writeSF(c, []selection{{doc, true, i}})
			case !c.terminal && (c.is("raw") || !utf8.Valid(data) && !annotation.Wanted()):
				_, err = c.stdout.Write(data)
				return err
			case !utf8.Valid(data):
				return fmt.Errorf("%s is no text: write its %s to a file with traceforge show --raw", hash,
					page.Count(len(data), "byte", "bytes"))
			}
			c.text(string(data))
			return nil
		}
	}
	return errors.Join(fmt.Errorf("%s has nothing whose hash is %s", dir, hash), broken)
}

// hashed returns the text or the bytes of a record that have a hash; nil means nothing of it has. sealed says that it is the
// record itself, as it is stored or in the literal form.
func hashed(doc *store.Doc, i int, hash canon.Hash) (data []byte, sealed bool, err error) {
	s := &doc.Document.Snapshots[i]
	if s.Response.RawOutputRef == hash {
		data, err = doc.Raw(i)
		return data, false, err
	}
	if slices.ContainsFunc(s.Media(), func(m snapshot.Medium) bool { return m.Hash == hash }) {
		data, err = doc.Media(hash)
		return data, false, err
	}
	request, response, err := cores(s)
	if err != nil {
		return nil, false, err
	}
	for _, text := range [][]byte{request, response} {
		if canon.Sum(text) == hash {
			return text, false, nil
		}
	}
	record, err := literal(s)
	if err != nil {
		return nil, false, err
	}
	if s.Hash == hash || record.Member("hash").Word() == string(hash) {
		return record.Raw(), true, nil
	}
	recorded, err := recordedCall(doc, i)
	if err != nil { // as of one that is no generation
		return nil, false, nil
	}
	data, _ = recorded.Blob(hash) // nil means it is not that of a part of the call
	return data, false, nil
}

// recordedCall returns a call of a document in the terms of the call contract (LC).
func recordedCall(doc *store.Doc, i int) (*contract.Recorded, error) {
	raw, err := doc.Raw(i)
	if err != nil {
		return nil, err
	}
	return contract.FromSnapshot(contract.Record{Provider: doc.Provider, Snapshot: &doc.Document.Snapshots[i], Raw: raw, Media: doc.Media})
}

// writeReceipts writes records in the terms of the call contract (LC), a line of JSON each.
func writeReceipts(c *call, chosen []selection) error {
	for _, s := range chosen {
		if !s.inStore {
			return errNotInStore
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
