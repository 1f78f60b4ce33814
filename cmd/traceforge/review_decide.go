package main

import (
	"errors"
	"slices"

	"github.com/traceforge/traceforge-go/internal/git/worktree"
	"github.com/traceforge/traceforge-go/internal/store"
	"github.com/traceforge/traceforge-go/internal/store/audit"
)

// An outcome is what became of a decision.
type outcome struct {
	done    []*reviewItem
	refused []string // why others are left, in words
	err     error    // of those that are neither
}

// decide accepts or rejects tests. It refuses a test that has changed since it was shown. It changes nothing of r, so
// that r may be shown meanwhile.
func (r *reviewRun) decide(verdict string, tests []*reviewItem) (o outcome) {
	for _, src := range r.sources {
		of := slices.DeleteFunc(slices.Clone(tests), func(h *reviewItem) bool { return h.source != src })
		if len(of) == 0 {
			continue
		}
		var err error
		if src.kind == pendingKind {
			err = r.decideIn(src, verdict, of, &o)
		} else { // git and a test that records must not write at once
			err = r.store.Exclusively(func(store.Writer) error { return r.decideIn(src, verdict, of, &o) })
		}
		if err == nil && src.kind == changedKind && verdict == rejected {
			err = renewManifest(r.store)
		}
		o.err = errors.Join(o.err, err)
	}
	return o
}

// decideIn decides on tests of a source, as far as they are what was shown: on pending answers as traceforge accept and
// reject do, and on changed files by staging them, or giving them back what is staged.
func (r *reviewRun) decideIn(src *source, verdict string, tests []*reviewItem, o *outcome) error {
	tests, err := r.still(src, verdict, tests, o)
	if err != nil || len(tests) == 0 {
		return err
	}
	var documents, files []string
	for _, h := range tests {
		documents, files = append(documents, h.Document), append(files, h.files...)
	}
	switch pending := src.kind == pendingKind; {
	case pending && verdict == rejected:
		err = audit.Reject(r.store, documents...)
	case pending:
		_, err = acceptPending(r.c, r.store, documents)
	case verdict == rejected:
		err = worktree.Restore(r.c.ctx, r.dir, files)
	default:
		err = worktree.Stage(r.c.ctx, r.dir, append(files, ".gitattributes", ".gitignore")) // which all files need
	}
	if err == nil {
		o.done = append(o.done, tests...)
	}
	return err
}

// still returns the tests that are what they were when they were shown, and that can be decided so.
func (r *reviewRun) still(src *source, verdict string, tests []*reviewItem, o *outcome) ([]*reviewItem, error) {
	var names []string
	var same []*reviewItem
	for _, h := range tests {
		names = append(names, h.names()...)
	}
	now, err := r.look(src, names)
	for _, h := range tests {
		switch {
		case h.seen != h.looks(now):
			o.refused = append(o.refused, h.name()+": "+noLonger+": run traceforge review again")
		case h.mixed && verdict == rejected:
			o.refused = append(o.refused, h.name()+
				": has answers that were accepted just now, which rejecting would lose: run traceforge review again")
		default:
			same = append(same, h)
		}
	}
	return same, err
}

const noLonger = "is no longer what was shown, another process has changed it"

// names returns the names of the documents of a test: two, where it moved.
func (h *reviewItem) names() []string {
	if h.was == "" || h.was == h.Document {
		return []string{h.Document}
	}
	return []string{h.Document, h.was}
}

// looks returns what a test is like.
func (h *reviewItem) looks(seen map[string]string) (is string) {
	for _, name := range h.names() {
		is += seen[name]
	}
	return is
}

// settle notes an outcome. Its effects on documents of other tests that wait are known.
func (r *reviewRun) settle(verdict string, o outcome) {
	kinds := map[string]string{} // of what was decided, by document
	for _, h := range o.done {
		h.verdict, kinds[h.Document] = verdict, h.Kind
	}
	for _, other := range left(r.tests) {
		kind, decided := kinds[other.Document]
		if !decided {
			continue
		}
		other.mixed = other.mixed || kind == pendingKind && verdict == accepted
		if now, err := r.look(other.source, other.names()); err == nil {
			other.seen = other.looks(now)
		}
	}
}
