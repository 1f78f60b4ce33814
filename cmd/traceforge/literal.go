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

// writeSF writes records in the format's literal form: one alone, several as a document (SF
// "Complete Snapshot Structure").
func writeSF(con *console, chosen []selection) error {
	records, hashes, err := literal(chosen)
	if err != nil {
		return err
	}
	text := records[0]
	if len(records) > 1 || chosen[0].call < 0 {
		hash := snapshot.CombinedHash(snapshot.Version, slices.Values(hashes))
		text = []byte(fmt.Sprintf(`{"version":%q,"snapshots":%s,"hash":%q}`, snapshot.Version, jsontext.List(records), hash))
	}
	return writeIndented(con, text)
}

// writeIndented writes JSON as JSON.stringify does with two spaces, in a spelling that is safe to show.
func writeIndented(con *console, text []byte) error {
	var indented bytes.Buffer
	if err := json.Indent(&indented, text, "", "  "); err != nil {
		return err
	}
	con.text(indented.String() + "\n")
	return con.stdout.Flush() // an earlier error is sticky
}

// writeJSON writes records in the literal form, with the hashes that other formats name them by.
func writeJSON(con *console, chosen []selection) error {
	records, _, err := literal(chosen)
	if err != nil {
		return err
	}
	i := 0
	for _, s := range chosen {
		for _, call := range s.calls() {
			request, response, err := cores(call)
			if err != nil {
				return err
			}
			members, _ := jsontext.MembersOf(records[i])
			members["prompt_hash"] = jsontext.Text(canon.Sum(request))
			members["response_hash"] = jsontext.Text(canon.Sum(response))
			records[i] = jsontext.ObjectText(members)
			i++
		}
	}
	return con.json(struct {
		Snapshots []json.RawMessage `json:"snapshots"`
	}{records})
}

// literal returns the literal forms of records, and their seals.
func literal(chosen []selection) (records []json.RawMessage, hashes []canon.Hash, err error) {
	for _, s := range chosen {
		for _, call := range s.calls() {
			text, err := call.SF()
			if err != nil {
				return nil, nil, err
			}
			doc, err := jsontext.Parse(text)
			if err != nil {
				return nil, nil, err
			}
			for _, record := range doc.Root().Member("snapshots").Elements() { // the one
				records = append(records, record.Raw())
				hashes = append(hashes, canon.Hash(record.Member("hash").Word()))
			}
		}
	}
	return records, hashes, nil
}

func cores(s *snapshot.Snapshot) (request, response []byte, err error) {
	if request, err = snapshot.RequestCore(&s.Request, s.Source.Ignored); err != nil {
		return nil, nil, err
	}
	response, err = snapshot.ResponseCore(&s.Response)
	return request, response, err
}

// showHash prints what has a hash.
func showHash(con *console, dir string, hash canon.Hash, asSF bool) error {
	s, dir, err := place.OpenStore(dir)
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
			if err != nil {
				return err
			}
			if data == nil {
				continue
			}
			if asSF || doc.Document.Snapshots[i].Hash == hash {
				return writeSF(con, []selection{{doc.Provider, doc.Document, doc, i}})
			}
			if con.terminal {
				data = []byte(page.PrintableText(string(data)))
			}
			_, err = con.stdout.Write(data)
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
	for _, m := range s.Media() {
		if m.Hash == hash {
			return doc.Media(hash)
		}
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
	_, literals, err := literal([]selection{{doc.Provider, doc.Document, doc, i}})
	if err != nil {
		return nil, err
	}
	if s.Hash == hash || literals[0] == hash {
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
func writeReceipts(con *console, chosen []selection) error {
	for _, s := range chosen {
		if s.stored == nil {
			return usageError{errors.New("--receipt reads what is beside a document: name one of a store")}
		}
		for i, call := range s.calls() {
			recorded, err := recordedCall(s.stored, i)
			if err != nil {
				return fmt.Errorf("%s: %w", call.ID, err)
			}
			line, err := json.Marshal(recorded)
			if err != nil {
				return fmt.Errorf("%s: %w", call.ID, err)
			}
			con.text(string(line) + "\n")
		}
	}
	return con.stdout.Flush() // an earlier error is sticky
}
