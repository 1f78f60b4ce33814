package recorder

import (
	"cmp"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/traceforge/traceforge-go/internal/usage"
	"github.com/traceforge/traceforge-go/snapshot/store"
)

// inherit has a test without a document go on with that which it had under another name (design R11), so that
// it buys nothing again: with the first one of Known whose first request is its own first one. That of a test which
// the code does not have any more moves. A subtest may be there still, so that the document of another one is copied.
func (r *Recorder) inherit(c *call) error {
	if len(r.Known) == 0 || !r.Mode.completes() && r.Mode != Rekey {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.sought || r.tape != nil {
		return nil
	}
	r.sought = true
	if _, err := r.store.Load(r.name, c.provider); !errors.Is(err, fs.ErrNotExist) {
		return nil // others tell of an error
	}
	for _, k := range r.mayBeOf() {
		if same, err := r.begins(k.Name, c); err != nil || !same {
			continue // what cannot be read is no test's
		}
		move := store.Move{Name: k.Name, Package: r.Package, Test: r.Test}
		var err error
		if k.Gone {
			_, err = r.store.Move(move)
		} else {
			err = r.store.Copy(move)
		}
		if errors.Is(err, fs.ErrNotExist) { // another test was faster
			continue
		}
		r.inherited = k.Name
		return err
	}
	return nil
}

// mayBeOf returns the documents that may be the test's under another name, the likeliest first.
func (r *Recorder) mayBeOf() []usage.Known {
	top := func(test string) string { top, _, _ := strings.Cut(test, "/"); return top }
	likely := slices.DeleteFunc(slices.Clone(r.Known), func(k usage.Known) bool {
		return k.Name == r.name || !k.Gone && (k.Package != r.Package || top(k.Test) != top(r.Test))
	})
	unlike := func(k usage.Known) int {
		switch {
		case k.Test == r.Test:
			return 0
		case k.Package == r.Package && path.Base(k.Test) == path.Base(r.Test):
			return 1
		case k.Package == r.Package:
			return 2
		}
		return 3
	}
	slices.SortStableFunc(likely, func(a, b usage.Known) int { return cmp.Compare(unlike(a), unlike(b)) })
	return likely
}

// begins reports whether a document begins with a call.
func (r *Recorder) begins(name string, c *call) (bool, error) {
	doc, err := r.store.Load(name, c.provider)
	if err != nil || len(doc.Document.Snapshots) == 0 {
		return false, err
	}
	t := newTape(doc, r.rules)
	if err := t.know(1); err != nil {
		return false, err
	}
	return t.keys[0] == c.key, nil
}
