package main

import (
	"errors"
	"os"
	"path/filepath"
	"slices"

	"github.com/traceforge/traceforge-go/internal/git"
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
			err = r.decidePending(verdict, src, of, &o)
		} else { // git and a test that records must not write at once
			err = r.store.Exclusively(func(store.Writer) error { return r.decideChanged(verdict, src, of, &o) })
		}
		if err == nil && src.kind == changedKind && verdict == rejected {
			err = r.renewManifest()
		}
		o.err = errors.Join(o.err, err)
	}
	return o
}

// decidePending is what traceforge accept and reject do.
func (r *reviewRun) decidePending(verdict string, src *source, tests []*reviewItem, o *outcome) error {
	tests, err := r.still(src, tests, o)
	if err != nil || len(tests) == 0 {
		return err
	}
	var ids []string
	for _, h := range tests {
		ids = append(ids, h.Document)
	}
	if verdict == rejected {
		err = r.store.Reject(ids...)
	} else if checks, broken := checksOf(r.store); broken != nil {
		err = broken
	} else {
		_, err = r.store.Accept(ids, append(checks, secretless(r.c))...)
	}
	if err == nil {
		o.done = append(o.done, tests...)
	}
	return err
}

// decideChanged stages the files of tests, or gives them back what is staged.
func (r *reviewRun) decideChanged(verdict string, src *source, tests []*reviewItem, o *outcome) error {
	tests, err := r.still(src, tests, o)
	var files []string
	tests = slices.DeleteFunc(tests, func(h *reviewItem) bool {
		if mixed := h.mixed && verdict == rejected; mixed {
			o.refused = append(o.refused, h.name()+
				": has answers that were accepted just now, which rejecting would lose: run traceforge review again")
			return true
		}
		files = append(files, h.files...)
		return false
	})
	if err != nil || len(tests) == 0 {
		return err
	}
	if verdict == rejected {
		err = git.Restore(r.c.ctx, r.dir, files)
	} else {
		err = git.Stage(r.c.ctx, r.dir, append(files, ".gitattributes", ".gitignore")) // which all files need
	}
	if err == nil {
		o.done = append(o.done, tests...)
	}
	return err
}

// still returns the tests that are what they were when they were shown.
func (r *reviewRun) still(src *source, tests []*reviewItem, o *outcome) (same []*reviewItem, err error) {
	var names []string
	for _, h := range tests {
		names = append(names, h.names()...)
	}
	now, err := r.look(src, names)
	for _, h := range tests {
		if h.seen == h.looks(now) {
			same = append(same, h)
			continue
		}
		o.refused = append(o.refused, h.name()+": "+noLonger+": run traceforge review again")
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
	for _, h := range o.done {
		h.verdict = verdict
	}
	kinds := map[string]string{} // of what was decided, by document
	for _, h := range o.done {
		kinds[h.Document] = h.Kind
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

// renewManifest writes the manifest again, if there is one.
func (r *reviewRun) renewManifest() error {
	if _, err := os.Stat(filepath.Join(r.dir, "manifest.json")); err != nil {
		return nil
	}
	return audit.WriteManifest(r.store)
}
