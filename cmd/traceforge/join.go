package main

import (
	"cmp"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/traceforge/traceforge-go/internal/page"
	"github.com/traceforge/traceforge-go/internal/place"
	"github.com/traceforge/traceforge-go/internal/store"
	"github.com/traceforge/traceforge-go/internal/usage"
	"github.com/traceforge/traceforge-go/internal/usage/coverage"
	"github.com/traceforge/traceforge-go/snapshot"
)

// A shardReport is what report combines from the shards of a run, or finds in a single directory.
type shardReport struct {
	Checks    *checkReport   `json:"checks,omitempty"` // combined output of check --json
	Pending   []pendingEntry `json:"pending"`          // pending answers that were copied to the store
	Conflicts []conflict     `json:"conflicts"`        // disagreements between shards
}

// ok reports whether the shards agree, and no check failed.
func (j *shardReport) ok() bool { return len(j.Conflicts) == 0 && (j.Checks == nil || j.Checks.OK) }

// A pendingEntry is a document of pending answers.
type pendingEntry struct {
	page.Test
	Answers int `json:"answers"` // number of answers in the document
}

// A conflict is a test about which two shards disagree.
type conflict struct {
	page.Test
	Shards []string `json:"shards,omitempty"` // directories of the shards
	Reason string   `json:"reason"`           // description of the disagreement
}

func (f conflict) String() string {
	text := f.Test.Name + " in " + f.Package + ": " + f.Reason
	if len(f.Shards) > 0 {
		text += ": " + strings.Join(f.Shards, ", ")
	}
	return text
}

// join combines the checks and the pending answers of a run's shards. It adds the answers to those of the store s,
// which is nil if several are named. It takes the tests whose failure the checks tell of out of the report. The result
// of a single directory without either is nil.
func join(r *coverage.Report, s *store.Store, left []string) (j *shardReport, err error) {
	var receipts []usage.Receipt
	for _, dir := range left {
		some, _, err := coverage.ReadReceipts(dir)
		if err != nil {
			return nil, err
		}
		receipts = append(receipts, some...)
	}
	j = &shardReport{Pending: []pendingEntry{}}
	receipts, j.Conflicts = joinChecks(receipts)
	if len(receipts) > 0 {
		j.Checks = newChecked(receipts, coverage.Outcomes{})
		r.Failed = slices.DeleteFunc(r.Failed, func(t page.Test) bool { _, told := j.Checks.unlike[t]; return told })
	}
	found, err := pendingIn(left)
	switch {
	case err != nil:
		return nil, err
	case s == nil && (len(left) > 1 || len(found) > 0):
		return nil, usagef("shards are joined in one store: name one --dir, or one --receipt without pending answers")
	case len(found) > 0:
		return j, j.takePending(s, found)
	case len(left) == 1 && j.Checks == nil:
		return nil, nil
	}
	return j, nil
}

// lines returns the combined results, except for the checks, for people.
func (j *shardReport) lines() (lines []string) {
	if j == nil {
		return nil
	}
	answers := 0
	for _, p := range j.Pending {
		answers += p.Answers
	}
	if answers > 0 {
		lines = append(lines, fmt.Sprintf("pending: %s of %s joined: traceforge accept lists them",
			page.Count(answers, "answer", "answers"), page.Count(len(j.Pending), "test", "tests")))
	}
	for _, f := range j.Conflicts {
		lines = append(lines, "conflict: "+f.String())
	}
	return lines
}

// joinChecks returns the receipts with checks, in which each call occurs once: as checked by the shard that was
// responsible for it. If two shards checked a call with different results, it is a conflict.
func joinChecks(all []usage.Receipt) (receipts []usage.Receipt, conflicts []conflict) {
	type key struct {
		page.Test
		call string
	}
	kept := map[key]*usage.Check{}
	conflicts = []conflict{}
	for _, receipt := range all {
		if len(receipt.Checks) == 0 {
			continue
		}
		test := page.Test{Package: receipt.Package, Name: receipt.Test}
		checks := make([]usage.Check, 0, len(receipt.Checks)) // a new slice, so that the original is not modified
		for _, found := range receipt.Checks {
			k := key{test, found.Call}
			switch was := kept[k]; {
			case was == nil:
				checks = append(checks, found)
				kept[k] = &checks[len(checks)-1]
			case was.State == usage.CheckUnchosen:
				*was = found
			case found.State != usage.CheckUnchosen && found.State != was.State:
				conflicts = append(conflicts,
					conflict{Test: test, Reason: fmt.Sprintf("call %d is %s in one shard and %s in another",
						found.Number, was.State, found.State)})
			}
		}
		receipt.Checks = checks
		receipts = append(receipts, receipt)
	}
	slices.SortFunc(conflicts,
		func(a, b conflict) int { return cmp.Or(a.Test.Compare(b.Test), strings.Compare(a.Reason, b.Reason)) })
	return receipts, conflicts
}

// A shardDoc is a document of pending answers, and the directory in which it was found.
type shardDoc struct {
	store.Put
	dir string
}

// shardDocs are documents of pending answers, by name.
type shardDocs map[string][]shardDoc

// pendingIn finds the pending answers in the directories of shards.
func pendingIn(dirs []string) (shardDocs, error) {
	found := shardDocs{}
	for _, dir := range dirs {
		err := filepath.WalkDir(dir, func(file string, e fs.DirEntry, err error) error {
			if err != nil || !e.IsDir() || e.Name() != store.PendingName {
				return err
			}
			s, err := store.Open(filepath.Dir(file))
			if err != nil {
				return err
			}
			s.Trusting = true // the user vouches for the directory by naming it
			if err := found.add(s.Pending(), file); err != nil {
				return err
			}
			return fs.SkipDir
		})
		if err != nil {
			return nil, err
		}
	}
	return found, nil
}

// add reads all documents of a store of pending answers with the files that belong to them, checked against their
// hashes.
func (found shardDocs) add(s *store.Store, dir string) error {
	for doc, err := range place.Documents(s) {
		if err != nil {
			return err
		}
		put, err := doc.Put(nil)
		if err != nil {
			return err
		}
		found[doc.Name] = append(found[doc.Name], shardDoc{put, filepath.ToSlash(filepath.Clean(dir))})
	}
	return nil
}

// takePending adds the documents that one shard has, or that several have in equal form, to the store's pending ones.
// It reports the others, since it cannot decide between two answers.
func (j *shardReport) takePending(s *store.Store, found shardDocs) error {
	own := shardDocs{}
	if err := own.add(s.Pending(), filepath.Join(s.Dir(), store.PendingName)); err != nil {
		return err
	}
	var change store.Change
	for _, name := range slices.Sorted(maps.Keys(found)) {
		all := append(own[name], found[name]...)
		test := page.TestOf(all[0].Document)
		isOther := func(doc shardDoc) bool { return !saysTheSame(all[0].Document, doc.Document) }
		if i := slices.IndexFunc(all, isOther); i >= 0 {
			j.Conflicts = append(j.Conflicts, conflict{test, []string{all[0].dir, all[i].dir},
				"bought different answers, of which none was taken"})
			continue
		}
		if own[name] == nil {
			change.Put = append(change.Put, all[0].Put)
			j.Pending = append(j.Pending, pendingEntry{test, len(all[0].Document.Snapshots)})
		}
	}
	if err := s.Pending().Commit(change); err != nil {
		return fmt.Errorf("join pending answers: %w", err)
	}
	return nil
}

// saysTheSame reports whether two documents have the same calls, regardless of when they were recorded.
func saysTheSame(a, b *snapshot.Document) bool {
	return slices.EqualFunc(a.Snapshots, b.Snapshots, func(x, y snapshot.Snapshot) bool {
		return store.SameRequest(&x, &y) && x.ID == y.ID && x.Response.Status == y.Response.Status &&
			x.Response.RawOutputRef == y.Response.RawOutputRef && store.SameAnswer(&x.Response, &y.Response)
	})
}
