package store

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/snapshot"
)

// Repair finishes or undoes a commit that was cut short, merges documents that a merge of git left in
// conflict, record by record, and writes the manifest, if there is one.
//
// A record that one side changed, added or removed is as that side has it. Where both added records,
// theirs get new numbers. Where both sides changed a record differently, ours is taken, or theirs, if
// theirs names it by its id, or its document by its name. A document that is whole is left as it is
// unless theirs names it.
//
// Repair runs git, but stages nothing: until git add, git has all sides, and another Repair may choose
// otherwise. The error is [fs.ErrNotExist] if there is no store.
func (s *Store) Repair(theirs ...string) (*Report, error) {
	r := &repair{store: s, report: &Report{dir: s.in("")}, theirs: theirs}
	_, err := os.Stat(s.dir)
	if err == nil {
		err = s.locked(r.repair)
	}
	if err != nil {
		return nil, fmt.Errorf("repair: %w", err)
	}
	return r.report, nil
}

type repair struct {
	store  *Store
	report *Report
	theirs []string
}

func (r *repair) repair(w within) error {
	if err := r.commit(w); err != nil {
		return err
	}
	stages, noGit := r.store.unmerged()
	for _, c := range r.conflicts(stages) {
		if err := r.merge(w, c); err != nil {
			r.leave(c, err)
		}
	}
	return r.finish(w, noGit)
}

// commit finishes or undoes a commit that was cut short. One that cannot be trusted is discarded:
// what it has not done is not done, and what it has, verify finds.
func (r *repair) commit(w within) error {
	became, err := r.store.recover(w)
	var refused *snapshot.Error
	if errors.As(err, &refused) {
		became = "discarded, as it " + refused.Violations[0].Message
		err = w.remove(journalName)
	}
	r.report.Commit = became
	if err != nil {
		return err
	}
	return fs.WalkDir(w.root.FS(), ".", func(file string, e fs.DirEntry, err error) error {
		if e != nil && e.Name() == pendingName {
			return fs.SkipDir
		}
		of, temp := strings.CutSuffix(file, tempExt)
		if err != nil || !temp || e.IsDir() || !isStoreFile(of) {
			return err
		}
		r.report.Removed = append(r.report.Removed, file)
		return w.remove(file)
	})
}

// A conflict is what git has of a document, and of what is beside it, that is not merged.
type conflict struct {
	name   string
	sides  [4]stage // of the document; the first is none
	beside []stage
}

// conflicts groups the stages by document.
func (r *repair) conflicts(stages []stage) []*conflict {
	byName := map[string]*conflict{}
	at := func(name string) *conflict {
		if byName[name] == nil {
			byName[name] = &conflict{name: name}
		}
		return byName[name]
	}
	for _, st := range stages {
		if _, name, ok := parseDocumentFile(st.file); ok {
			at(name).sides[st.number&3] = st
		} else if _, name, _, ok := parseBesideFile(st.file); ok {
			c := at(name)
			c.beside = append(c.beside, st)
		} else if slices.Contains([]string{attributesName, ignoreName, manifestName}, st.file) {
			r.add(st.file) // these are written in any case
		} else {
			r.left(st.file, "is in conflict, and no document: merge it by hand")
		}
	}
	return slices.SortedFunc(maps.Values(byName), func(a, b *conflict) int { return strings.Compare(a.name, b.name) })
}

func (r *repair) add(file string) {
	if !slices.Contains(r.report.Add, file) {
		r.report.Add = append(r.report.Add, file)
	}
}

func (r *repair) left(file, format string, args ...any) {
	found := snapshot.Finding{File: file, Rule: snapshot.RuleConflict, Message: fmt.Sprintf(format, args...)}
	r.report.Left = append(r.report.Left, found)
}

const buyMissing = "and record again with -update what is missing"

// leave notes that a document could not be merged.
func (r *repair) leave(c *conflict, err error) {
	file := c.name
	for _, st := range slices.Concat(c.beside, c.sides[:]) {
		file = cmp.Or(st.file, file)
	}
	r.left(file, "could not be merged: %v\ntake one side with git checkout --ours or --theirs, %s", err, buyMissing)
}

// merge merges one document.
func (r *repair) merge(w within, c *conflict) error {
	doc, origins, merge, err := r.resolve(c)
	if err != nil {
		return err
	}
	put := Put{Provider: doc.Provider, Name: c.name, Document: doc.Document}
	if err := r.collect(w, c, &put, origins); err != nil {
		return err
	}
	t, err := r.store.target(put)
	if err != nil {
		return err
	}
	if err := r.store.commit(w, []*target{t}, nil); err != nil {
		return err
	}
	merge.File, merge.Records = doc.File(), len(doc.Document.Snapshots)
	r.report.Merged = append(r.report.Merged, merge)
	for _, st := range append(c.sides[1:], c.beside...) {
		if st.object != "" {
			r.add(st.file)
		}
	}
	r.add(doc.File())
	if len(t.needs) > 0 {
		r.add(doc.Provider + "/" + doc.Name)
	}
	return nil
}

// resolve returns the document that the conflict becomes, and the numbers that its records had on
// their side.
func (r *repair) resolve(c *conflict) (doc *Doc, origins map[int]int, merge Merge, err error) {
	var sides [4]*Doc
	for i, st := range c.sides {
		if st.object == "" {
			continue
		}
		if sides[i], err = r.side(st); err != nil {
			return nil, nil, merge, err
		}
	}
	whole := slices.Contains(r.theirs, c.name)
	chosen := func(id string) bool { return whole || slices.Contains(r.theirs, id) }
	asked := whole || slices.ContainsFunc(r.theirs, func(id string) bool { return strings.HasPrefix(id, c.name+"-") })
	moved(r.store, c, &sides)
	ours, theirs := sides[2], sides[3]
	merge.Whole = true
	switch {
	case ours == nil && theirs == nil: // only what is beside it is in conflict
		doc, err = r.anywhere(c.name)
		return doc, nil, merge, err
	case theirs == nil:
		merge.Choices = []Choice{{c.name, "theirs removed the document and ours changed it", "ours"}}
		return ours, nil, merge, nil
	case ours == nil:
		merge.Choices = []Choice{{c.name, "ours removed the document and theirs changed it", "theirs"}}
		return theirs, nil, merge, nil
	}
	if here, err := r.store.load(c.name, ours.Provider); err == nil && !asked && c.sides[2].file == c.sides[3].file {
		return here, nil, merge, nil
	}
	m := &merging{name: c.name, chosen: chosen}
	for i, to := range []*[]*record{&m.base, &m.ours, &m.theirs} {
		if *to, err = recordsOf(sides[i+1]); err != nil {
			return nil, nil, merge, err
		}
	}
	if m.merge(); len(m.merged) == 0 {
		return nil, nil, merge, errors.New("no record is left: remove the document with git rm")
	}
	document, provider := m.document()
	origins = map[int]int{}
	for _, record := range m.merged {
		origins[record.n] = record.was
	}
	return &Doc{Provider: provider, Name: c.name, Document: document, store: r.store}, origins, m.result, nil
}

// side returns what one side has of the document.
func (r *repair) side(st stage) (*Doc, error) {
	data, err := r.store.object(st.object)
	if err != nil {
		return nil, err
	}
	_, name, _ := parseDocumentFile(st.file)
	doc := &Doc{Provider: r.providerOf(st), Name: name, store: r.store}
	if doc.Document, err = snapshot.Parse(data); err != nil {
		who := [...]string{1: "the common ancestor", 2: "ours", 3: "theirs"}[st.number&3]
		return nil, fmt.Errorf("%s has it broken: %w", who, err)
	}
	if wrong := misnamed(name, doc.Document); len(wrong) > 0 {
		return nil, &snapshot.Error{Violations: wrong}
	}
	return doc, nil
}

// providerOf returns the provider under which one side has the document. Git names another one where it
// takes the document for renamed.
func (r *repair) providerOf(st stage) string {
	named, name, _ := parseDocumentFile(st.file)
	for _, commit := range [...][]string{1: {r.ancestor()}, 2: {"HEAD"}, 3: theirCommits}[st.number&3] {
		for _, provider := range append([]string{named}, r.store.topOf(commit)...) {
			if r.store.objectOf(commit, documentFile(provider, name)) == st.object {
				return provider
			}
		}
	}
	return named
}

// theirCommits are what git calls the commit that is being merged.
var theirCommits = []string{"MERGE_HEAD", "CHERRY_PICK_HEAD", "REBASE_HEAD"}

// ancestor returns the common ancestor of the commits that are being merged; empty if there is none.
func (r *repair) ancestor() string {
	for _, commit := range theirCommits {
		if out, err := r.store.git(r.store.dir, "merge-base", "HEAD", commit); err == nil {
			return strings.TrimSpace(string(out))
		}
	}
	return ""
}

// moved finds a side that git does not name since it has the document under another provider.
func moved(s *Store, c *conflict, sides *[4]*Doc) {
	if (sides[2] == nil) == (sides[3] == nil) {
		return
	}
	missing, there := 2, sides[3]
	if sides[3] == nil {
		missing, there = 3, sides[2]
	}
	providers, _ := s.providers()
	for _, other := range providers {
		if doc, err := s.load(c.name, other); err == nil && other != there.Provider {
			sides[missing] = doc
		}
	}
}

// anywhere returns the document of the given name, whatever its provider.
func (r *repair) anywhere(name string) (*Doc, error) {
	providers, err := r.store.providers()
	if err != nil {
		return nil, err
	}
	err = fmt.Errorf("%s: %w", name, fs.ErrNotExist)
	for _, provider := range providers {
		doc, failed := r.store.load(name, provider)
		if failed == nil {
			return doc, nil
		}
		if !errors.Is(failed, fs.ErrNotExist) {
			err = failed
		}
	}
	return nil, err
}

// collect finds the raw answers and media of a merged document, by their hashes: among what git has
// of the sides, in the store, and in the commits that are being merged.
func (r *repair) collect(w within, c *conflict, put *Put, origins map[int]int) error {
	found := map[canon.Hash][]byte{}
	for _, st := range c.beside {
		data, err := r.store.object(st.object)
		if err != nil {
			return err
		}
		found[canon.Sum(data)] = data
	}
	providers, err := r.store.providers()
	if err != nil {
		return err
	}
	for _, provider := range providers {
		dir := provider + "/" + c.name
		entries, err := w.list(dir)
		if err != nil {
			return err
		}
		for _, e := range entries {
			if data, err := w.read(dir + "/" + e.Name()); err == nil {
				found[canon.Sum(data)] = data
			}
		}
	}
	put.Raw, put.Media = map[int][]byte{}, found
	for _, n := range needs(put.Document) {
		data, ok := found[n.hash]
		if !ok {
			if data, ok = r.committed(c.name, n, providers, origins); !ok {
				continue // the commit refuses it
			}
			found[n.hash] = data
		}
		if n.rule == snapshot.RuleRaw {
			put.Raw[rawNumber(n.own)] = data
		}
	}
	return nil
}

// committed looks for a file in the commits that are being merged.
func (r *repair) committed(name string, n need, providers []string, origins map[int]int) ([]byte, bool) {
	own := n.own
	if was, ok := origins[rawNumber(own)]; ok && n.rule == snapshot.RuleRaw {
		_, ext, _ := strings.Cut(own, ".")
		own = fmt.Sprintf("%d.%s", was, ext)
	}
	for _, commit := range append(theirCommits[:len(theirCommits):len(theirCommits)], "HEAD") {
		for _, provider := range providers {
			data, err := r.store.object(commit + ":./" + provider + "/" + name + "/" + own)
			if err == nil && canon.Sum(data) == n.hash {
				return data, true
			}
		}
	}
	return nil, false
}

// finish writes the manifest, if there is one and all documents are whole, and reports documents that
// are still in conflict.
func (r *repair) finish(w within, noGit error) error {
	v := &verifier{store: r.store}
	if err := v.documents(); err != nil {
		return err
	}
	why := "git has no sides of it: take one from the commits that were merged, with git checkout COMMIT -- FILE"
	if noGit != nil {
		why = fmt.Sprintf("git does not tell the sides (%v): take one of them", noGit)
	}
	inConflict := map[string]bool{}
	for _, f := range r.report.Left {
		inConflict[f.File] = true
	}
	for _, f := range v.broken {
		if f.Rule == snapshot.RuleConflict && !inConflict[f.File] {
			inConflict[f.File] = true
			r.left(f.File, "holds conflict markers, and %s, %s", why, buyMissing)
		}
	}
	if _, err := w.root.Lstat(manifestName); err != nil || len(v.broken) > 0 {
		return nil
	}
	return r.store.writeManifest(w)
}
