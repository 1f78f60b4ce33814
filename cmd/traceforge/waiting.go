package main

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/traceforge/traceforge-go/internal/drift"
	"github.com/traceforge/traceforge-go/internal/gotest"
	"github.com/traceforge/traceforge-go/internal/near"
	"github.com/traceforge/traceforge-go/internal/page"
	"github.com/traceforge/traceforge-go/internal/place"
	"github.com/traceforge/traceforge-go/internal/store"
	"github.com/traceforge/traceforge-go/snapshot"
)

// A waitingRecord is a pending record: what it says, and what changed against the record that it would replace.
type waitingRecord struct {
	ID string `json:"id"` // of the answer
	page.Test
	Replaces   bool     `json:"replaces"`             // a record of the document has its id
	Components []string `json:"components,omitempty"` // of the request that changed, and of the answer
	Answer     string   `json:"answer"`               // in a line
	TokensIn   *int64   `json:"tokens_in,omitempty"`  // where the answer says it
	TokensOut  *int64   `json:"tokens_out,omitempty"` // where the answer says it

	document string
	older    bool // than the answer of the same call that it would replace
}

// waitingIn returns the pending records of a store, in order, and the names of the documents that cannot be read. The error says
// why these cannot; without their names it says why nobody can tell what waits.
func waitingIn(c *call, s *store.Store) (all []waitingRecord, unread []string, err error) {
	pending := s.Pending()
	files, err := pending.List()
	if err != nil {
		return nil, nil, err
	}
	for _, file := range files {
		doc, broken := place.Load(pending, file)
		if broken == nil {
			if doc.Torn {
				c.say("%s: an answer that a killed run was about to keep is not whole, and left out", path.Join(pending.Dir(), file))
			}
			var records []waitingRecord
			records, broken = waitingOf(c, s, doc)
			all = append(all, records...)
		}
		if broken != nil {
			unread, err = append(unread, nameOf(file)), errors.Join(err, broken)
		}
	}
	return all, unread, err
}

func waitingOf(c *call, s *store.Store, doc *store.Doc) (all []waitingRecord, err error) {
	c.secrets.Hide(doc.Document)
	stored := map[string]*snapshot.Snapshot{}
	if was, err := s.Load(doc.Name, doc.Provider); err == nil { // else it is for accept to say
		c.secrets.Hide(was.Document)
		for i := range was.Document.Snapshots {
			stored[was.Document.Snapshots[i].ID] = &was.Document.Snapshots[i]
		}
	}
	for i := range doc.Document.Snapshots {
		record := &doc.Document.Snapshots[i]
		w := waitingRecord{ID: record.ID, Test: page.TestOf(doc.Document), Answer: page.Said(&record.Response), document: doc.Name}
		if u := record.Response.Usage; u != nil {
			w.TokensIn, w.TokensOut = u.InputTokens, u.OutputTokens
		}
		if was := stored[record.ID]; was != nil {
			w.Replaces = true
			request, answer, err := changed(was, record)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", record.ID, err)
			}
			w.Components = append(request, answer...)
			w.older = request == nil && answer != nil && was.Timestamp.After(record.Timestamp)
		}
		all = append(all, w)
	}
	return all, nil
}

// changed names what two records do not have alike.
func changed(was, now *snapshot.Snapshot) (request, answer []string, err error) {
	sent, err := drift.Compare(&was.Request, &now.Request, now.Source.Ignored)
	if err != nil {
		return nil, nil, err
	}
	for _, change := range sent {
		request = append(request, change.String())
	}
	said, err := drift.Answers(was, now)
	for _, change := range said {
		answer = append(answer, change.String())
	}
	return request, answer, err
}

// lines are what is listed of a pending record.
func (w *waitingRecord) lines() []string {
	const most = 100 // characters of a line
	title := w.ID
	if w.Test.Test != "" {
		title += "  " + w.Test.Test + " in " + w.Package
	}
	what := "new"
	if w.Replaces {
		what = "changed: " + strings.Join(w.Components, ", ")
		if len(w.Components) == 0 {
			what = "bought again: nothing changed"
		}
		if w.older {
			what = "older than the record; " + what
		}
	}
	lines := []string{title, "  " + page.Clip(what, most), "  answer: " + page.Clip(w.Answer, most)}
	var tokens []string // as far as they are known
	if w.TokensIn != nil {
		tokens = append(tokens, fmt.Sprintf("%d in", *w.TokensIn))
	}
	if w.TokensOut != nil {
		tokens = append(tokens, fmt.Sprintf("%d out", *w.TokensOut))
	}
	if tokens != nil {
		lines = append(lines, "  tokens: "+strings.Join(tokens, ", "))
	}
	return lines
}

// isOf reports whether word names a test or one of its parents, by name or with the package in front, as in
// example.com/shop.TestAsk.
func isOf(t page.Test, word string) bool {
	if ofPackage, ok := strings.CutPrefix(word, t.Package+"."); ok {
		word = ofPackage
	}
	return t.Test == word || strings.HasPrefix(t.Test, word+"/")
}

// meant says which of some names a word was meant to be; empty means none is near.
func meant(word string, names []string) string {
	if name := near.Name(word, names); name != "" {
		return ", did you mean " + gotest.Quote(name) + "?"
	}
	return ""
}

// pendingIDs are the ids of pending records that are not given yet.
func pendingIDs(s *store.Store, given []string) (ids []string) {
	for doc := range readable(s.Pending()) {
		for i := range doc.Document.Snapshots {
			ids = append(ids, doc.Document.Snapshots[i].ID)
		}
	}
	return slices.DeleteFunc(ids, func(id string) bool { return slices.Contains(given, id) })
}
