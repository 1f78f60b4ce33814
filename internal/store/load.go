package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/internal/filename"
	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/modelio"
	"github.com/traceforge/traceforge-go/snapshot"
)

// ErrReplaced means that another process has recorded a call again since its document was loaded.
var ErrReplaced = errors.New("recorded again meanwhile")

// A Doc is a document of a store, as it was read.
type Doc struct {
	Provider string // the directory that contains it
	Name     string
	Document *snapshot.Document
	Torn     bool   // for pending answers: a killed run wrote only a part of an answer, which is left out
	Log      string // for pending answers: the first of their files, as messages name it

	store *Store
	file  os.FileInfo // the document's file when it was last read; nil if it was not
	// files next to it that need not be read again, because a verify has checked them or because they are in a log
	whole map[canon.Hash][]byte
}

// A Check is an additional check of a document for package audit, which returns what is wrong. It is called on several
// goroutines at once, for documents without faults, and must not keep d.
type Check func(d *Doc) []snapshot.Violation

// File returns the path of the document in its store, with forward slashes.
func (d *Doc) File() string { return DocumentFile(d.Provider, d.Name) }

// Keep keeps the content of a file next to the document, which has this hash, so that it is not read again.
func (d *Doc) Keep(hash canon.Hash, data []byte) {
	if d.whole == nil {
		d.whole = map[canon.Hash][]byte{}
	}
	d.whole[hash] = data
}

// Beside returns the path in the store of a raw answer or a medium with the file name own.
func (d *Doc) Beside(own string) string { return d.Provider + "/" + d.Name + "/" + own }

// Path returns the path of a file of the document's store.
func (d *Doc) Path(file string) string { return d.store.Path(file) }

// Load reads the document with the given name. It looks for it under the given provider, and only if it is not there
// under all others. It checks the document as [snapshot.Parse] does, and that the ids of its records match its name.
// The error is an [*snapshot.Error], or [fs.ErrNotExist] if there is no such document.
func (s *Store) Load(name, provider string) (*Doc, error) {
	if !filename.LegalDocument(name) || !filename.Legal(provider) {
		return nil, fmt.Errorf("load document: %q of provider %q is no name of a document", name, provider)
	}
	if s.isPending() {
		logs, err := logDir{s}.logsOf(name)
		if err != nil {
			return nil, err
		}
		return logDir{s}.loadLogs(name, logs)
	}
	doc, missing := s.LoadFile(name, provider)
	if !errors.Is(missing, fs.ErrNotExist) {
		return doc, missing
	}
	providers, err := s.Providers()
	if err != nil {
		return nil, err
	}
	for _, other := range providers {
		if other == provider {
			continue
		}
		if doc, err := s.LoadFile(name, other); !errors.Is(err, fs.ErrNotExist) {
			return doc, err
		}
	}
	return nil, missing
}

// LoadFile reads a document of [snapshot.Version] from its file.
func (s *Store) LoadFile(name, provider string) (*Doc, error) {
	doc, err := s.ParseFile(name, provider)
	if err == nil && doc.Document.Version != snapshot.Version {
		return nil, doc.OtherVersion()
	}
	return doc, err
}

// OtherVersion returns an error if the document is not of [snapshot.Version].
func (d *Doc) OtherVersion() error {
	wrong := []snapshot.Violation{snapshot.OtherVersion(d.Document.Version)}
	return &snapshot.Error{File: d.store.Shown(d.File()), Violations: wrong}
}

// ParseFile reads a document of any version from its file. The error is [fs.ErrNotExist] if there is none.
func (s *Store) ParseFile(name, provider string) (*Doc, error) {
	doc := &Doc{Provider: provider, Name: name, store: s}
	file := doc.File()
	if err := s.checkLinks(provider, file); err != nil {
		return nil, err
	}
	f, err := s.toRead(file)
	var data []byte
	if err == nil {
		doc.file, _ = f.Stat()
		data, err = readAll(f, s.maxBytes)
	}
	if err != nil {
		if _, ok := Unreadable(err); ok {
			return nil, s.unreadable(file, err)
		}
		return nil, fmt.Errorf("load document: %w", err)
	}
	doc.Document, err = snapshot.Parse(data)
	var e *snapshot.Error
	if errors.As(err, &e) {
		e.File, e.Violations = s.Shown(file), Explained(name, data, e.Violations)
		return nil, e
	}
	if wrong := Misnamed(name, doc.Document); len(wrong) > 0 {
		return nil, &snapshot.Error{File: s.Shown(file), Violations: Explained(name, data, wrong)}
	}
	return doc, err
}

// SameTest is the violation of a document whose test also has the document in file, under another provider.
func SameTest(file string) snapshot.Violation {
	return snapshot.Violation{Rule: snapshot.RuleDuplicate,
		Message: "is the document of the same test as " + file + ": delete one"}
}

// Explained returns the faults of a document. If it is a Git LFS pointer, or laid out as in SF with ids that no store
// has, that is the only fault; otherwise the faults are found.
func Explained(name string, data []byte, found []snapshot.Violation) []snapshot.Violation {
	if Pointed(data) != "" {
		return []snapshot.Violation{{Rule: snapshot.RulePointer, Message: NotFetched}}
	}
	text, _ := jsontext.ParseStrict(data) // a text that is not JSON has no layout
	lone := text.Root().Member("request").IsObject() && text.Root().Member("response").IsObject()
	if !lone && text.Root().Member("version").Word() != snapshot.VersionSF {
		return found
	}
	for _, record := range text.Root().Member("snapshots").Elements() {
		if document, _, ok := snapshot.ParseID(record.Member("id").Word()); ok && document == name {
			return found
		}
	}
	return []snapshot.Violation{{Rule: snapshot.RuleVersion,
		Message: "is laid out as the Snapshot Format Specification has it: " +
			"traceforge import --from sf --write brings it over, which makes no call"}}
}

// Altered returns the document in a file if only its hashes are wrong, because somebody edited it; otherwise nil.
func (s *Store) Altered(file string) *Doc {
	provider, name, ok := ParseDocumentFile(file)
	data, _ := ReadFile(s.Path(file)) // an unreadable file is no document
	doc := &Doc{Provider: provider, Name: name, Document: snapshot.ParseUnsealed(data), store: s}
	if !ok || doc.Document == nil {
		return nil
	}
	return doc
}

func (s *Store) toRead(file string) (*os.File, error) { return openToRead(s.Path(file)) }

// ReadWhole returns the content of a file, following links.
func (s *Store) ReadWhole(file string) ([]byte, error) {
	f, err := s.toRead(file)
	if err != nil {
		return nil, err
	}
	return readAll(f, s.maxBytes)
}

// checkLinks refuses a link to a file with another name. Other links are followed, such as those that Bazel makes for
// all files of a test. It uses readlink, because go test's cache would treat a stat of a directory as a dependency on
// what other tests record.
func (s *Store) checkLinks(files ...string) error {
	for _, file := range files {
		if _, err := os.Readlink(s.Path(file)); err != nil {
			continue // not a link
		}
		target, err := filepath.EvalSymlinks(s.Path(file))
		if err != nil {
			return fmt.Errorf("load document: %s: %w", s.Shown(file), err)
		}
		if !strings.HasSuffix(filepath.ToSlash(target), "/"+file) {
			return s.failure(file, "", snapshot.RuleStray, nil,
				"is a link to %s: one that is followed leads to %s", target, file)
		}
	}
	return nil
}

func (s *Store) unreadable(file string, err error) error {
	if violation, ok := Unreadable(err); ok {
		return &snapshot.Error{File: s.Shown(file), Violations: []snapshot.Violation{violation}, Err: err}
	}
	return fmt.Errorf("read %s: %w", s.Shown(file), err)
}

// Unreadable returns the violation for an error that is the file's fault.
func Unreadable(err error) (v snapshot.Violation, ok bool) {
	var large *tooLarge
	switch {
	case errors.As(err, &large):
		return snapshot.Violation{Rule: snapshot.RuleValue, Message: large.Error()}, true
	case errors.Is(err, errIrregular):
		return snapshot.Violation{Rule: snapshot.RuleStray, Message: errIrregular.Error()}, true
	}
	return v, false
}

// Misnamed returns a violation for each record with an id that does not match the document's name, or with a source
// that requires another name.
func Misnamed(name string, d *snapshot.Document) []snapshot.Violation {
	var wrong []snapshot.Violation
	asked, by := "", [2]string{} // the name that the last source requires; almost always all records have the same source
	nameOf := snapshot.DocumentName
	if d.Version == snapshot.VersionSF {
		nameOf = snapshot.FormerName
	}
	for i := range d.Snapshots {
		record := &d.Snapshots[i]
		of := [2]string{record.Source.Package, record.Source.Test}
		if of[1] == "" && d.Version != snapshot.VersionSF {
			of = [2]string{record.Source.File, record.Source.Function}
		}
		if asked == "" || of != by {
			by, asked = of, nameOf(of[0], of[1])
		}
		must := ""
		switch document, _, ok := snapshot.ParseID(record.ID); {
		case !ok || document != name:
			must = name + "-<n>, as the file's name says"
		case by[1] != "" && asked != name:
			must = asked + "-<n>, as its source says"
		default:
			continue
		}
		wrong = append(wrong, snapshot.Violation{
			Pointer: recordPointer(i, "id"), Rule: snapshot.RuleName,
			Message: fmt.Sprintf("is %q, must be %s", record.ID, must),
		})
	}
	return wrong
}

func recordPointer(i int, tokens ...string) string {
	return jsontext.PointerTo(append([]string{"snapshots", fmt.Sprint(i)}, tokens...)...)
}

// A Need is a file that a document names.
type Need struct {
	Own    string // its file name in the directory next to the document
	Hash   canon.Hash
	Rule   string // the rule that is violated if it is missing or altered: [snapshot.RuleRaw] or [snapshot.RuleMedia]
	Record int    // index of the record that names it
}

// Needs returns the files that a document names.
func Needs(d *snapshot.Document) []Need {
	looked := map[*modelio.Message]int{} // number of messages examined, by the first message of a list that requests share
	var all []Need
	media := map[string]bool{}
	for i, record := range d.Snapshots {
		if all := record.Request.Messages; len(all) > 0 {
			record.Request.Messages = all[min(looked[&all[0]], len(all)):]
			looked[&all[0]] = max(looked[&all[0]], len(all))
		}
		for _, n := range needsOf(&record, i) {
			if n.Rule == snapshot.RuleMedia && media[n.Own] {
				continue
			}
			media[n.Own] = true
			all = append(all, n)
		}
	}
	return all
}

// needsOf returns the files that the i-th record names: its raw answer and media.
func needsOf(record *snapshot.Snapshot, i int) (all []Need) {
	if record.Response.RawOutputRef != "" {
		all = append(all, rawNeed(record, i))
	}
	for _, m := range record.Media() {
		all = append(all, Need{m.Name(), m.Hash, snapshot.RuleMedia, i})
	}
	return all
}

func rawNeed(record *snapshot.Snapshot, i int) Need {
	return Need{snapshot.RawName(record.Number(), &record.Response), record.Response.RawOutputRef, snapshot.RuleRaw, i}
}

// Pointer returns the RFC 6901 pointer to the place that names the file.
func (n Need) Pointer() string {
	if n.Rule == snapshot.RuleRaw {
		return recordPointer(n.Record, "response", "raw_output_ref")
	}
	return recordPointer(n.Record)
}

// Raw returns the provider's own bytes of the answer of Document.Snapshots[i], checked against its RawOutputRef; nil if
// it has none. If they do not match, Raw waits for a commit that may be in progress and reads again. The error is an
// [*snapshot.Error]; it is also [ErrReplaced] if the call was recorded again since d was loaded.
func (d *Doc) Raw(i int) ([]byte, error) {
	record := &d.Document.Snapshots[i]
	if record.Response.RawOutputRef == "" {
		return nil, nil
	}
	return d.Fetch(rawNeed(record, i))
}

// RawUnchecked is Raw for an answer whose first bytes must not wait for its hash, which check computes. A commit
// replaces a document before its answers: without a commit under way, and as long as the document is the one that was
// loaded, the answer is the document's. In any other case check is nil, and the answer is Raw's.
func (d *Doc) RawUnchecked(i int) (raw []byte, check func() error) {
	n := rawNeed(&d.Document.Snapshots[i], i)
	_, noJournal := os.Lstat(d.store.Path(JournalName)) // asked first: the answer may be that of a commit that ends now
	raw, err := d.store.ReadWhole(d.Beside(n.Own))
	if noJournal == nil || err != nil || n.Hash == "" || d.whole != nil || Pointed(raw) != "" || d.isReplaced() {
		return nil, nil
	}
	return raw, func() error { return d.check(n, raw) }
}

// Media returns the medium with the given hash that the document's messages name, checked as by [Doc.Raw].
func (d *Doc) Media(h canon.Hash) ([]byte, error) {
	for _, n := range Needs(d.Document) {
		if n.Rule == snapshot.RuleMedia && n.Hash == h {
			return d.Fetch(n)
		}
	}
	return nil, fmt.Errorf("read media: no message of %s names %s: %w", d.store.Shown(d.File()), h, fs.ErrNotExist)
}

// Fetch reads a file that the document names, checked as by [Doc.Raw].
func (d *Doc) Fetch(n Need) ([]byte, error) {
	if data, ok := d.whole[n.Hash]; ok {
		return data, nil
	}
	s := d.store
	data, wrong := d.fetchOnce(n)
	if wrong == nil || s.held { // no commit is in progress
		return data, wrong
	}
	unlock, err := s.ReadLock()
	if err != nil || unlock == nil {
		return nil, wrong
	}
	defer unlock()
	if data, wrong = d.fetchOnce(n); wrong == nil {
		return data, nil
	}
	if d.isReplaced() {
		return nil, s.failure(d.File(), n.Pointer(), n.Rule, ErrReplaced,
			"was recorded again by another process: run it again")
	}
	if _, err := os.Lstat(s.Path(JournalName)); err == nil {
		return nil, fmt.Errorf("%w\na commit was cut short: traceforge repair finishes it or undoes it", wrong)
	}
	return nil, wrong
}

// isReplaced reports whether the store has another document by now. It reads each version of a file once, because a
// commit writes a new file.
func (d *Doc) isReplaced() bool {
	info, err := os.Stat(d.store.Path(d.File()))
	if err == nil && d.file != nil && os.SameFile(info, d.file) && info.ModTime().Equal(d.file.ModTime()) {
		return false
	}
	now, err := d.store.Load(d.Name, d.Provider)
	if err == nil && now.Document.Hash != d.Document.Hash {
		return true
	}
	d.file = info
	return false
}

// fetchOnce is Fetch without reading again. The content is checked against the hash, so it does not matter where a link
// leads.
func (d *Doc) fetchOnce(n Need) ([]byte, error) {
	s, file := d.store, d.Beside(n.Own)
	data, err := s.ReadWhole(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, s.failure(d.File(), n.Pointer(), n.Rule, fs.ErrNotExist, "%s", n.Missing(file))
	}
	if err != nil {
		return nil, s.unreadable(file, err)
	}
	return data, d.check(n, data)
}

// check returns an error if data, the content of a file that the document names, has another hash.
func (d *Doc) check(n Need, data []byte) error {
	got := canon.Sum(data)
	switch {
	case got == n.Hash:
		return nil
	case Pointed(data) == n.Hash:
		return d.store.failure(d.Beside(n.Own), "", snapshot.RulePointer, ErrNotFetched, "%s", NotFetched)
	}
	return d.store.failure(d.Beside(n.Own), "", n.Rule, nil, "%s", n.Altered(got, d.Name))
}

func (n Need) Missing(file string) string {
	return fmt.Sprintf("names %s, but %s is missing", n.Hash, file)
}

func (n Need) Altered(got canon.Hash, name string) string {
	return fmt.Sprintf("has the hash %s, but %s names %s at %s", got, name+DocumentExt, n.Hash, n.Pointer())
}
