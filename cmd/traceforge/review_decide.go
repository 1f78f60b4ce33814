package main

import (
	"errors"
	"slices"

	"github.com/traceforge/traceforge-go/internal/git/worktree"
	"github.com/traceforge/traceforge-go/internal/store"
	"github.com/traceforge/traceforge-go/internal/store/audit"
)

// An outcome is the result of a decision on tests.
type outcome struct {
	verdict string // accepted or rejected
	done    []*reviewItem
	refused []string // why other tests were not decided, as text
	err     error    // why the rest were not decided
}

// decide accepts or rejects tests. It refuses a test that has changed since it was shown. It does not modify r, which
// may be displayed at the same time.
func (r *reviewRun) decide(verdict string, tests []*reviewItem) outcome {
	o := outcome{verdict: verdict}
	for _, src := range r.sources {
		of := slices.DeleteFunc(slices.Clone(tests), func(item *reviewItem) bool { return item.source != src })
		if len(of) == 0 {
			continue
		}
		var err error
		if src.kind == pendingKind {
			err = r.decideIn(src, of, &o)
		} else { // git, and a test, which must not write records at the same time
			err = r.store.Exclusively(func(store.Writer) error { return r.decideIn(src, of, &o) })
		}
		if err == nil && src.kind == changedKind && verdict == rejected {
			err = renewManifest(r.store)
		}
		o.err = errors.Join(o.err, err)
	}
	return o
}

// decideIn decides on the tests of a source that still match what was shown. It handles pending answers like traceforge
// accept and reject. It stages changed files to accept them, and restores their staged version to reject them.
func (r *reviewRun) decideIn(src *source, tests []*reviewItem, o *outcome) error {
	tests, err := r.still(src, tests, o)
	if err != nil || len(tests) == 0 {
		return err
	}
	var documents, files []string
	for _, item := range tests {
		documents, files = append(documents, item.Document), append(files, item.files...)
	}
	switch pending := src.kind == pendingKind; {
	case pending && o.verdict == rejected:
		err = audit.Reject(r.store, documents...)
	case pending:
		_, err = acceptPending(r.c, r.store, documents)
	case o.verdict == rejected:
		err = worktree.Restore(r.c.ctx, r.dir, files)
	default:
		err = worktree.Stage(r.c.ctx, r.dir, append(files, ".gitattributes", ".gitignore")) // all files need these two
	}
	if err == nil {
		o.done = append(o.done, tests...)
	}
	return err
}

// still returns the tests that have not changed since they were shown and that allow this decision. It notes why the
// others are refused.
func (r *reviewRun) still(src *source, tests []*reviewItem, o *outcome) ([]*reviewItem, error) {
	var names []string
	var same []*reviewItem
	for _, item := range tests {
		names = append(names, item.names...)
	}
	now, err := r.look(src, names)
	for _, item := range tests {
		switch {
		case item.seen != item.looks(now):
			o.refused = append(o.refused, item.name()+": "+noLonger+": run traceforge review again")
		case item.mixed && o.verdict == rejected:
			o.refused = append(o.refused, item.name()+
				": has answers that were accepted just now, which rejecting would lose: run traceforge review again")
		default:
			same = append(same, item)
		}
	}
	return same, err
}

const noLonger = "is no longer what was shown, another process has changed it"

// looks returns the state of a test, combined from the states of documents.
func (item *reviewItem) looks(seen map[string]string) (is string) {
	for _, name := range item.names {
		is += seen[name]
	}
	return is
}

// settle notes an outcome. Tests that wait, and share a document with a decided test, get its new state as seen.
func (r *reviewRun) settle(o outcome) {
	kinds := map[string]string{} // of the decided tests, by document
	for _, item := range o.done {
		item.verdict, kinds[item.Document] = o.verdict, item.Kind
	}
	for _, other := range left(r.tests) {
		kind, decided := kinds[other.Document]
		if !decided {
			continue
		}
		other.mixed = other.mixed || kind == pendingKind && o.verdict == accepted
		if now, err := r.look(other.source, other.names); err == nil {
			other.seen = other.looks(now)
		}
	}
}
