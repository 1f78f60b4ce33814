package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
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
	if err := v.top(); err != nil {
		return nil, err
	}
	if err := v.documents(); err != nil {
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

// top looks at what is not of a provider.
func (v *verifier) top() error {
	entries, err := os.ReadDir(v.store.dir)
	if err != nil {
		return err
	}
	others := false
	for _, e := range entries {
		name := e.Name()
		others = others || name != attributesName && name != ignoreName && name != holderName
		switch {
		case e.IsDir() && (filename.Legal(name) || name == pendingName):
		case name == journalName:
			message := "a commit was cut short: traceforge repair finishes it or undoes it"
			v.report(name, snapshot.Violation{Rule: snapshot.RulePending, Message: message})
		case e.Type().IsRegular() && slices.Contains([]string{attributesName, ignoreName, configName, manifestName, holderName}, name):
		default:
			v.stray(name, strayMessage(e))
		}
	}
	var wrong *snapshot.Error
	if _, err := v.store.Config(); errors.As(err, &wrong) {
		v.report(configName, wrong.Violations...)
	}
	return errors.Join(v.checkText(attributesName, attributes, others), v.checkText(ignoreName, ignored, others))
}

// checkText checks a file that commits write. It may be missing, or still be empty, only where there
// is nothing else: then a first commit is about to begin.
func (v *verifier) checkText(name, want string, needed bool) error {
	data, err := v.store.read(name)
	if violation, ok := unreadable(err); err != nil && ok {
		v.report(name, violation)
		return nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if string(data) != want && (len(data) > 0 || needed) {
		message := "is missing, or differs from what traceforge writes: traceforge repair, or the next commit, writes it"
		v.report(name, snapshot.Violation{Rule: snapshot.RuleAttributes, Message: message})
	}
	return nil
}

// A listed is what a provider's directory has under one name.
type listed struct {
	provider, name string
	document       bool // a file
	dir            bool
}

// documents looks at all documents, in parallel.
func (v *verifier) documents() error {
	providers, err := v.store.providers()
	if err != nil {
		return err
	}
	var all []listed
	for _, provider := range providers {
		found, err := v.list(provider)
		if err != nil {
			return err
		}
		all = append(all, found...)
	}
	v.duplicates(all)
	entries := make([][]entry, len(all))
	err = each(all, func(i int, l listed, s *scratch) (err error) {
		entries[i], err = v.look(l, s)
		return err
	})
	v.manifest.Entries = slices.Concat(entries...)
	return err
}

// list returns what a provider's directory has, sorted by the documents' files.
func (v *verifier) list(provider string) ([]listed, error) {
	info, err := os.Lstat(v.store.path(provider))
	if err != nil || !info.IsDir() {
		return nil, err // a link is a finding already
	}
	entries, err := os.ReadDir(v.store.path(provider))
	if err != nil {
		return nil, err
	}
	var names []string
	found := map[string]*listed{}
	for _, e := range entries {
		name, ext := strings.TrimSuffix(e.Name(), documentExt), strings.HasSuffix(e.Name(), documentExt)
		if !filename.Legal(name) || !(ext && e.Type().IsRegular() || !ext && e.IsDir()) {
			v.stray(provider+"/"+e.Name(), strayMessage(e))
			continue
		}
		l := found[name]
		if l == nil {
			l = &listed{provider: provider, name: name}
			found[name] = l
			names = append(names, name)
		}
		l.document = l.document || ext
		l.dir = l.dir || !ext
	}
	slices.SortFunc(names, func(a, b string) int { return strings.Compare(a+documentExt, b+documentExt) })
	all := make([]listed, len(names))
	for i, name := range names {
		all[i] = *found[name]
	}
	return all, nil
}

// duplicates reports documents that are under two providers.
func (v *verifier) duplicates(all []listed) {
	first := make(map[string]string, len(all))
	for _, l := range all {
		if !l.document {
			continue
		}
		file := documentFile(l.provider, l.name)
		if other, ok := first[l.name]; ok {
			message := "is the document of the same test as " + other + ": delete one"
			v.report(file, snapshot.Violation{Rule: snapshot.RuleDuplicate, Message: message})
		}
		first[l.name] = file
	}
}

// A scratch is memory of one goroutine to read into.
type scratch struct {
	document []byte // a whole document
	piece    []byte // of a file that is hashed
}

// each calls f for each item, on all cores. It returns the first error that
// f does.
func each[T any](items []T, f func(i int, item T, s *scratch) error) error {
	var next atomic.Int64
	errs := make(chan error, runtime.GOMAXPROCS(0))
	for range cap(errs) {
		go func() {
			var err error
			s := &scratch{make([]byte, 0, pieceSize), make([]byte, pieceSize)}
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
func (v *verifier) look(l listed, s *scratch) ([]entry, error) {
	doc := &Doc{Provider: l.provider, Name: l.name, Document: &snapshot.Document{}, store: v.store}
	if !l.document {
		return nil, v.lookBeside(l, doc, s)
	}
	f, err := os.Open(v.store.path(doc.File()))
	if err != nil {
		return nil, err
	}
	data, err := readAll(f, v.store.maxBytes, s.document)
	if err != nil {
		violation, ok := unreadable(err)
		if !ok {
			return nil, err
		}
		v.breaks(doc, violation)
		return nil, nil
	}
	s.document = data
	var wrong []snapshot.Violation
	if doc.Document, wrong = snapshot.Examine(data); doc.Document == nil {
		v.breaks(doc, wrong...)
		return nil, nil
	}
	wrong = append(wrong, misnamed(l.name, doc.Document)...)
	if v.beside {
		if err := v.lookBeside(l, doc, s); err != nil {
			return nil, err
		}
		if len(wrong) == 0 {
			for _, check := range v.checks {
				wrong = append(wrong, check(doc)...)
			}
		}
	}
	v.breaks(doc, wrong...)
	v.mu.Lock()
	defer v.mu.Unlock()
	v.result.Documents++
	v.result.Calls += len(doc.Document.Snapshots)
	v.manifest.span(doc.Document)
	entries := entriesOf(l.provider, l.name, doc.Document)
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
