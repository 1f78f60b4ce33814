package audit

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/traceforge/traceforge-go/internal/inorder"
	"github.com/traceforge/traceforge-go/internal/store"
	"github.com/traceforge/traceforge-go/snapshot"
)

// ancestor returns the common ancestor of a document in two commits. If there are several, as after a criss-cross
// merge, it is their merge, independent of the order in which git names them.
func (r *repair) ancestor(name, ours, theirs string) (merged *store.Doc, err error) {
	out, _ := r.store.Git("merge-base", "--all", ours, theirs) // fails if there is none
	bases := strings.Fields(out)
	for i, base := range bases {
		next, failed := r.load(documentIn(committed(r.store, base), name), name)
		if i == 0 {
			merged, err = next, failed
			continue
		}
		before, missing := r.ancestor(name, bases[0], base)
		if err = errors.Join(err, failed, missing); err != nil {
			break
		}
		m := &recordMerge{name: name, chosen: func(string) bool { return false }}
		merged, err = r.fold(m, before, merged, next)
	}
	return merged, err
}

// side returns one side of a document; nil if the side does not have it. Git names another provider if it treats the
// document as renamed, but the commit has the right one.
func (r *repair) side(number int, name string) (*store.Doc, error) {
	v := documentIn(r.sides[number], name)
	of := func(other version) bool { return v != nil && other.Object == v.Object }
	if i := slices.IndexFunc(r.commits[number], of); i >= 0 {
		v = &r.commits[number][i]
	}
	doc, err := r.load(v, name)
	if errors.Is(err, snapshot.ErrConflict) { // git merges several ancestors, or what both sides renamed
		if own := documentIn(r.commits[number], name); number == 1 && r.merged != "" {
			doc, err = r.ancestor(name, "HEAD", r.merged)
		} else if own != nil {
			doc, err = r.load(own, name)
		}
	}
	if err != nil {
		who := [...]string{1: "the common ancestor", 2: "ours", 3: "theirs"}[number]
		return nil, fmt.Errorf("%s has it broken: %w", who, err)
	}
	return doc, nil
}

// documentIn returns the version of a document among those of a side or commit, or nil.
func documentIn(versions []version, name string) *version {
	for i, v := range versions {
		if _, n, ok := store.ParseDocumentFile(v.Name); ok && n == name {
			return &versions[i]
		}
	}
	return nil
}

// load returns the document in a version, under its own name; nil for an empty one.
func (r *repair) load(v *version, name string) (*store.Doc, error) {
	if v == nil {
		return nil, nil
	}
	data, err := r.object(v.Object)
	if err != nil {
		return nil, err
	}
	document, err := snapshot.Parse(data)
	if err != nil {
		return nil, err
	}
	if len(document.Snapshots) > 0 { // git merges a document that one side renamed
		if own, _, ok := snapshot.ParseID(document.Snapshots[0].ID); ok && own != name {
			name = own
			r.names = inorder.With(r.names, own)
		}
	}
	if wrong := store.Misnamed(name, document); len(wrong) > 0 {
		return nil, &snapshot.Error{Violations: wrong}
	}
	provider, _, _ := store.ParseDocumentFile(v.Name)
	return r.store.NewDoc(provider, name, document), nil
}

// rename gives all sides of a document git's name for it, and the test of the side that renamed it.
func rename(name string, sides []*store.Doc) error {
	hasName := func(d *store.Doc) bool { return d != nil && d.Name == name }
	isOther := func(d *store.Doc) bool { return d != nil && d.Name != name }
	if !slices.ContainsFunc(sides, isOther) {
		return nil
	}
	i := slices.IndexFunc(sides, hasName)
	if i < 0 {
		return errors.New("no side has it by this name")
	}
	of := sides[i].Document.Snapshots[0].Source
	for _, d := range sides {
		if isOther(d) {
			d.Name = store.Rename(d.Document, of.Package, of.Test)
		}
	}
	return nil
}

// moved finds a side that git does not name because it has the document under another provider.
func moved(s *store.Store, name string, sides *[4]*store.Doc) {
	if (sides[2] == nil) == (sides[3] == nil) {
		return
	}
	missing, there := 2, sides[3]
	if sides[3] == nil {
		missing, there = 3, sides[2]
	}
	providers, _ := s.Providers()
	for _, other := range providers {
		if doc, err := s.LoadFile(name, other); err == nil && other != there.Provider {
			sides[missing] = doc
		}
	}
}
