package pack

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/contract"
	"github.com/traceforge/traceforge-go/internal/store"
	"github.com/traceforge/traceforge-go/internal/usage"
	"github.com/traceforge/traceforge-go/modelio/session"
	"github.com/traceforge/traceforge-go/snapshot"
)

// A builder makes a pack, and passes on each of its files once.
type builder struct {
	Source
	put func(file string, data []byte) error
	run *Run

	failed     error  // the first error of put
	configured string // the store whose config.json, or lack of one, the pack has; empty at first
}

// build returns the run of a source, and puts all files of its pack except for run.json.
func build(from Source, put func(file string, data []byte) error) (*Run, error) {
	killed := slices.Compact(sorted(from.Killed))
	b := &builder{Source: from, put: put, run: &Run{
		Files: map[string]canon.Hash{}, Killed: killed, Outcome: "pass", Version: RunVersion, Tests: []Test{},
	}}
	if len(from.Killed) > 0 {
		b.run.Outcome = "fail"
	}
	receipts := b.receipts()
	for len(receipts) > 0 {
		n := 1
		for n < len(receipts) && receipts[n].Package == receipts[0].Package && receipts[n].Test == receipts[0].Test {
			n++
		}
		if err := b.test(receipts[:n]); err != nil {
			return nil, fmt.Errorf("%s in %s: %w", receipts[0].Test, receipts[0].Package, err)
		}
		receipts = receipts[n:]
	}
	return b.run, b.failed
}

// add puts a file unless it was put already.
func (b *builder) add(file string, data []byte) {
	if _, there := b.run.Files[file]; !there { // a file with two users is named by its content or by its test
		b.run.Files[file] = canon.Sum(data)
		b.failed = cmp.Or(b.failed, b.put(file, data))
	}
}

func (b *builder) ref(data []byte) { b.add(refFile(canon.Sum(data)), data) }

// config adds the settings that a store has for all its tests. All stores of a run must have the same, because replay
// has a single store for a pack.
func (b *builder) config(dir string) error {
	data, err := store.ReadFile(filepath.Join(dir, ConfigFile))
	none := errors.Is(err, fs.ErrNotExist)
	if err != nil && !none {
		return err
	}
	var is canon.Hash
	if !none {
		is = canon.Sum(data)
	}
	switch {
	case b.configured == "":
		b.configured = dir
	case is != b.run.Files[ConfigFile]:
		return fmt.Errorf("the %s of %s is not that of %s, and a pack has one: make a pack of the tests of each", ConfigFile,
			dir, b.configured)
	}
	if !none {
		b.add(ConfigFile, data)
	}
	return nil
}

// receipts adds the receipts, and returns them by package and test. They are sorted, since it differs between runs
// which process left a receipt, and which of two concurrent calls was answered first.
func (b *builder) receipts() (all []usage.Receipt) {
	type line struct {
		usage.Receipt
		text []byte
	}
	var lines []line
	for _, r := range b.Receipts {
		r.Played, r.Recorded, r.Unplayed = sorted(r.Played), sorted(r.Recorded), sorted(r.Unplayed)
		text, _ := json.Marshal(r) // contains only texts and numbers
		lines = append(lines, line{r, append(text, '\n')})
	}
	slices.SortFunc(lines, func(a, b line) int {
		return cmp.Or(cmp.Compare(a.Package, b.Package), cmp.Compare(a.Test, b.Test), bytes.Compare(a.text, b.text))
	})
	var text []byte
	for _, l := range lines {
		text, all = append(text, l.text...), append(all, l.Receipt)
	}
	b.add(ReceiptsFile, text)
	return all
}

func sorted(texts []string) []string { return slices.Sorted(slices.Values(texts)) }

// test adds a test with the receipts of its runs. The first has the worst outcome, since the words for outcomes are
// sorted from the worst to the best.
func (b *builder) test(receipts []usage.Receipt) error {
	t := Test{Outcome: receipts[0].Outcome, Package: receipts[0].Package, Test: receipts[0].Test}
	answered, all := map[string]bool{}, map[string]bool{}
	mode := session.ModeReplay
	for _, r := range receipts {
		t.Missing += r.Missing
		if len(r.Recorded) > 0 {
			mode = session.ModeRecord
		}
		for _, id := range slices.Concat(r.Played, r.Recorded) {
			answered[id], all[id] = true, true
		}
		for _, id := range r.Unplayed {
			all[id] = true
		}
	}
	if t.Outcome == "fail" {
		b.run.Outcome = "fail"
	}
	if len(all) > 0 {
		doc, err := b.document(&t, receipts, all)
		if err != nil {
			return err
		}
		if err := b.session(&t, doc, answered, mode); err != nil {
			return err
		}
	}
	b.run.Tests = append(b.run.Tests, t)
	return nil
}

// document adds a test's document, which contains the records with these ids, and everything that it names.
func (b *builder) document(t *Test, receipts []usage.Receipt, ids map[string]bool) (*store.Doc, error) {
	var name string
	for id := range ids {
		document, _, ok := snapshot.ParseID(id)
		if !ok || name != "" && document != name {
			return nil, fmt.Errorf("its receipts name the records of several documents, %s among them", id)
		}
		name = document
	}
	s, err := b.Store(receipts[0])
	if err != nil {
		return nil, err
	}
	if err := b.config(s.Dir()); err != nil {
		return nil, err
	}
	doc, err := s.Load(name, "openai")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf(
			"%s has no document %s, which its receipt names: the tests used another store (--dir names it), "+
				"or the document is gone since: run the tests again", s.Dir(), name)
	}
	if err != nil {
		return nil, err
	}
	for _, n := range store.Needs(doc.Document) {
		data, err := doc.Fetch(n)
		if err != nil {
			return nil, err
		}
		b.ref(data)
	}
	for i := range doc.Document.Snapshots {
		delete(ids, doc.Document.Snapshots[i].ID)
	}
	for id := range ids {
		return nil, fmt.Errorf(
			"%s has no record %s, which its receipt names: it was recorded again since: run the tests again", doc.File(), id)
	}
	if err := proves(receipts, doc); err != nil {
		return nil, err
	}
	data, err := store.ReadFile(filepath.Join(s.Dir(), filepath.FromSlash(doc.File())))
	if err != nil {
		return nil, err
	}
	t.Document = &Document{"documents/" + doc.File(), doc.Document.Hash}
	b.add(t.Document.File, data)
	return doc, nil
}

// proves checks that the receipts of a test's runs belong to its document in its current form. Receipts of runs that
// recorded must belong to the result of the last one.
func proves(receipts []usage.Receipt, doc *store.Doc) error {
	same := func(r usage.Receipt) bool { return r.Document == string(doc.Document.Hash) }
	for _, r := range receipts {
		earlier := len(r.Recorded) > 0 && slices.ContainsFunc(receipts, same)
		if len(r.Played)+len(r.Recorded)+len(r.Unplayed) > 0 && !same(r) && !earlier {
			return fmt.Errorf("%s has the hash %s, but its receipt names %q: it was written again since: run the tests again",
				doc.File(), doc.Document.Hash, r.Document)
		}
	}
	return nil
}

// session adds the session of the records that answered a test.
func (b *builder) session(t *Test, doc *store.Doc, answered map[string]bool, mode session.Mode) error {
	var played []snapshot.Snapshot
	var calls []Call
	for i, r := range doc.Records() {
		if !answered[r.ID] {
			continue
		}
		ref, err := b.envelope(doc, i, &r)
		if err != nil {
			return err
		}
		played, calls = append(played, r), append(calls, Call{r.Hash, r.ID, ref})
	}
	if len(played) == 0 {
		return nil
	}
	s, err := session.OfRecords("traceforge", models(played), played)
	if errors.Is(err, session.ErrLimit) {
		t.NoSession = err.Error()
		return nil
	}
	if err != nil {
		return err
	}
	s.Mode = mode
	hash, _ := s.Hash() // all strings of a snapshot are UTF-8
	data, _ := s.Encode()
	t.Session = &Session{calls, "sessions/" + doc.Name + "/model_io.json", hash}
	b.add(t.Session.File, data)
	return nil
}

// envelope adds the normalized envelope of a call's answer, and everything that it refers to. The ref is empty if the
// call is not a generation.
func (b *builder) envelope(doc *store.Doc, i int, r *snapshot.Snapshot) (canon.Hash, error) {
	raw, err := doc.Raw(i)
	if err != nil {
		return "", err
	}
	said, err := contract.FromSnapshot(contract.Record{Provider: doc.Provider, Snapshot: r, Raw: raw, Media: doc.Media})
	if errors.Is(err, contract.ErrUnsupported) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	refs := []canon.Hash{said.Receipt.OutputRef}
	if ref := said.Envelope.ReasoningRef; ref != nil {
		refs = append(refs, *ref)
	}
	if ref := said.Envelope.ToolCallsRef; ref != nil {
		refs = append(refs, *ref)
		var calls contract.ToolCallList
		if err := contract.ReadJSON(said, *ref, &calls); err != nil {
			return "", err
		}
		for _, c := range calls {
			refs = append(refs, c.ArgumentsRef)
		}
	}
	for _, ref := range refs {
		blob, _ := said.Blob(ref) // one of its own
		b.ref(blob)
	}
	return said.Receipt.OutputRef, nil
}

// models names the models of records, without duplicates: "openai.chat/gpt-4o".
func models(records []snapshot.Snapshot) string {
	var names []string
	for _, r := range records {
		name := r.Request.API + "/" + r.Request.Model
		names = append(names, strings.TrimPrefix(name, "/")) // other writers may name no API
	}
	slices.Sort(names)
	return strings.Join(slices.Compact(names), ", ")
}
