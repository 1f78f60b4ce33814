package audit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/internal/git/worktree"
	"github.com/traceforge/traceforge-go/internal/inorder"
	"github.com/traceforge/traceforge-go/internal/store"
	"github.com/traceforge/traceforge-go/snapshot"
)

// Repair finishes or undoes an interrupted commit, and merges conflicting documents record by record. It restores files
// that documents name from git, computes the hash of documents again whose records are whole, and writes the manifest
// if there is one.
//
// A record that one side changed, added or removed is taken from that side. If both sides added records, theirs get new
// numbers. If both sides changed a record, their requests are merged by member, by element and by line of texts, with
// our answer; where both changed the same thing differently, ours is kept. Their record is taken if theirs contains its
// id, its document's name, or [AllTheirs]. A document without conflict markers is left unchanged unless theirs names
// it.
//
// Repair runs git, but stages nothing: until git add, git has all sides, and another Repair may choose differently. The
// error is [fs.ErrNotExist] if there is no store.
func Repair(s *store.Store, theirs ...string) (*Report, error) {
	r := &repair{store: s, report: &Report{dir: s.Shown("")}, theirs: theirs}
	r.history = sync.OnceValue(func() []version { return history(s) })
	err := isThere(s)
	if err == nil {
		err = s.Locked(r.repair)
	}
	if err == nil {
		err = r.pending()
	}
	if err != nil {
		return nil, fmt.Errorf("repair: %w", err)
	}
	return r.report, nil
}

// AllTheirs stands for all records that both sides changed.
const AllTheirs = "all"

type repair struct {
	store          *store.Store
	report         *Report
	theirs         []string
	sides, commits [4][]version      // git's versions of the conflicting files, and of all files
	texts          map[string]string // some of the contents of sides, by object
	merged         string            // the commit that is being merged
	// names of the current document in git: for its test, and for the tests that it was renamed from
	names []string
	// name of the current document that one side renamed without git noticing; empty if none did
	replaced string
	added    [4]map[canon.Hash][]*store.Doc // see addedBy
	history  func() []version
	doubled  map[string]bool // names of documents of several providers
}

func (r *repair) repair(w store.Writer) error {
	switch err := r.commit(w); {
	case errors.Is(err, store.ErrDoubt):
		return nil
	case err != nil:
		return err
	}
	if data, _ := w.Read(store.IgnoreName); string(data) != r.store.IgnoredText() { // commits compare its length alone
		if err := w.Root.WriteFile(store.IgnoreName, []byte(r.store.IgnoredText()), 0o666); err != nil {
			return err
		}
	}
	var noGit error
	r.sides, noGit = unmerged(r.store)
	names := r.conflicts()
	for _, id := range r.theirs {
		of := func(name string) bool { return id == name || strings.HasPrefix(id, name+"-") }
		if id != AllTheirs && !slices.ContainsFunc(names, of) {
			return fmt.Errorf("nothing in conflict is called %q", id)
		}
	}
	if len(names) > 0 {
		r.merged, r.commits = merging(r.store)
	}
	for some := range slices.Chunk(names, 10) { // which are in memory together
		isOther := func(v version) bool { // raw answers and media may be much longer, and few of git's versions are needed
			_, name, ok := store.ParseDocumentFile(v.Name)
			return !ok || !slices.Contains(some, name)
		}
		sides := slices.DeleteFunc(slices.Concat(r.sides[:]...), isOther)
		r.texts, _ = worktree.Contents(context.Background(), r.store.Path("."), sides) // without one, it is asked for again
		for _, name := range some {
			if err := r.merge(w, name); err != nil {
				r.leave(name, err)
			}
		}
	}
	return r.finish(w, noGit)
}

// commit finishes or undoes an interrupted commit. A commit whose files have changed since is discarded: the rest of it
// is not executed, and verify finds what was. A commit that may be a stranger's is left alone.
func (r *repair) commit(w store.Writer) error {
	became, err := r.store.Recover(w)
	var refused *snapshot.Error
	if errors.Is(err, store.ErrDoubt) && errors.As(err, &refused) {
		r.doubt(refused)
		return err
	}
	if errors.As(err, &refused) {
		became = "discarded, as it " + refused.Violations[0].Message
		err = w.Remove(store.JournalName)
	}
	r.report.Commit = became
	if err != nil {
		return err
	}
	return fs.WalkDir(w.Root.FS(), ".", func(file string, e fs.DirEntry, err error) error {
		if e != nil && e.Name() == store.PendingName {
			return fs.SkipDir
		}
		of, temp := strings.CutSuffix(file, store.TempExt)
		probe, _ := path.Match(store.ProbeNames, file)
		if err != nil || e.IsDir() || !probe && (!temp || !store.IsStoreFile(of)) {
			return err
		}
		r.report.Removed = append(r.report.Removed, file)
		return w.Remove(file)
	})
}

// doubt notes that a file may be a stranger's.
func (r *repair) doubt(refused *snapshot.Error) {
	for _, v := range refused.Violations {
		r.report.Left = append(r.report.Left,
			snapshot.Finding{File: strings.TrimPrefix(refused.File, r.report.dir+"/"), Rule: v.Rule, Message: v.Message})
	}
}

// pending marks pending answers that may be a stranger's as the user's own if the user said so, and otherwise reports
// them.
func (r *repair) pending() error {
	careful := *r.store.Pending()
	careful.Trusting = false
	doubted, err := doubtedIn(&careful)
	if err == nil && r.store.Trusting && len(doubted) > 0 {
		return adopt(r.store.Pending(), doubted)
	}
	for _, name := range inorder.Names(doubted) {
		r.doubt(doubted[name])
	}
	return err
}

// conflicts returns the names of documents that have a conflict themselves or in a file next to them.
func (r *repair) conflicts() []string {
	names := map[string]bool{}
	for _, v := range slices.Concat(r.sides[:]...) {
		if name := nameIn(v.Name); name != "" {
			names[name] = true
		} else if slices.Contains([]string{store.AttributesName, store.IgnoreName, store.ManifestName}, v.Name) {
			r.report.Add = true // these are always written
		} else if !slices.ContainsFunc(r.report.Left, func(f snapshot.Finding) bool { return f.File == v.Name }) {
			r.left(v.Name, "is in conflict, and no document: merge it by hand")
		}
	}
	return inorder.Names(names)
}

// nameIn returns the name of the document that a file contains or belongs to; empty if there is none.
func nameIn(file string) string {
	if _, name, ok := store.ParseDocumentFile(file); ok {
		return name
	}
	if _, name, _, ok := store.ParseBesideFile(file); ok {
		return name
	}
	return ""
}

func (r *repair) left(file, format string, args ...any) {
	found := snapshot.Finding{File: file, Rule: snapshot.RuleConflict, Message: fmt.Sprintf(format, args...)}
	r.report.Left = append(r.report.Left, found)
}

const (
	buyMissing = "and record again with -update what is missing"
	leftFile   = "FILE" // stands for the file in messages about one or more files
)

// leave notes that a document could not be merged.
func (r *repair) leave(name string, err error) {
	file := name
	for _, v := range slices.Concat(r.sides[:]...) {
		if nameIn(v.Name) == name && (file == name || v.Name < file) {
			file = v.Name // a document precedes the files next to it
		}
	}
	var refused *snapshot.Error
	if errors.As(err, &refused) &&
		slices.Contains([]string{snapshot.RuleRaw, snapshot.RuleMedia}, refused.Violations[0].Rule) {
		err = errors.New("neither git nor the store has an answer that it names")
	}
	r.left(file, "could not be merged: %v\ntake one side with git checkout --ours or --theirs -- "+leftFile+", %s",
		err, buyMissing)
}

// merge merges one document.
func (r *repair) merge(w store.Writer, name string) error {
	doc, merge, err := r.resolve(name)
	if err != nil || doc == nil {
		return err
	}
	if err := r.put(w, doc); err != nil {
		return err
	}
	merge.File, merge.Records = doc.File(), len(doc.Document.Snapshots)
	r.report.Merged = append(r.report.Merged, merge)
	return nil
}

// former returns documents that no longer exist under former names of the current document, and leaves the files next
// to them. It also returns one that git restored although one side renamed it.
func (r *repair) former(w store.Writer) (gone []string) {
	providers, _ := r.store.Providers()
	for _, name := range r.names[1:] {
		for _, provider := range providers {
			file := store.DocumentFile(provider, name)
			_, missing := w.Root.Lstat(file)
			if beside, _ := w.List(provider + "/" + name); missing == nil && name == r.replaced ||
				missing != nil && len(beside) > 0 {
				gone = append(gone, file)
				break
			}
		}
	}
	return gone
}

const oursRemoved = "ours removed the document and theirs changed it"

// resolve returns the result for a conflict; nil if the document is gone under this name.
func (r *repair) resolve(name string) (doc *store.Doc, merge Merge, err error) {
	r.names, r.replaced = []string{name}, ""
	var sides [4]*store.Doc
	for i := range sides {
		if sides[i], err = r.side(i, name); err != nil {
			return nil, merge, err
		}
	}
	moved(r.store, name, &sides)
	if next := r.successor(&sides); next != "" {
		r.names, r.replaced = []string{next, name}, name
	}
	target := r.names[0]
	if err := rename(target, sides[1:]); err != nil {
		return nil, merge, err
	}
	ours, theirs := sides[2], sides[3]
	whole, all := slices.Contains(r.theirs, name), slices.Contains(r.theirs, AllTheirs)
	asked := whole || all || slices.ContainsFunc(r.theirs, func(id string) bool { return strings.HasPrefix(id, name+"-") })
	merge.Whole = true
	switch {
	case ours == nil && theirs == nil: // only a file next to it has a conflict, or both sides renamed it
		if doc, err = r.store.Load(name, store.UnknownProvider); errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		return doc, merge, err
	case sides[1] == nil && (ours == nil || theirs == nil): // one renamed it, and the other gave it another name
		return cmp.Or(ours, theirs), Merge{}, nil
	case theirs == nil:
		merge.Choices = []Choice{{name, "theirs removed the document and ours changed it", "ours", nil}}
		return ours, merge, nil
	case ours == nil:
		merge.Choices = []Choice{{name, oursRemoved, "theirs", nil}}
		return theirs, merge, nil
	}
	_, waits := os.Lstat(r.store.Path(store.DocumentFile(theirs.Provider, name))) // an error if it was repaired
	if here, err := r.store.LoadFile(target, ours.Provider); err == nil && !asked && ours.Provider == theirs.Provider &&
		(target == name || waits != nil) {
		return here, merge, nil
	}
	known := func(id string) string { return name + strings.TrimPrefix(id, target) } // in git's name
	m := &recordMerge{name: target,
		chosen: func(id string) bool { return whole || all || slices.Contains(r.theirs, known(id)) }}
	if doc, err = r.fold(m, sides[1], ours, theirs); err == nil && len(m.merged) == 0 {
		err = errors.New("no record is left: remove the document with git rm")
	}
	for i := range m.result.Choices {
		m.result.Choices[i].ID = known(m.result.Choices[i].ID)
	}
	return doc, m.result, err
}

// successor finds the document with which a side replaced one that the other side changed: it renamed the test, and git
// did not notice. It is the only new document that contains more than half of the ancestor's records. If both sides
// renamed it, each side keeps its own.
func (r *repair) successor(sides *[4]*store.Doc) (name string) {
	missing := 2
	if sides[2] != nil {
		missing = 3
	}
	if sides[1] == nil || sides[missing] != nil || sides[5-missing] == nil {
		return ""
	}
	base, shared := recordsOf(sides[1]), map[*store.Doc]int{}
	for _, record := range base {
		for _, doc := range r.addedBy(missing)[record.sense] {
			shared[doc]++
		}
	}
	for doc, n := range shared {
		switch {
		case 2*n <= len(base):
		case name != "": // ambiguous
			sides[missing] = nil
			return ""
		default:
			name, sides[missing] = doc.Name, doc
		}
	}
	if name != "" && sides[5-missing].Name != sides[1].Name { // the other side renamed it too
		sides[1], sides[missing] = nil, nil
		return ""
	}
	return name
}

// addedBy returns the documents of a side that the common ancestor does not have, by the content of their records.
func (r *repair) addedBy(side int) map[canon.Hash][]*store.Doc {
	if r.added[side] != nil {
		return r.added[side]
	}
	r.added[side] = map[canon.Hash][]*store.Doc{}
	before := map[string]bool{}
	for _, v := range r.commits[1] {
		before[nameIn(v.Name)] = true
	}
	for _, v := range r.commits[side] {
		_, name, ok := store.ParseDocumentFile(v.Name)
		if !ok || before[name] {
			continue
		}
		if doc, err := r.load(&v, name); err == nil {
			for _, record := range recordsOf(doc) {
				r.added[side][record.sense] = append(r.added[side][record.sense], doc)
			}
		}
	}
	return r.added[side]
}

// fold merges the sides of a document.
func (r *repair) fold(m *recordMerge, base, ours, theirs *store.Doc) (*store.Doc, error) {
	m.base, m.ours, m.theirs = recordsOf(base), recordsOf(ours), recordsOf(theirs)
	if m.merge(); m.broken != nil {
		return nil, m.broken
	}
	put := m.put()
	return r.store.NewDoc(put.Provider, m.name, put.Document), nil
}

// finish restores files that documents name, and computes hashes of documents again. It writes the manifest if there is
// one and no document is broken, and reports documents that still have conflicts.
func (r *repair) finish(w store.Writer, noGit error) error {
	v := &verifier{store: r.store, beside: true}
	if v.documents(); v.failed != nil {
		return v.failed
	}
	r.doubled = map[string]bool{}
	for _, f := range v.result.Findings {
		if f.Rule == snapshot.RuleDuplicate {
			r.doubled[nameIn(f.File)] = true
		}
	}
	r.restore(w, v.result.Findings)
	v.broken = slices.DeleteFunc(v.broken, func(f snapshot.Finding) bool { return r.reseal(w, f) })
	inConflict := map[string]bool{}
	for _, f := range r.report.Left {
		inConflict[f.File] = true
	}
	for _, f := range v.broken {
		if f.Rule == snapshot.RuleConflict && !inConflict[f.File] {
			inConflict[f.File] = true
			r.left(f.File, "holds conflict markers, and %s, %s", sidesOf(r.store, f.File, noGit), buyMissing)
		}
	}
	if _, err := w.Root.Lstat(store.ManifestName); err != nil || len(v.broken) > 0 {
		return nil
	}
	return writeManifest(r.store, w)
}
