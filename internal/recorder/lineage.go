package recorder

import (
	"bytes"
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/traceforge/traceforge-go/internal/drift"
	"github.com/traceforge/traceforge-go/internal/gotest"
	"github.com/traceforge/traceforge-go/internal/inorder"
	"github.com/traceforge/traceforge-go/internal/locked"
	"github.com/traceforge/traceforge-go/internal/store"
	"github.com/traceforge/traceforge-go/internal/usage"
	"github.com/traceforge/traceforge-go/snapshot"
)

// inherit gives a test without a document the one that it had under another name (design R11), so that nothing is
// bought again. It takes the most probable document of Known with the same first request, else the most similar one. It
// takes none if two are equally probable and differ. The document of a test that is gone moves. A parent or subtest may
// still exist, so its document is copied, to one test only.
func (r *run) inherit(c *call) error {
	if len(r.Known) == 0 || !modes[r.Mode].completes && r.Mode != Rekey {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.tape != nil {
		return nil
	}
	if _, err := r.store.Load(r.name, c.provider); !errors.Is(err, fs.ErrNotExist) {
		return nil // other code reports the error
	}
	likely := r.mayBeOf()
	same := slices.DeleteFunc(slices.Clone(likely), func(k usage.Known) bool { return !r.mayBegin(k, c) })
	if len(same) == 0 {
		same = r.likest(likely, c)
	} else if same = r.onlyFirst(same, c); same == nil {
		return nil
	}
	for _, k := range same {
		if _, had := heirs.Add([2]string{r.Dir, k.Name}, r.Test); had {
			continue
		}
		move := store.Move{Name: k.Name, Package: r.Package, Test: r.Test}
		var err error
		if k.Gone {
			_, err = r.store.Move(move)
		} else {
			err = r.store.Copy(move)
		}
		if errors.Is(err, fs.ErrNotExist) { // another test was faster
			continue
		}
		r.inherited = k.Name
		return err
	}
	return nil
}

// heirs has the tests of this process that documents were given to, by store and document.
var heirs locked.Map[[2]string, string]

// onlyFirst returns the most probable of the documents that a test may have had. It returns none if they differ.
func (s *setup) onlyFirst(known []usage.Known, c *call) []usage.Known {
	first := s.tapeOf(known[0].Name, c)
	for i, k := range known[1:] {
		if s.unlike(k) > s.unlike(known[0]) {
			return known[:i+1]
		}
		if !first.equals(s.tapeOf(k.Name, c)) {
			return nil
		}
	}
	return known
}

// equals reports whether two tapes have the same calls and answers.
func (t *tape) equals(o *tape) bool {
	same := len(t.records) == len(o.records)
	for i := range t.records {
		same = same && t.key(i) == o.key(i) && store.SameAnswer(&t.records[i].Response, &o.records[i].Response)
	}
	return same
}

// likest returns the document of a gone test of the package whose first request is most similar to a call. It returns
// none if two are equally similar.
func (s *setup) likest(known []usage.Known, c *call) []usage.Known {
	compare := drift.NewComparer(s.Ignored)
	got, _ := compare.Request(c.request) // the call has a key
	var gone []usage.Known
	var first []*drift.Request
	for _, k := range known {
		if !k.Gone || k.Package != s.Package {
			continue
		}
		doc, err := s.store.Load(k.Name, c.provider)
		if err != nil {
			continue
		}
		recorded, _ := compare.Request(&doc.Document.Snapshots[0].Request) // a record has a core
		gone, first = append(gone, k), append(first, recorded)
	}
	if i := compare.Likest(got, first); i >= 0 {
		return gone[i : i+1]
	}
	return nil
}

// mayBeOf returns the documents that the test may have had under another name, the most probable first.
func (s *setup) mayBeOf() []usage.Known {
	likely := slices.DeleteFunc(slices.Clone(s.Known), func(k usage.Known) bool {
		_, given := heirs.Get([2]string{s.Dir, k.Name})
		return given || k.Name == s.name ||
			!k.Gone && (k.Package != s.Package || gotest.Function(k.Test) != gotest.Function(s.Test))
	})
	inorder.By(likely, func(a, b usage.Known) int { return cmp.Compare(s.unlike(a), s.unlike(b)) })
	return likely
}

// unlike returns how improbable it is that the test had a document: 0 to 3.
func (s *setup) unlike(k usage.Known) int {
	switch {
	case k.Test == s.Test:
		return 0
	case k.Package == s.Package && path.Base(k.Test) == path.Base(s.Test):
		return 1
	case k.Package == s.Package:
		return 2
	}
	return 3
}

// begins has the keys of the first records of known documents, by store and document, under the rules of the store.
var begins locked.Map[[2]string, key]

// mayBegin reports whether a known document may be that of a test that begins with a call: its first record must be of
// the call. If the document's test is gone and had this test's name, as in a package that moved, any record will do,
// since calls may be concurrent. Many new subtests ask about the same siblings, so each document is read once.
func (s *setup) mayBegin(k usage.Known, c *call) bool {
	at, anyWillDo := [2]string{s.Dir, k.Name}, k.Gone && k.Test == s.Test
	if first, isRead := begins.Get(at); isRead && first != c.key && len(s.Scrub) == 0 && !anyWillDo {
		return false
	}
	t := s.tapeOf(k.Name, c)
	if len(t.records) == 0 {
		return false
	}
	if len(s.Scrub) == 0 {
		begins.Set(at, t.key(0))
	}
	return t.key(0) == c.key || anyWillDo && len(t.equalTo(c.key)) > 0
}

// tapeOf returns the tape of a document of a call's provider. It is empty if the document cannot be read.
func (s *setup) tapeOf(name string, c *call) *tape {
	doc, _ := s.store.Load(name, c.provider) // nil on an error
	return newTape(doc, s.rules)
}

// parents returns the tapes of the tests around a subtest, the nearest first.
func (r *run) parents(provider string) []*tape {
	if r.above != nil || r.Program != nil {
		return r.above
	}
	r.above = []*tape{}
	for end := strings.LastIndexByte(r.Test, '/'); end > 0; end = strings.LastIndexByte(r.Test[:end], '/') {
		if doc, err := r.store.Load(snapshot.DocumentName(r.Package, r.Test[:end]), provider); err == nil {
			r.above = append(r.above, newTape(doc, r.rules))
		}
	}
	return r.above
}

// split serves a call of a subtest without records from a tape of a test around it. Splitting a test into subtests thus
// buys nothing again. The outer test keeps its record, which it may still use.
func (r *Recorder) split(c *call, lifted string) *servedRecord {
	if r.run.Mode.makesAgain(c.codec.Tools) || r.run.tape == nil || len(r.run.tape.records) > 0 {
		return nil
	}
	return r.run.adoptFrom(r.run.parents(c.provider), c, lifted)
}

// goneTestsOf has the documents of tests that a module no longer has, by store and package. A process looks for each
// once.
var goneTestsOf locked.Map[[2]string, func() map[string]usage.Known]

// goneTests returns the gone tests of the package, and those of packages that are gone, by their documents. Only a
// failed test asks: a replay that passes lists no directory, since go test would otherwise run it again after another
// recording (design R13). A large store is not read.
func (s *setup) goneTests() map[string]usage.Known {
	const most = 1000 // documents
	look := sync.OnceValue(func() map[string]usage.Known {
		tests, sources := map[string]usage.Known{}, s.Sources()
		there := func(test string) bool {
			declared := []byte("\nfunc " + gotest.Function(test) + "(")
			return slices.ContainsFunc(sources, func(text []byte) bool { return bytes.Contains(text, declared) })
		}
		_, root, _ := gotest.Here() // empty outside of a module
		own := gotest.ModulePath(root) + "/"
		hasLeft := func(pkg string) bool {
			dir, isOwn := strings.CutPrefix(pkg, own)
			_, err := os.Stat(filepath.Join(root, filepath.FromSlash(dir)))
			return root != "" && isOwn && errors.Is(err, fs.ErrNotExist)
		}
		files, err := s.store.List()
		if err != nil || len(files) > most || !there(s.Test) { // the sources may be elsewhere
			return nil
		}
		for _, file := range files {
			name := strings.TrimSuffix(path.Base(file), ".json")
			doc, err := s.store.Load(name, path.Dir(file))
			if err != nil {
				continue // an unreadable document belongs to no test
			}
			of := doc.Document.Snapshots[0].Source
			isGone := of.Package == s.Package && !there(of.Test) || of.Package != s.Package && hasLeft(of.Package)
			if isGone && gotest.Kind(gotest.Function(of.Test)) != "" {
				tests[name] = usage.Known{Package: strings.Clone(of.Package), Test: strings.Clone(of.Test)}
			}
		}
		return tests
	})
	found, _ := goneTestsOf.Add([2]string{s.Dir, s.Package}, look)
	return found()
}

// renamedFrom says, for a test without records, which enclosing or gone tests have recorded its call, and how to
// continue with those records. move is the command that gives them to this test, if it is the only way. Both are "" if
// there is no such test.
func (r *run) renamedFrom(c *call) (text, move string) {
	if r.sought || len(r.tape.records) > 0 || r.Mode != Replay && r.Mode != Check {
		return "", ""
	}
	for _, t := range r.parents(c.provider) {
		if _, how := t.find(c.key); how == found {
			r.sought = true
			return t.records[0].Source.Test + " has this call recorded: recording takes its answer, and makes no call", ""
		}
	}
	if r.Sources == nil {
		return "", ""
	}
	var was []usage.Known
	for name, test := range r.goneTests() {
		if (test.Package == r.Package || test.Test == r.Test) && len(r.tapeOf(name, c).equalTo(c.key)) > 0 {
			was = append(was, test)
		}
	}
	if len(was) == 0 {
		return "", ""
	}
	r.sought = true // the test is told once
	if len(was) > 1 {
		var names []string
		for _, k := range was {
			names = append(names, k.Test)
		}
		return strings.Join(inorder.Strings(names)[:min(3, len(names))], ", ") +
			", which are not in the code any more, have this call recorded; if one of them was renamed, traceforge mv keeps its records", ""
	}
	from, to := was[0].Test, r.Test
	if _, sub, _ := strings.Cut(from, "/"); gotest.Function(to)+"/"+sub == to || sub == "" && gotest.Function(to) == to {
		from, to = gotest.Function(from), gotest.Function(to)
	}
	from, what := r.Package+"."+from, "it was renamed"
	if was[0].Package != r.Package {
		from, to, what = was[0].Package, r.Package, "its package moved"
	}
	move = "traceforge mv " + gotest.Quote(from) + " " + gotest.Quote(to)
	return was[0].Test + ", which is not in the code any more, has this call recorded; if " + what +
		", keep its records: " + move, move
}
