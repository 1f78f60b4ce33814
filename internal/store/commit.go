package store

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/internal/filename"
	"github.com/traceforge/traceforge-go/snapshot"
)

// A Change is the content of one commit to a store.
type Change struct {
	Put    []Put    // new documents, and new content of documents
	Remove []string // files of documents, as in [Store.List]; files next to them are removed too
}

// A Put is a document with the files that belong to it. A document with the same name under another provider is
// removed.
type Put struct {
	Provider string // provider of the first call
	Name     string
	Document *snapshot.Document // Commit seals it
	// raw answers and media that the store lacks; those that the document does not name are ignored
	Beside map[canon.Hash][]byte
	Summed bool // the document's hashes of Beside were computed from these bytes, and need not be computed again

	// Check is called before anything is written, with the document as it will be read again, unless it is nil. Its
	// error becomes the error of the commit.
	Check func(*snapshot.Document) error
}

// Commit makes all of a change or, after an error, none of it. It works under the store's lock and waits for other
// processes. It seals the documents, and refuses one that names a raw answer or a medium that is neither in the change
// nor in the store. A file whose content would not change is not written. Raw answers and media that the new documents
// do not name are removed.
//
// If a process is killed during a commit, the next commit or [audit.Repair] finishes or undoes it. So an update commits
// even an empty change: that does only this, and costs almost nothing if there is nothing to do.
func (s *Store) Commit(c Change) error {
	if len(c.Put) == 0 && len(c.Remove) == 0 {
		if _, err := os.Lstat(s.Path(JournalName)); errors.Is(err, fs.ErrNotExist) {
			return nil
		}
	}
	puts, err := s.targets(c)
	if err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	err = s.Exclusively(func(w Writer) error { return s.commit(w, puts, c.Remove) })
	if err != nil && !s.has(puts, c.Remove) {
		return fmt.Errorf("commit: %w", err)
	}
	return nil
}

// has reports whether a change would write nothing. Such a change needs no lock, which a read-only store cannot
// provide.
func (s *Store) has(puts []*target, remove []string) bool {
	root, err := os.OpenRoot(s.dir)
	if err != nil {
		return false
	}
	defer root.Close()
	p := s.planned(Writer{Root: root, limit: s.maxBytes})
	_, journal := p.Lstat(JournalName)
	return errors.Is(journal, fs.ErrNotExist) && !s.isPending() && p.plan(puts, remove) == nil &&
		len(p.writes)+len(p.removes) == 0
}

// A target is a Put that was checked.
type target struct {
	Put
	data  []byte // content of the document's file
	needs []Need
}

func (t *target) beside(own string) string { return t.Provider + "/" + t.Name + "/" + own }

func (s *Store) targets(c Change) ([]*target, error) {
	var puts []*target
	touched := map[string]bool{}
	for _, p := range c.Put {
		t, err := s.target(p)
		if err != nil {
			return nil, err
		}
		if touched[p.Name] {
			return nil, fmt.Errorf("document %s is put twice", p.Name)
		}
		touched[p.Name] = true
		puts = append(puts, t)
	}
	for _, file := range c.Remove {
		_, name, ok := ParseDocumentFile(file)
		if !ok {
			return nil, fmt.Errorf("remove: %q is no file of a document", file)
		}
		if touched[name] {
			return nil, fmt.Errorf("document %s is removed, and put or removed besides", name)
		}
		touched[name] = true
	}
	return puts, nil
}

func (s *Store) target(p Put) (*target, error) {
	if !filename.Legal(p.Provider) || !filename.LegalDocument(p.Name) {
		return nil, fmt.Errorf("%q of provider %q is no name of a document", p.Name, p.Provider)
	}
	if p.Document == nil {
		return nil, fmt.Errorf("document %s is missing", p.Name)
	}
	file := DocumentFile(p.Provider, p.Name)
	if wrong := Misnamed(p.Name, p.Document); len(wrong) > 0 {
		return nil, &snapshot.Error{File: s.Shown(file), Violations: wrong}
	}
	var read *snapshot.Document
	data, err := p.Document.Write(func(d *snapshot.Document) error { read = d; return nil })
	if err != nil {
		return nil, fmt.Errorf("encode %s: %w", file, err)
	}
	if p.Check != nil {
		if err := p.Check(read); err != nil {
			return nil, err
		}
	}
	if n := int64(len(data)); n > s.maxBytes {
		return nil, s.unreadable(file, &tooLarge{n, s.maxBytes})
	}
	t := &target{Put: p, data: data, needs: Needs(p.Document)}
	for _, n := range t.needs {
		given, ok := p.Beside[n.Hash]
		if !ok {
			continue
		}
		if size := int64(len(given)); size > s.maxBytes {
			return nil, s.unreadable(t.beside(n.Own), &tooLarge{size, s.maxBytes})
		}
		if !p.Summed {
			if got := canon.Sum(given); got != n.Hash {
				return nil, s.failure(t.beside(n.Own), "", n.Rule, nil, "%s", n.Altered(got, p.Name))
			}
		}
	}
	return t, nil
}

// commit makes the change, under the lock.
func (s *Store) commit(w Writer, puts []*target, remove []string) error {
	if s.isPending() {
		return logDir{s}.relog(w, puts, remove)
	}
	p := s.planned(w)
	if err := p.plan(puts, remove); err != nil {
		return err
	}
	return p.Apply()
}

// planned returns an empty plan.
func (s *Store) planned(w Writer) *plan {
	return &plan{Transaction: Transaction{Writer: w, store: s}, gone: map[string]bool{}}
}

// A plan is the work of a commit.
type plan struct {
	Transaction
	providers []string        // providers in the store before the commit
	gone      map[string]bool // files of documents that are removed
}

// plan adds the complete change. A document is written before its raw answers: a reader with the new document and an
// old answer waits for the lock, and then finds both.
func (p *plan) plan(puts []*target, remove []string) (err error) {
	if p.providers, err = p.store.Providers(); err != nil {
		return err
	}
	for _, t := range puts {
		if err := p.put(t); err != nil {
			return err
		}
	}
	for _, file := range remove {
		if err := p.drop(file); err != nil {
			return err
		}
	}
	return p.manifest(puts)
}

// put adds a document and the files next to it.
func (p *plan) put(t *target) error {
	file, dir := DocumentFile(t.Provider, t.Name), t.Provider+"/"+t.Name
	isNew, err := p.checkDirs(t.Provider, dir)
	if err != nil {
		return err
	}
	if _, err := p.Lstat(file); errors.Is(err, fs.ErrNotExist) {
		p.Write(file, t.data)
	} else if err != nil || !p.has(file, t.data) {
		if err := p.checkNewer(file); err != nil {
			return err
		}
		p.Write(file, t.data)
	}
	if isNew && len(t.needs) > 0 {
		p.dirs = append(p.dirs, dir)
	}
	named := map[string]bool{}
	for _, n := range t.needs {
		named[n.Own] = true
		if data, ok := t.Beside[n.Hash]; ok && isNew {
			p.writeSummed(dir+"/"+n.Own, data, n.Hash)
		} else if err := p.provide(t, n); err != nil {
			return err
		}
	}
	if !isNew {
		if err := p.clear(dir, named); err != nil {
			return err
		}
	}
	for _, other := range p.providers {
		if other == t.Provider {
			continue
		}
		if err := p.drop(DocumentFile(other, t.Name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// provide adds a file that the document names, unless it exists.
func (p *plan) provide(t *target, n Need) error {
	own := "/" + t.Name + "/" + n.Own
	if data, ok := t.Beside[n.Hash]; ok {
		if !p.has(t.Provider+own, data) {
			p.writeSummed(t.Provider+own, data, n.Hash)
		}
		return nil
	}
	if hash, err := p.sum(t.Provider + own); err == nil && hash == n.Hash {
		return nil
	}
	if data, err := p.Read(t.Provider + own); err == nil && Pointed(data) == n.Hash {
		return nil // git lfs pull fetches it
	}
	for _, other := range p.providers { // the current directory of a document that moves
		data, err := p.Read(other + own)
		if err == nil && canon.Sum(data) == n.Hash {
			p.Write(t.Provider+own, data)
			return nil
		}
	}
	return p.store.failure(DocumentFile(t.Provider, t.Name), n.Pointer(), n.Rule, fs.ErrNotExist,
		"names %s, which is neither in the change nor in the store", n.Hash)
}

// clear removes the files in a document's directory that are not named.
func (p *plan) clear(dir string, named map[string]bool) error {
	entries, err := p.List(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if named[e.Name()] || !IsBeside(e.Name()) || e.IsDir() {
			continue
		}
		if err := p.Remove(dir + "/" + e.Name()); err != nil {
			return err
		}
	}
	return nil
}

// drop removes a document with the files next to it. It returns fs.ErrNotExist if there are none.
func (p *plan) drop(file string) error {
	dir := strings.TrimSuffix(file, DocumentExt)
	provider, _, _ := ParseDocumentFile(file)
	if _, err := p.checkDirs(provider, dir); err != nil {
		return err
	}
	if _, err := p.Lstat(file); err == nil {
		if err := p.checkNewer(file); err != nil {
			return err
		}
		p.gone[file] = true
		if err := p.Remove(file); err != nil {
			return err
		}
	} else if _, beside := p.Lstat(dir); beside != nil || !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove: %w", err)
	}
	return p.clear(dir, nil)
}

// checkNewer refuses to replace or remove a document that a newer traceforge wrote.
func (p *plan) checkNewer(file string) error {
	data, _ := p.Read(file) // a missing or unreadable document is not newer
	var newer *snapshot.Error
	if errors.As(snapshot.CheckNewer(data), &newer) {
		newer.File = p.store.Shown(file)
		return newer
	}
	return nil
}

// checkDirs refuses directories that are links: when a store is written, links are not followed. It reports whether the
// last directory does not exist yet.
func (p *plan) checkDirs(dirs ...string) (isNew bool, err error) {
	for _, dir := range dirs {
		info, err := p.Lstat(dir)
		if err == nil && !info.IsDir() {
			return false, p.store.failure(dir, "", snapshot.RuleStray, nil,
				"is no directory: no link is followed where a store is written")
		}
		if isNew = errors.Is(err, fs.ErrNotExist); err != nil && !isNew {
			return false, err
		}
	}
	return isNew, nil
}

// manifest adds the manifest, if it is kept up to date.
func (p *plan) manifest(puts []*target) error {
	m := &Manifest{}
	data, err := p.Read(ManifestName)
	switch {
	case errors.Is(err, fs.ErrNotExist) && len(p.providers) > 0:
		return nil // the repository has none
	case err == nil && len(p.gone) == 0 && outgrown(data, puts):
		return nil
	case err == nil:
		if m, err = ParseManifest(data); errors.Is(err, snapshot.ErrNewer) {
			return fmt.Errorf("%s: %w", p.store.Shown(ManifestName), err)
		} else if err != nil {
			return nil // verify reports it, and audit.WriteManifest fixes it
		}
	case !errors.Is(err, fs.ErrNotExist):
		return nil // verify reports it
	}
	m.Entries = slices.DeleteFunc(m.Entries, func(e Entry) bool { return p.gone[e.File] })
	for _, t := range puts {
		m.replace(t)
	}
	sameFile := func(a, b Entry) bool { return a.File == b.File }
	if len(slices.CompactFunc(slices.Clone(m.Entries), sameFile)) > manifestDocuments {
		return nil
	}
	return p.PutManifest(m, data)
}

// outgrown reports whether a manifest would have too many documents, by counting its lines. It is false for other
// versions.
func outgrown(data []byte, puts []*target) bool {
	if !bytes.HasPrefix(data, fmt.Appendf(nil, "{\n  \"version\": %q,\n", snapshot.Version)) {
		return false
	}
	const begin = `,"file":"`
	documents, last := 0, []byte(nil)
	for line := range bytes.Lines(data) {
		_, rest, _ := bytes.Cut(line, []byte(begin))
		if file, _, ok := bytes.Cut(rest, []byte(`"`)); ok && !bytes.Equal(file, last) {
			documents, last = documents+1, file
		}
	}
	for _, t := range puts {
		if !bytes.Contains(data, []byte(begin+DocumentFile(t.Provider, t.Name)+`"`)) {
			documents++
		}
	}
	return documents > manifestDocuments
}

// CommitLocked is Commit for a caller that holds the lock.
func (s *Store) CommitLocked(w Writer, c Change) error {
	puts, err := s.targets(c)
	if err != nil {
		return err
	}
	return s.commit(w, puts, c.Remove)
}
