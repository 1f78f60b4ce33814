package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"

	"github.com/traceforge/traceforge-go/internal/page"
	"github.com/traceforge/traceforge-go/internal/place"
	"github.com/traceforge/traceforge-go/internal/store"
	"github.com/traceforge/traceforge-go/snapshot"
)

// pendingName is the directory of a store with what waits for a decision.
const pendingName = ".pending"

// A pendingShards joins the pending answers of shards into those of a store.
type pendingShards struct {
	store     *store.Store
	found     map[string][]shardDoc // by the name of the document
	conflicts []conflict
}

// A shardDoc is a document of pending answers, and the directory that it was found in.
type shardDoc struct {
	*store.Doc
	dir string
	put store.Put
}

// read finds the pending answers in the directories of shards, and those that the store has.
func (p *pendingShards) read(dirs []string) error {
	p.found = map[string][]shardDoc{}
	if err := p.add(p.store.Pending(), filepath.Join(p.store.Dir(), pendingName)); err != nil {
		return err
	}
	for _, dir := range dirs {
		err := filepath.WalkDir(dir, func(file string, e fs.DirEntry, err error) error {
			if err != nil || !e.IsDir() || e.Name() != pendingName {
				return err
			}
			s, err := store.Open(file)
			if err != nil {
				return err
			}
			if err := p.add(s.Trusting(), file); err != nil { // who names the directory says so
				return err
			}
			return fs.SkipDir
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// add reads all documents of a store of pending answers with what is beside them, checked against their hashes.
func (p *pendingShards) add(s *store.Store, dir string) error {
	for doc, err := range place.Documents(s) {
		if err != nil {
			return err
		}
		put, err := doc.Put(nil)
		if err != nil {
			return err
		}
		p.found[doc.Name] = append(p.found[doc.Name], shardDoc{doc, filepath.ToSlash(filepath.Clean(dir)), put})
	}
	return nil
}

// join writes the documents that one shard has, or several equally, and names the others: which of two answers is to
// be taken nobody can know.
func (p *pendingShards) join() ([]pendingEntry, error) {
	entries := []pendingEntry{}
	own := filepath.ToSlash(filepath.Join(p.store.Dir(), pendingName))
	var change store.Change
	for _, name := range slices.Sorted(maps.Keys(p.found)) {
		all := p.found[name]
		test := page.TestOf(all[0].Document)
		if i := slices.IndexFunc(all, func(other shardDoc) bool { return !saysTheSame(all[0].Doc, other.Doc) }); i >= 0 {
			p.conflicts = append(p.conflicts, conflict{test, []string{all[0].dir, all[i].dir},
				"bought different answers, of which none was taken"})
			continue
		}
		if all[0].dir != own {
			change.Put = append(change.Put, all[0].put)
			entries = append(entries, pendingEntry{test, len(all[0].Document.Snapshots)})
		}
	}
	if len(change.Put) == 0 {
		return entries, nil
	}
	if err := p.store.Pending().Commit(change); err != nil {
		return nil, fmt.Errorf("join pending answers: %w", err)
	}
	return entries, nil
}

// saysTheSame reports whether two documents have the same calls, whenever they were recorded.
func saysTheSame(a, b *store.Doc) bool {
	return slices.EqualFunc(a.Document.Snapshots, b.Document.Snapshots, func(x, y snapshot.Snapshot) bool {
		asked, err := snapshot.RequestCore(&x.Request, nil)
		again, err2 := snapshot.RequestCore(&y.Request, nil)
		return errors.Join(err, err2) == nil && bytes.Equal(asked, again) &&
			x.ID == y.ID && x.Response.Status == y.Response.Status && x.Response.RawOutputRef == y.Response.RawOutputRef
	})
}
