package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/snapshot"
	"github.com/traceforge/traceforge-go/snapshot/internal/filename"
)

// A Result is what [Store.Verify] found.
type Result struct {
	Findings  []snapshot.Finding // what is wrong, sorted
	Notes     []snapshot.Finding // what is worth saying and no failure, sorted
	Documents int
	Calls     int
}

// A Check is one more question about a document: it returns what is wrong with it, for [Store.Verify].
// It is called on several goroutines at once, for documents that are whole, and must not keep d.
type Check func(d *Doc) []snapshot.Violation

// Verify looks at every file of the store and returns everything that is wrong. It changes nothing,
// and a writer waits for it. It works on all cores, and keeps little of each document.
// The error is [fs.ErrNotExist] if there is no store.
func (s *Store) Verify(checks ...Check) (*Result, error) {
	for {
		unlock, err := s.readLock()
		if err != nil {
			return nil, fmt.Errorf("verify: %w", err)
		}
		result, err := s.verify(checks)
		if unlock == nil {
			if _, absent := os.Lstat(s.path(attributesName)); absent == nil && (err != nil || len(result.Findings) > 0) {
				continue // the first commit began meanwhile
			}
		} else {
			unlock()
		}
		if err != nil {
			return nil, fmt.Errorf("verify: %w", err)
		}
		return result, nil
	}
}

func (s *Store) verify(checks []Check) (*Result, error) {
	v := &verifier{store: s, checks: checks, beside: true}
	if err := v.documents(); err != nil {
		return nil, err
	}
	if err := v.texts(); err != nil {
		return nil, err
	}
	if err := v.checkManifest(); err != nil {
		return nil, err
	}
	v.result.Findings = append(v.result.Findings, v.broken...)
	slices.SortFunc(v.result.Findings, snapshot.Finding.Compare)
	slices.SortFunc(v.result.Notes, snapshot.Finding.Compare)
	return &v.result, nil
}

// A verifier collects what the documents of a store say.
type verifier struct {
	store  *Store
	checks []Check
	beside bool // look at what is beside the documents too

	listed  []*Doc              // without their documents
	besides map[string][]string // the names of the files in documents' directories
	empty   bool                // there is nothing yet

	mu       sync.Mutex
	result   Result
	broken   []snapshot.Finding // of documents
	orphans  []string           // files beside documents that none names
	manifest manifest           // as it would be derived
}

func (v *verifier) report(file string, found ...snapshot.Violation) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, violation := range found {
		v.result.Findings = append(v.result.Findings, findingOf(file, violation))
	}
}

func findingOf(file string, v snapshot.Violation) snapshot.Finding {
	return snapshot.Finding{File: file, Pointer: v.Pointer, Rule: v.Rule, Message: v.Message}
}

func (v *verifier) stray(file, message string) {
	v.report(file, snapshot.Violation{Rule: snapshot.RuleStray, Message: message})
}

const isStray = "does not belong in a store: delete it"

// strayMessage says what to do about a file that should not be there.
func strayMessage(e fs.DirEntry) string {
	switch {
	case e.Type()&fs.ModeSymlink != 0:
		return "is a link, and a store holds files: put the file in its place"
	case strings.HasSuffix(e.Name(), tempExt):
		return "is left of a commit that was cut short: traceforge repair removes it"
	}
	return isStray
}

// walk notes what the store has, and reports what does not belong in it.
func (v *verifier) walk() error {
	return fs.WalkDir(os.DirFS(v.store.dir), ".", func(file string, e fs.DirEntry, err error) error {
		if err != nil || file == "." {
			return err
		}
		v.empty = v.empty && slices.Contains([]string{attributesName, ignoreName, holderName}, file)
		provider, name, isDocument := parseDocumentFile(file)
		dir, own := path.Split(file)
		_, _, _, isOwned := parseBesideFile(file)
		switch regular := e.Type().IsRegular(); {
		case e.IsDir() && file == pendingName:
			return fs.SkipDir
		case e.IsDir() && filename.Legal(own) && strings.Count(file, "/") < 2:
		case regular && isDocument:
			v.listed = append(v.listed, &Doc{Provider: provider, Name: name, Document: &snapshot.Document{}, store: v.store})
		case regular && isOwned:
			v.besides[dir] = append(v.besides[dir], own)
		case file == journalName:
			message := "a commit was cut short: traceforge repair finishes it or undoes it"
			v.report(file, snapshot.Violation{Rule: snapshot.RulePending, Message: message})
		case regular && slices.Contains([]string{attributesName, ignoreName, configName, manifestName, holderName}, file):
		default:
			v.stray(file, strayMessage(e))
			if e.IsDir() {
				return fs.SkipDir
			}
		}
		return nil
	})
}

// texts looks at the files that are of no provider.
func (v *verifier) texts() error {
	var wrong *snapshot.Error
	if _, err := v.store.Config(); errors.As(err, &wrong) {
		v.report(configName, wrong.Violations...)
	}
	return errors.Join(v.checkText(attributesName, attributes), v.checkText(ignoreName, v.store.ignored()))
}

// checkText checks a file that commits write. It may be missing, or still be empty, only where there
// is nothing else: then a first commit is about to begin.
func (v *verifier) checkText(name, want string) error {
	data, err := v.store.read(name)
	if violation, ok := unreadable(err); err != nil && ok {
		v.report(name, violation)
		return nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if string(data) != want && (len(data) > 0 || !v.empty) {
		message := "is missing, or differs from what traceforge writes: traceforge repair, or the next commit, writes it"
		v.report(name, snapshot.Violation{Rule: snapshot.RuleAttributes, Message: message})
	}
	return nil
}

// documents looks at all documents, in parallel.
func (v *verifier) documents() error {
	v.empty, v.besides = true, map[string][]string{}
	if err := v.walk(); err != nil {
		return err
	}
	v.duplicates()
	entries := make([][]entry, len(v.listed))
	err := each(v.listed, func(i int, doc *Doc, s *scratch) (err error) {
		entries[i], err = v.look(doc, s)
		return err
	})
	for _, doc := range v.listed {
		delete(v.besides, doc.beside(""))
	}
	for dir, owns := range v.besides {
		for _, own := range owns {
			v.orphan(dir + own)
		}
	}
	v.manifest.Entries = slices.Concat(entries...)
	return err
}

// duplicates reports documents that are under two providers.
func (v *verifier) duplicates() {
	first := make(map[string]string, len(v.listed))
	for _, doc := range v.listed {
		if other, ok := first[doc.Name]; ok {
			message := "is the document of the same test as " + other + ": delete one"
			v.report(doc.File(), snapshot.Violation{Rule: snapshot.RuleDuplicate, Message: message})
		}
		first[doc.Name] = doc.File()
	}
}

// A scratch is memory of one goroutine to read into.
type scratch struct {
	piece []byte // of a file that is hashed
}

// each calls f for each item, on all cores. It returns the first error that
// f does.
func each[T any](items []T, f func(i int, item T, s *scratch) error) error {
	var next atomic.Int64
	errs := make(chan error, runtime.GOMAXPROCS(0))
	for range cap(errs) {
		go func() {
			var err error
			s := &scratch{make([]byte, pieceSize)}
			for err == nil {
				i := int(next.Add(1)) - 1
				if i >= len(items) {
					break
				}
				err = f(i, items[i], s)
			}
			errs <- err
		}()
	}
	var first error
	for range cap(errs) {
		if err := <-errs; first == nil {
			first = err
		}
	}
	return first
}

// look looks at a document and what is beside it, and returns its entries of the manifest.
func (v *verifier) look(listed *Doc, s *scratch) ([]entry, error) {
	doc := *listed // which must not keep the document
	f, err := os.Open(v.store.path(doc.File()))
	if err != nil {
		return nil, err
	}
	data, err := readAll(f, v.store.maxBytes)
	if err != nil {
		violation, ok := unreadable(err)
		if !ok {
			return nil, err
		}
		v.breaks(&doc, violation)
		return nil, nil
	}
	var wrong []snapshot.Violation
	if doc.Document, wrong = snapshot.Examine(data); doc.Document == nil {
		v.breaks(&doc, wrong...)
		return nil, nil
	}
	wrong = append(wrong, misnamed(doc.Name, doc.Document)...)
	if v.beside {
		if err := v.lookBeside(&doc, s); err != nil {
			return nil, err
		}
		if len(wrong) == 0 {
			for _, check := range v.checks {
				wrong = append(wrong, check(&doc)...)
			}
		}
	}
	v.breaks(&doc, wrong...)
	v.mu.Lock()
	defer v.mu.Unlock()
	v.result.Documents++
	v.result.Calls += len(doc.Document.Snapshots)
	v.manifest.span(doc.Document)
	entries := entriesOf(doc.Provider, doc.Name, doc.Document)
	for i := range entries {
		// The document's strings may be parts of its whole text, which must not stay in memory.
		entries[i].Hash = canon.Hash(strings.Clone(string(entries[i].Hash)))
	}
	return entries, nil
}

// breaks notes what is wrong with a document.
func (v *verifier) breaks(doc *Doc, wrong ...snapshot.Violation) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, violation := range wrong {
		v.broken = append(v.broken, findingOf(strings.Clone(doc.File()), violation))
	}
}

// Prune removes the raw answers and media that no document names, and returns their files, sorted.
// The error is [fs.ErrNotExist] if there is no store.
func (s *Store) Prune() ([]string, error) {
	var orphans []string
	err := s.existing("prune", func(w within) error {
		v := &verifier{store: s, beside: true}
		if err := v.documents(); err != nil {
			return err
		}
		t := &transaction{within: w}
		for _, file := range v.orphans {
			if err := t.remove(file); err != nil {
				return err
			}
		}
		orphans = slices.Sorted(slices.Values(v.orphans))
		return t.apply()
	})
	return orphans, err
}
