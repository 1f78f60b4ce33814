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
	docs []documentAge
}

// A documentAge is a document and the times at which its answers were bought.
type documentAge struct {
	file   string
	again  string      // the command that buys all of its calls
	bought []time.Time // sorted
}

// look notes a document that has answers which are too old.
func (a *ages) look(d *store.Doc) {
	doc := documentAge{file: d.File()} // which must not keep the document in memory
	for i := range d.Document.Snapshots {
		doc.bought = append(doc.bought, d.Document.Snapshots[i].Timestamp)
	}
	slices.SortFunc(doc.bought, time.Time.Compare)
	if doc.olderThan(a.most.Fail, a.now) != nil || doc.olderThan(a.most.Warn, a.now) != nil {
		first := d.Document.Snapshots[0].Source
		doc.again = page.Again([]page.Place{{Package: first.Package, Test: first.Test, Command: first.Function}}, "all")
		a.docs = append(a.docs, doc)
	}
}

// held returns what is said of the documents.
func (a *ages) held() (found, notes []snapshot.Finding) {
	slices.SortFunc(a.docs, func(x, y documentAge) int {
		return cmp.Or(slices.CompareFunc(x.bought, y.bought, time.Time.Compare), cmp.Compare(x.file, y.file))
	})
	for _, doc := range a.docs {
		if f := doc.olderThan(a.most.Fail, a.now); f != nil {
			found = append(found, *f)
		} else if f := doc.olderThan(a.most.Warn, a.now); f != nil {
			notes = append(notes, *f)
		}
	}
	return shownOf(found), shownOf(notes)
}

// olderThan says that a document has answers that are older than so many days; nil where it has none.
func (d documentAge) olderThan(days int, now time.Time) *snapshot.Finding {
	if days == 0 {
		return nil
	}
	limit := now.AddDate(0, 0, -days)
	n, _ := slices.BinarySearchFunc(d.bought, limit, time.Time.Compare)
	if n == 0 {
		return nil
	}
	return &snapshot.Finding{File: d.file, Rule: ruleAge, Message: fmt.Sprintf(
		"%s older than %s, the oldest of %s: %s", page.Count(n, "answer is", "answers are"), page.Count(days, "day", "days"),
		d.bought[0].UTC().Format(time.DateOnly), d.again)}
}

func shownOf(all []snapshot.Finding) []snapshot.Finding {
	if len(all) <= agedShown {
		return all
	}
	more := page.Count(len(all)-agedShown, "more document has", "more documents have")
	return append(all[:agedShown:agedShown], snapshot.Finding{Rule: ruleAge,
		Message: more + " answers that are as old: TRACEFORGE_UPDATE=all go test ./..."})
}
