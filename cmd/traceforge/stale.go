package main

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/traceforge/traceforge-go/internal/gotest"
	"github.com/traceforge/traceforge-go/internal/inorder"
	"github.com/traceforge/traceforge-go/internal/page"
	"github.com/traceforge/traceforge-go/internal/place"
	"github.com/traceforge/traceforge-go/internal/store"
	"github.com/traceforge/traceforge-go/snapshot"
)

// Rules of verify itself.
const (
	ruleStale   = "stale"   // answers that were adopted for a changed request
	rulePending = "waiting" // answers that are waiting for a decision
	ruleAge     = "age"     // answers that are older than config.json allows
)

// stales are the records whose answers were adopted for a request other than the one they answered (design R11).
type stales struct {
	ids   []string
	tests []page.Place
}

// look notes the stale records of a document.
func (s *stales) look(d *store.Doc) {
	for i := range d.Document.Snapshots {
		if record := &d.Document.Snapshots[i]; record.Response.Stale != "" {
			s.ids = append(s.ids, strings.Clone(record.ID)) // cloned, so that the document does not stay in memory
			test := page.TestOf(d.Document)
			of := page.Place{Package: test.Package, Test: test.Name}
			if test.OfProgram() {
				of.Command = strings.Clone(record.Source.Function)
			}
			s.tests = inorder.With(s.tests, of)
		}
	}
}

// held checks the number of records against a budget, which is a number; if it is empty, they are only reported.
func (s *stales) held(budget string) (found, notes []snapshot.Finding, err error) {
	most := 0
	if budget != "" {
		if most, err = strconv.Atoi(budget); err != nil || most < 0 {
			return nil, nil, usagef("--max-stale must be a number of records, is %s", gotest.Quote(budget))
		}
	}
	if len(s.ids) == 0 {
		return nil, nil, nil
	}
	slices.Sort(s.ids)
	have := page.Count(len(s.ids), "record has an answer that was", "records have answers that were")
	told := snapshot.Finding{Rule: ruleStale, Message: have + " adopted for a changed request"}
	if budget == "" || len(s.ids) <= most {
		told.Message += ": traceforge ls --stale lists them"
		return nil, []snapshot.Finding{told}, nil
	}
	told.Message += fmt.Sprintf(", and at most %d may: %s; buy them again: %s", most,
		strings.Join(page.Most(filesShown, s.ids, "more"), ", "), page.Again(s.tests, ""))
	return []snapshot.Finding{told}, nil, nil
}

// notePending reports answers that are waiting for a decision, which are not a failure.
func notePending(c *call, s *store.Store) []snapshot.Finding {
	pending := s.Pending()
	files, err := pending.List()
	if c.fail(err); len(files) == 0 {
		return nil
	}
	calls, broken := 0, 0
	for _, file := range files {
		if doc, err := place.Load(pending, file); err == nil {
			calls += len(doc.Document.Snapshots)
		} else {
			broken++
		}
	}
	message := page.Count(calls, "answer waits", "answers wait") +
		" for a decision, which replay does not read: traceforge accept shows them"
	if broken > 0 {
		message += fmt.Sprintf(", and %s of them cannot be read: traceforge reject removes them",
			page.Count(broken, "document", "documents"))
	}
	return []snapshot.Finding{{File: store.PendingName, Rule: rulePending, Message: message}}
}

// agedShown is the maximum number of documents reported, the oldest first; once these are fixed, verify names the next
// ones.
const agedShown = 20

// ages are the documents of a store that are too old. It does not hold the documents themselves, since a store may have
// very many.
type ages struct {
	most store.MaxAge
	now  time.Time
	docs []agedDocument
}

// An agedDocument is the description of a document, and the times at which its answers were bought.
type agedDocument struct {
	snapshot.Finding
	fails  bool
	bought []time.Time // sorted
}

// look checks a document, which must not stay in memory.
func (a *ages) look(d *store.Doc) {
	var bought []time.Time
	for i := range d.Document.Snapshots {
		bought = append(bought, d.Document.Snapshots[i].Timestamp)
	}
	a.note(d.File(), &d.Document.Snapshots[0].Source, bought)
}

// everDays is longer than the age that any record can have; AddDate overflows far beyond it.
const everDays = 10_000_000

// note adds a document if it has answers that are too old.
func (a *ages) note(file string, of *snapshot.Source, bought []time.Time) {
	slices.SortFunc(bought, time.Time.Compare)
	for _, days := range []int{a.most.Fail, a.most.Warn} {
		n, _ := slices.BinarySearchFunc(bought, a.now.AddDate(0, 0, -min(days, everDays)), time.Time.Compare)
		if days == 0 || n == 0 {
			continue
		}
		again := page.Again([]page.Place{{Package: of.Package, Test: of.Test, Command: of.Function}}, "all")
		message := fmt.Sprintf("%s older than %s, the oldest of %s: %s", page.Count(n, "answer is", "answers are"),
			page.Count(days, "day", "days"), bought[0].UTC().Format(time.DateOnly), again)
		a.docs = append(a.docs,
			agedDocument{snapshot.Finding{File: file, Rule: ruleAge, Message: message}, days == a.most.Fail, bought})
		return
	}
}

// held returns the findings and notes about the documents.
func (a *ages) held() (found, notes []snapshot.Finding) {
	slices.SortFunc(a.docs, func(x, y agedDocument) int {
		return cmp.Or(slices.CompareFunc(x.bought, y.bought, time.Time.Compare), cmp.Compare(x.File, y.File))
	})
	for _, doc := range a.docs {
		if doc.fails {
			found = append(found, doc.Finding)
		} else {
			notes = append(notes, doc.Finding)
		}
	}
	return shownOf(found), shownOf(notes)
}

func shownOf(all []snapshot.Finding) []snapshot.Finding {
	if len(all) <= agedShown {
		return all
	}
	more := page.Count(len(all)-agedShown, "more document has", "more documents have")
	return append(all[:agedShown:agedShown], snapshot.Finding{Rule: ruleAge,
		Message: more + " answers that are as old: TRACEFORGE_UPDATE=all go test ./..."})
}
