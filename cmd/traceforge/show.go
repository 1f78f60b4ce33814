package main

import (
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/traceforge/traceforge-go/canon"
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
	write := writeConversations
	switch {
	case c.is("json"):
		write = writeJSON
	case c.is("sf"):
		write = writeSF
	case c.is("receipt"):
		write = writeReceipts
	}
	return errors.Join(write(c, chosen), err)
}

// A selection is a document, or one call of it.
type selection struct {
	*store.Doc
	inStore bool
	call    int // index of the call; -1 means all of them
}

// calls returns the calls that are selected, by their indexes.
func (s *selection) calls() iter.Seq2[int, *snapshot.Snapshot] {
	return func(yield func(int, *snapshot.Snapshot) bool) {
		for i := range s.Document.Snapshots {
			if (s.call < 0 || s.call == i) && !yield(i, &s.Document.Snapshots[i]) {
				return
			}
		}
	}
}

func writeConversations(c *call, chosen []selection) error {
	for _, s := range chosen {
		c.secrets.Hide(s.Document)
	}
	p := c.page(c.stdout)
	for i, s := range chosen {
		if i > 0 {
			fmt.Fprintf(c.stdout, "\n\n")
		}
		if s.call >= 0 {
			p.Call(s.Provider, &s.Document.Snapshots[s.call])
		} else {
			p.Document(s.Provider, s.Document)
		}
	}
	return nil
}

// textconv shows the document in a file to git, which compares its lines.
func textconv(c *call) error {
	data, err := os.ReadFile(c.args[0])
	if err != nil {
		return err
	}
	doc, err := snapshot.Parse(data)
	if err != nil { // git shows nothing at all where this program fails
		_, err := c.stdout.Write(data)
		return err
	}
	p := page.Page{Out: c.stdout, Width: usualWidth, Unwrapped: true}
	p.Document("", doc) // git gives one side in a file of its own, which names no provider
	return nil
}

// selectCalls returns what id means. It may return both documents and an error, for what could not
// be read.
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
		at := -1 // all of it
		if doc.Name == document && doc.Name != id {
			at = slices.IndexFunc(doc.Document.Snapshots, func(s snapshot.Snapshot) bool { return s.Number() == n })
			if at < 0 {
				return nil, fmt.Errorf("%s has no call %d", file, n)
			}
		}
		chosen = append(chosen, selection{doc, true, at})
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
	return []selection{{&store.Doc{Provider: providerOf(file), Document: doc}, false, -1}}, nil
}

// providerOf returns the provider in whose directory of a store file is; empty means it is in no store.
func providerOf(file string) string {
	abs, err := filepath.Abs(file)
	if err != nil {
		return ""
	}
	dir := filepath.Dir(abs)
	if _, err := os.Stat(filepath.Join(filepath.Dir(dir), ".gitattributes")); errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	return filepath.Base(dir)
}

func ambiguous(id string, files []string) error {
	for i, file := range files {
		files[i] = nameOf(file)
	}
	return fmt.Errorf("%d documents have names with %q:\n  %s",
		len(files), id, strings.Join(page.Most(20, files, "more"), "\n  "))
}

// readable are the documents of a store that can be read; verify tells of the others.
func readable(s *store.Store) iter.Seq[*store.Doc] {
	return func(yield func(*store.Doc) bool) {
		for doc, err := range place.Documents(s) {
			if err == nil && !yield(doc) {
				return
			}
		}
	}
}

// documentNames are the names of documents.
func documentNames(s *store.Store, _ []string) (names []string) {
	files, _ := s.List() // what cannot be read has no names
	for _, file := range files {
		names = append(names, nameOf(file))
	}
	return names
}
