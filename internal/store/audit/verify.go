package audit

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/internal/conflict"
	"github.com/traceforge/traceforge-go/internal/inorder"
	"github.com/traceforge/traceforge-go/internal/spelling"
	"github.com/traceforge/traceforge-go/internal/store"
	"github.com/traceforge/traceforge-go/snapshot"
)

// A Result is the result of [Verify].
type Result struct {
	Findings  []snapshot.Finding // faults, sorted
	Notes     []snapshot.Finding // observations that are not faults, sorted
	Documents int
	Calls     int
}

// Verify examines every file of the store and returns everything that is wrong. It changes nothing, and writers wait
// for it. It uses all cores, and keeps little of each document in memory. The error is [fs.ErrNotExist] if there is no
// store.
func Verify(s *store.Store, checks ...store.Check) (*Result, error) {
	return verified(s, checks, (*verifier).verify)
}

// verified calls verify while no other process writes.
func verified(s *store.Store, checks []store.Check, verify func(*verifier)) (*Result, error) {
	for {
		unlock, err := s.ReadLock()
		if err != nil {
			return nil, fmt.Errorf("verify: %w", err)
		}
		v := &verifier{store: s, checks: checks, beside: true}
		verify(v)
		result := v.sorted()
		if unlock == nil {
			_, absent := os.Lstat(s.Path(store.AttributesName))
			if absent == nil && (v.failed != nil || len(result.Findings) > 0) {
				continue // the first commit has begun in the meantime
			}
		} else {
			unlock()
		}
		if v.failed != nil {
			return nil, fmt.Errorf("verify: %w", v.failed)
		}
		return result, nil
	}
}

// verify examines the complete store.
func (v *verifier) verify() {
	v.documents()
	v.texts()
	v.checkManifest()
}

// sorted returns the result.
func (v *verifier) sorted() *Result {
	v.result.Findings = append(v.result.Findings, v.broken...)
	inorder.By(v.result.Findings, snapshot.Finding.Compare)
	v.result.Findings = slices.Compact(v.result.Findings)
	inorder.By(v.result.Notes, snapshot.Finding.Compare)
	return &v.result
}

// A verifier examines the documents of a store.
type verifier struct {
	store  *store.Store
	checks []store.Check
	beside bool // also examine the files next to documents

	listed []listedDocument // the documents
	inHead map[string]bool  // files in the last commit; nil until they are needed

	mu       sync.Mutex
	failed   error // the first error of reading, for which there is no result
	result   Result
	broken   []snapshot.Finding // faults of documents
	orphans  []string           // files next to documents that no document names
	manifest store.Manifest     // the manifest that would be derived, without its entries
}

// A listedDocument is a document whose file exists.
type listedDocument struct {
	provider, name string
	hasDir         bool           // there is a directory next to it
	records        []sealedRecord // its records
}

// A sealedRecord is a record's entry in a manifest, without its document's name. It is small, because a store may have
// very many.
type sealedRecord struct {
	number   int
	provider string // empty for the provider of the directory
	hash     [sha256.Size]byte
}

// entries yields the entries of the manifest that would be derived.
func (v *verifier) entries() iter.Seq[store.Entry] {
	return func(yield func(store.Entry) bool) {
		for _, doc := range v.listed {
			file := store.DocumentFile(doc.provider, doc.name)
			for _, r := range doc.records {
				e := store.Entry{ID: snapshot.ID(doc.name, r.number), Provider: cmp.Or(r.provider, doc.provider), File: file}
				if e.Hash = canon.Hash(fmt.Sprintf("sha256:%x", r.hash)); !yield(e) {
					return
				}
			}
		}
	}
}

func (v *verifier) report(file string, found ...snapshot.Violation) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, violation := range found {
		v.result.Findings = append(v.result.Findings, findingOf(file, violation))
	}
}

// fail notes an error of reading, if there is one.
func (v *verifier) fail(err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.failed = cmp.Or(v.failed, err)
}

// couldRead reports whether there was no error of reading a file. A fault of the file is a finding.
func (v *verifier) couldRead(file string, err error) bool {
	switch violation, ok := store.Unreadable(err); {
	case err == nil:
		return true
	case ok:
		v.report(file, violation)
	default:
		v.fail(err)
	}
	return false
}

func findingOf(file string, v snapshot.Violation) snapshot.Finding {
	return snapshot.Finding{File: file, Pointer: v.Pointer, Rule: v.Rule, Message: v.Message}
}

// texts examines the files that do not belong to a provider.
func (v *verifier) texts() {
	var wrong *snapshot.Error
	if _, err := v.store.Config(); errors.As(err, &wrong) {
		v.report(store.ConfigName, wrong.Violations...)
	}
	v.checkText(store.AttributesName, store.Attributes, store.LFSAttributes)
	v.checkText(store.IgnoreName, v.store.IgnoredText())
}

// checkText checks a file that commits write, which must have one of the given contents. It may be missing or empty
// only before the first commit.
func (v *verifier) checkText(name string, want ...string) {
	data, err := v.store.Read(name)
	if !errors.Is(err, fs.ErrNotExist) && !v.couldRead(name, err) {
		return
	}
	if !slices.Contains(want, string(data)) && (len(data) > 0 || !v.isEmpty()) {
		message := "is missing, or differs from what traceforge writes: traceforge repair, or the next commit, writes it"
		if _, lost := os.Lstat(v.store.Path(name)); err != nil && lost == nil {
			message = "is no regular file: remove it, and traceforge repair, or the next commit, writes it"
		}
		v.report(name, snapshot.Violation{Rule: snapshot.RuleAttributes, Message: message})
	}
}

// isEmpty reports whether no commit has written into the store, or only begins to. Pending answers may wait in it.
func (v *verifier) isEmpty() bool {
	early := []string{store.AttributesName, store.IgnoreName, store.HolderName, store.PendingName, linkName}
	entries, err := os.ReadDir(v.store.Path(""))
	return err == nil &&
		!slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return !slices.Contains(early, e.Name()) })
}

// documents examines all documents in parallel.
func (v *verifier) documents() {
	v.walk()
	inorder.By(v.listed, func(a, b listedDocument) int { // in the order of the manifest; those of a provider are sorted
		if a.provider == b.provider {
			return 0
		}
		return cmp.Compare(a.provider+"/", b.provider+"/")
	})
	v.duplicates()
	v.lookAtAll()
}

// lookAtAll examines the listed documents on all cores.
func (v *verifier) lookAtAll() {
	var next atomic.Int64
	var all sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		all.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(v.listed)); i = next.Add(1) - 1 {
				of := &v.listed[i]
				of.records = v.look(v.store.NewDoc(of.provider, of.name, nil), of.hasDir)
			}
		})
	}
	all.Wait()
}

// duplicates reports documents that exist under two providers.
func (v *verifier) duplicates() {
	first := make(map[string]string, len(v.listed))
	for _, doc := range v.listed {
		if other, ok := first[doc.name]; ok {
			v.report(store.DocumentFile(doc.provider, doc.name), store.SameTest(store.DocumentFile(other, doc.name)))
		}
		first[doc.name] = doc.provider
	}
}

// look examines a document and the files next to it, and returns the manifest entries of its records.
func (v *verifier) look(doc *store.Doc, hasDir bool) []sealedRecord {
	data, err := v.store.ReadWhole(doc.File()) // it is no link: see walkProvider and listNamed
	if err != nil {
		v.count(nil)
		if violation, ok := store.Unreadable(err); ok {
			v.breaks(doc, violation)
		} else {
			v.fail(err)
		}
		return nil
	}
	var wrong []snapshot.Violation
	if doc.Document, wrong = spelling.Examine(data); doc.Document == nil {
		v.count(snapshot.ParseUnsealed(data))
		v.breaks(doc, store.Explained(doc.Name, data, append(wrong, v.altered(doc, data)...))...)
		return nil
	}
	if misnamed := store.Misnamed(doc.Name, doc.Document); len(misnamed) > 0 {
		wrong = append(wrong, store.Explained(doc.Name, data, misnamed)...)
	}
	if v.beside {
		v.lookBeside(doc, hasDir)
		if len(wrong) == 0 {
			for _, check := range v.checks {
				wrong = append(wrong, check(doc)...)
			}
		}
	}
	v.breaks(doc, wrong...)
	v.count(doc.Document)
	v.mu.Lock()
	defer v.mu.Unlock()
	v.manifest.Span(doc.Document)
	records := make([]sealedRecord, len(doc.Document.Snapshots))
	for i := range records {
		record := &doc.Document.Snapshots[i]
		records[i].number, records[i].provider = record.Number(), strings.Clone(record.Provider)
		_, _ = hex.Decode(records[i].hash[:], []byte(record.Hash.Hex())) // always valid
	}
	return records
}

// count counts a document and its calls; doc is nil if the calls are unknown.
func (v *verifier) count(doc *snapshot.Document) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.result.Documents++
	if doc != nil {
		v.result.Calls += len(doc.Snapshots)
	}
}

// altered describes which answers of a document with wrong hashes were changed, as far as the raw answers show.
func (v *verifier) altered(doc *store.Doc, data []byte) (wrong []snapshot.Violation) {
	changed := *doc
	if changed.Document = snapshot.ParseUnsealed(data); changed.Document == nil || !v.beside {
		return nil
	}
	for _, check := range v.checks {
		wrong = append(wrong, check(&changed)...)
	}
	return slices.DeleteFunc(wrong, func(w snapshot.Violation) bool { return w.Rule != snapshot.RuleAnswer })
}

// breaks notes faults of a document.
func (v *verifier) breaks(doc *store.Doc, wrong ...snapshot.Violation) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, violation := range wrong {
		v.broken = append(v.broken, findingOf(strings.Clone(doc.File()), violation))
	}
}

// Prune removes the raw answers and media that no document names, and returns their files, sorted. The error is
// [fs.ErrNotExist] if there is no store.
func Prune(s *store.Store) ([]string, error) {
	var orphans []string
	err := existing(s, "prune", func(w store.Writer) error {
		v := &verifier{store: s, beside: true}
		if v.documents(); v.failed != nil {
			return v.failed
		}
		t := s.Begin(w)
		for _, file := range v.orphans {
			if err := t.Remove(file); err != nil {
				return err
			}
		}
		orphans = inorder.Strings(v.orphans)
		return t.Apply()
	})
	return orphans, err
}

// lookBeside examines the files next to a document.
func (v *verifier) lookBeside(doc *store.Doc, hasDir bool) {
	named := map[string]store.Need{}
	for _, n := range store.Needs(doc.Document) {
		named[n.Own] = n
	}
	var owns []string
	if hasDir {
		owns = v.owned(doc.Provider + "/" + doc.Name)
	}
	for _, own := range owns {
		n, ok := named[own]
		if !ok {
			v.orphan(doc.Beside(own))
			continue
		}
		delete(named, own)
		v.checkBeside(doc, n)
	}
	for own, n := range named {
		v.report(doc.File(), snapshot.Violation{Pointer: n.Pointer(), Rule: n.Rule, Message: n.Missing(doc.Beside(own))})
	}
}

// orphan reports a file next to documents that no document names.
func (v *verifier) orphan(file string) {
	v.mu.Lock()
	v.orphans = append(v.orphans, file)
	v.mu.Unlock()
	v.stray(file, "is named by no record: traceforge prune removes it")
}

// checkBeside checks that a file has the hash in its document. It keeps small files for checks that read them again.
func (v *verifier) checkBeside(doc *store.Doc, n store.Need) {
	const small = 32 << 10 // bytes
	file := doc.Beside(n.Own)
	data, err := v.store.ReadWhole(file)
	if !v.couldRead(file, err) {
		return
	}
	got := canon.Sum(data)
	if got == n.Hash {
		if len(v.checks) > 0 && len(data) < small {
			doc.Keep(n.Hash, data)
		}
		return
	}
	violation := snapshot.Violation{Rule: n.Rule, Message: n.Altered(got, doc.Name)}
	if store.Pointed(data) == n.Hash {
		violation.Rule, violation.Message = snapshot.RulePointer, store.NotFetched
	}
	if line, kinds := conflict.Line(data); kinds == 3 {
		violation.Rule = snapshot.RuleConflict
		violation.Message = fmt.Sprintf("line %d is a conflict marker of a merge", line)
	}
	v.report(file, violation)
}
