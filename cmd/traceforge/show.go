package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
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

func show(c *call) error {
	id := c.args[0]
	if hash := canon.Hash(id); hash.Valid() {
		return showHash(c, hash)
	}
	if c.is("raw") {
		return usagef("--raw writes what a hash names, such as the raw_output_ref of a record")
	}
	chosen, err := selectCalls(c, id)
	if len(chosen) == 0 {
		return err
	}
	switch {
	case c.is("json"):
		writeJSON(c, chosen)
	case c.is("sf"):
		writeSF(c, chosen)
	case c.is("receipt"):
		err = errors.Join(writeReceipts(c, chosen), err)
	default:
		writeConversations(c, chosen)
	}
	return err
}

// A selection is a document, or one call of it.
type selection struct {
	*store.Doc     // without a name if it is not from a store
	call       int // index of the call; -1 for all calls
}

// calls returns the selected calls with their indexes.
func (s *selection) calls() iter.Seq2[int, *snapshot.Snapshot] {
	return func(yield func(int, *snapshot.Snapshot) bool) {
		for i := range s.Document.Snapshots {
			if (s.call < 0 || s.call == i) && !yield(i, &s.Document.Snapshots[i]) {
				return
			}
		}
	}
}

func writeConversations(c *call, chosen []selection) {
	p := c.page(c.stdout)
	for i, s := range chosen {
		c.secrets.Hide(s.Document)
		if i > 0 {
			fmt.Fprintf(c.stdout, "\n\n")
		}
		if s.call >= 0 {
			p.Call(s.Provider, &s.Document.Snapshots[s.call])
		} else {
			p.Document(s.Provider, s.Document)
		}
	}
}

// textconv writes the document in a file for git, which compares the output by line.
func textconv(c *call) error {
	data, err := os.ReadFile(c.args[0])
	if err != nil {
		return err
	}
	doc, err := snapshot.Parse(data)
	if err != nil {
		if doc = snapshot.ParseUnsealed(data); doc == nil { // git shows nothing at all if this program fails
			c.stdout.Write(data)
			return nil
		}
		c.line("altered: the seal of this document does not hold: restore it with git, or record it again")
	}
	p := page.Page{Out: c.stdout, Width: usualWidth, Unwrapped: true}
	p.Textconv(data, doc)
	return nil
}

// selectCalls returns the documents and calls that id refers to. It may return both documents and an error for those
// that could not be read.
func selectCalls(c *call, id string) ([]selection, error) {
	if strings.HasSuffix(id, ".json") {
		if data, err := os.ReadFile(id); err == nil {
			return ofFile(id, data)
		}
	}
	s, dir, err := c.store()
	if err != nil {
		return nil, err
	}
	named, unread := documentsNamed(s, dir, id)
	if len(named) > 1 && strings.Contains("-"+nameOf(named[0]), "-"+id) {
		return nil, ambiguous(id, named)
	}
	var chosen []selection
	document, n, _ := snapshot.ParseID(id)
	for _, file := range named {
		doc, err := place.Load(s, file)
		if err != nil {
			return nil, err
		}
		at := -1 // all calls
		if doc.Name == document && doc.Name != id {
			at = slices.IndexFunc(doc.Document.Snapshots, func(s snapshot.Snapshot) bool { return s.Number() == n })
			if at < 0 {
				return nil, fmt.Errorf("%s has no call %d", file, n)
			}
		}
		chosen = append(chosen, selection{doc, at})
	}
	return chosen, unread
}

// nameOf returns the name of the document in a file of a store.
func nameOf(file string) string { return strings.TrimSuffix(path.Base(file), ".json") }

func ofFile(file string, data []byte) ([]selection, error) {
	doc, err := snapshot.Parse(data)
	if err != nil {
		var broken *snapshot.Error
		if errors.As(err, &broken) {
			broken.File = file
		}
		return nil, err
	}
	return []selection{{&store.Doc{Provider: providerOf(file), Document: doc}, -1}}, nil
}

// providerOf returns the provider whose directory in a store contains file; "" if it is not in a store.
func providerOf(file string) string {
	abs, _ := filepath.Abs(file) // it was read already
	dir := filepath.Dir(abs)
	_, err := os.Stat(filepath.Join(dir, "..", store.ManifestName))          // SF's stores have it
	own, _ := store.ReadFile(filepath.Join(dir, "..", store.AttributesName)) // as repositories do, with other content
	if err == nil || slices.Contains([]string{store.Attributes, store.LFSAttributes}, string(own)) {
		return filepath.Base(dir)
	}
	return ""
}

func ambiguous(id string, files []string) error {
	for i, file := range files {
		files[i] = nameOf(file)
	}
	return fmt.Errorf("%d documents have names with %q:\n  %s",
		len(files), id, strings.Join(page.Most(20, files, "more"), "\n  "))
}

// documentNames returns the names of the documents.
func documentNames(s *store.Store, _ []string) (names []string) {
	files, _ := s.List() // documents that cannot be read have no names
	for _, file := range files {
		names = append(names, nameOf(file))
	}
	return names
}

// writeSF writes the selected calls in the format's literal form: a single call, or the document of each test (SF
// "Complete Snapshot Structure").
func writeSF(c *call, chosen []selection) {
	for _, s := range chosen {
		text, _ := s.Document.SF() // the document was read from this
		if s.call >= 0 {
			text = page.Literal(&s.Document.Snapshots[s.call]).Raw()
		}
		c.text(string(jsontext.Indented(bytes.TrimSpace(text))) + "\n")
	}
}

// shownRecords are the output of show --json.
type shownRecords struct {
	Snapshots []json.RawMessage `json:"snapshots"`
}

// writeJSON writes records in the literal form and what it lacks, with the hashes that identify them in other formats.
func writeJSON(c *call, chosen []selection) {
	var answer shownRecords
	for _, s := range chosen {
		for _, call := range s.calls() {
			request, response := cores(call, call.Source.Ignored)
			members := page.Whole(call)
			members["prompt_hash"] = jsontext.Text(canon.Sum(request))
			members["response_hash"] = jsontext.Text(canon.Sum(response))
			answer.Snapshots = append(answer.Snapshots, jsontext.ObjectText(members))
		}
	}
	c.json(answer)
}

// cores returns the request and response cores of a record that was read, which has both.
func cores(s *snapshot.Snapshot, ignored []string) (request, response []byte) {
	request, _ = snapshot.RequestCore(&s.Request, ignored)
	response, _ = snapshot.ResponseCore(&s.Response)
	return request, response
}

// showHash prints the content with the given hash.
func showHash(c *call, hash canon.Hash) error {
	s, dir, err := c.store()
	if err != nil {
		return err
	}
	var broken error
	for doc := range place.Readable(s, &broken) {
		for i := range doc.Document.Snapshots {
			data, sealed, err := hashed(doc, i, hash)
			switch {
			case err != nil:
				return err
			case data == nil:
				continue
			case c.is("sf") || sealed:
				writeSF(c, []selection{{doc, i}})
			case !c.terminal && (c.is("raw") || !utf8.Valid(data) && !annotation.Wanted()):
				c.stdout.Write(data)
			case !utf8.Valid(data):
				return fmt.Errorf("%s is no text: write its %s to a file with traceforge show --raw", hash,
					page.Count(len(data), "byte", "bytes"))
			default:
				c.text(string(data))
			}
			return nil
		}
	}
	return errors.Join(fmt.Errorf("%s has nothing whose hash is %s", dir, hash), broken)
}

// hashed returns the text or bytes in a record that have the given hash; nil if there are none. sealed reports whether
// it is the record itself, as stored or in the literal form.
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
	request, response := cores(s, s.Source.Ignored)
	for _, text := range [][]byte{request, response} {
		if canon.Sum(text) == hash {
			return text, false, nil
		}
	}
	record := page.Literal(s)
	if s.Hash == hash || record.Member("hash").Word() == string(hash) {
		return record.Raw(), true, nil
	}
	if recorded, err := recordedCall(doc, i); err == nil { // otherwise it is not a generation
		data, _ = recorded.Blob(hash) // nil if no part of the call has this hash
	}
	return data, false, nil
}

// recordedCall returns a call of a document in the terms of the call contract (LC).
func recordedCall(doc *store.Doc, i int) (*contract.Recorded, error) {
	raw, err := doc.Raw(i)
	if err != nil {
		return nil, err
	}
	return contract.FromSnapshot(
		contract.Record{Provider: doc.Provider, Snapshot: &doc.Document.Snapshots[i], Raw: raw, Media: doc.Media})
}

// writeReceipts writes records in the terms of the call contract (LC), one line of JSON each.
func writeReceipts(c *call, chosen []selection) error {
	all, err := c.journalOf(chosen)
	for _, call := range all.Calls {
		line, _ := json.Marshal(call) // see contractText
		c.text(string(line) + "\n")
	}
	return err
}
