package audit

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/internal/inorder"
	"github.com/traceforge/traceforge-go/internal/store"
	"github.com/traceforge/traceforge-go/snapshot"
)

// restore puts back raw answers and media that documents name and that are missing or altered according to found. If
// one side of a merge split a test, git treats an answer as renamed, and puts the other side's version of it next to
// the new document.
func (r *repair) restore(w store.Writer, found []snapshot.Finding) {
	lacking := map[string]bool{} // names of documents
	for _, f := range found {
		if name := nameIn(f.File); name != "" && (f.Rule == snapshot.RuleRaw || f.Rule == snapshot.RuleMedia) {
			lacking[name] = true
		}
	}
	for _, name := range inorder.Names(lacking) {
		doc, err := r.store.Load(name, store.UnknownProvider)
		if err != nil {
			continue // verify reports it
		}
		r.names = []string{name}
		if r.put(w, doc) == nil {
			r.report.Restored = append(r.report.Restored, doc.File())
		}
	}
}

// reseal computes the hash of a document again if nothing else of the document is wrong, and reports whether it did.
func (r *repair) reseal(w store.Writer, f snapshot.Finding) bool {
	doc := r.store.Altered(f.File)
	if doc == nil || !strings.HasSuffix(f.Message, snapshot.Unsealed) {
		return false
	}
	r.names = []string{doc.Name}
	err := r.put(w, doc)
	if err == nil {
		r.report.Resealed = append(r.report.Resealed, f.File)
	} else {
		f.Message = fmt.Sprintf("cannot be computed again: %v", err)
		r.report.Left = append(r.report.Left, f)
	}
	return err == nil
}

// put commits a document with the files that it names, under the first of its names.
func (r *repair) put(w store.Writer, doc *store.Doc) (err error) {
	if r.doubled[r.names[0]] { // a commit would remove the other
		return errors.New("the test has another document, of another provider")
	}
	put := store.Put{Provider: doc.Provider, Name: r.names[0], Document: doc.Document}
	if put.Beside, err = r.collect(w, store.Needs(doc.Document)); err != nil {
		return err
	}
	if err = r.store.CommitLocked(w, store.Change{Put: []store.Put{put}, Remove: r.former(w)}); err == nil {
		r.report.Add = true
	}
	return err
}

// collect finds the raw answers and media of a merged document by their hashes. It searches the store, git's versions
// of the sides, the commits that are being merged, and all other commits. A commit of the store refuses a document with
// a file that was not found.
func (r *repair) collect(w store.Writer, needed []store.Need) (map[canon.Hash][]byte, error) {
	found := map[canon.Hash][]byte{}
	providers, err := r.store.Providers()
	if err != nil {
		return nil, err
	}
	for _, provider := range providers {
		for _, name := range r.names {
			dir := provider + "/" + name
			entries, err := w.List(dir)
			if err != nil {
				return nil, err
			}
			for _, e := range entries {
				if data, err := w.Read(dir + "/" + e.Name()); err == nil {
					found[canon.Sum(data)] = data
				}
			}
		}
	}
	isMissing := func(n store.Need) bool { return found[n.Hash] == nil }
	look := func(versions []version) {
		for _, v := range versions {
			if _, of, _, ok := store.ParseBesideFile(v.Name); !ok || !slices.Contains(r.names, of) ||
				!slices.ContainsFunc(needed, isMissing) {
				continue
			}
			if data, err := r.smudged(v); err == nil {
				found[canon.Sum(data)] = data
			}
		}
	}
	if look(slices.Concat(append(r.sides[:], r.commits[:]...)...)); slices.ContainsFunc(needed, isMissing) {
		look(r.history())
	}
	return found, nil
}
