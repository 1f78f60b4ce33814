package main

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/traceforge/traceforge-go/internal/page"
	"github.com/traceforge/traceforge-go/internal/store"
	"github.com/traceforge/traceforge-go/snapshot"
)

// ruleAge is the rule of verify's own for answers that are older than config.json allows.
const ruleAge = "age"

// agedShown is how many documents are told of, the oldest first; when these are done, verify names the next.
const agedShown = 20

// Ages are those of the documents of a store that are too old, as a store may have very many.
type ages struct {
	most store.MaxAge
	now  time.Time
	docs []agedDocument
}

// An agedDocument is what is said of a document, and the times at which its answers were bought.
type agedDocument struct {
	snapshot.Finding
	fails  bool
	bought []time.Time // sorted
}

// look looks at a document, which must not stay in memory.
func (a *ages) look(d *store.Doc) {
	var bought []time.Time
	for i := range d.Document.Snapshots {
		bought = append(bought, d.Document.Snapshots[i].Timestamp)
	}
	a.note(d.File(), &d.Document.Snapshots[0].Source, bought)
}

// note notes a document if it has answers that are too old.
func (a *ages) note(file string, of *snapshot.Source, bought []time.Time) {
	slices.SortFunc(bought, time.Time.Compare)
	for _, days := range []int{a.most.Fail, a.most.Warn} {
		n, _ := slices.BinarySearchFunc(bought, a.now.AddDate(0, 0, -days), time.Time.Compare)
		if days == 0 || n == 0 {
			continue
		}
		message := fmt.Sprintf("%s older than %s, the oldest of %s: %s", page.Count(n, "answer is", "answers are"), page.Count(days, "day", "days"),
			bought[0].UTC().Format(time.DateOnly), page.Again([]page.Place{{Package: of.Package, Test: of.Test, Command: of.Function}}, "all"))
		a.docs = append(a.docs, agedDocument{snapshot.Finding{File: file, Rule: ruleAge, Message: message}, days == a.most.Fail, bought})
		return
	}
}

// held returns what is said of the documents.
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
