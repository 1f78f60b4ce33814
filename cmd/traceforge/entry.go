package main

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unique"

	"github.com/traceforge/traceforge-go/internal/amount"
	"github.com/traceforge/traceforge-go/internal/inorder"
	"github.com/traceforge/traceforge-go/internal/lint"
	"github.com/traceforge/traceforge-go/internal/page"
	"github.com/traceforge/traceforge-go/internal/place"
	"github.com/traceforge/traceforge-go/internal/store"
)

// An entry is a line of ls: a test, or one of its calls. It holds no part of the document.
type entry struct {
	page.Test
	File      string     `json:"file"`               // the document, its path in the store
	Call      string     `json:"call,omitempty"`     // the id; empty: all of the test
	Providers []string   `json:"providers"`          // that were asked
	Models    []modelUse `json:"models"`             // that were asked
	Recorded  *time.Time `json:"recorded,omitempty"` // the oldest call; nil: all is pending
	sums
}

// A modelUse is a model that was asked, and who answered where that was another.
type modelUse struct {
	Asked    string `json:"asked"`              // as the request names it
	Answered string `json:"answered,omitempty"` // where the answer names another
}

// sums are counts of an entry, or the sums of several.
type sums struct {
	Calls    int        `json:"calls"`    // how many
	Tokens   tokenCount `json:"tokens"`   // of the answers
	Stale    int        `json:"stale"`    // answers that were adopted for another request
	Scripted int        `json:"scripted"` // answers that a script gave, and no model
	Pending  int        `json:"pending"`  // answers that wait
	Size     weight     `json:"size"`     // in bytes
}

type tokenCount struct {
	Input  int64 `json:"input"`  // tokens that were sent
	Output int64 `json:"output"` // tokens that were answered
}

type weight struct {
	Document int64 `json:"document"` // bytes of the document
	Raw      int64 `json:"raw"`      // bytes of its raw answers
}

func (s *sums) bytes() int64 { return s.Size.Document + s.Size.Raw }

func (s *sums) add(o sums) {
	s.Calls += o.Calls
	s.Tokens.Input += o.Tokens.Input
	s.Tokens.Output += o.Tokens.Output
	s.Stale += o.Stale
	s.Scripted += o.Scripted
	s.Pending += o.Pending
	s.Size.Document += o.Size.Document
	s.Size.Raw += o.Size.Raw
}

// rowsOf returns the entries of a store for which holds is true: one for each test, or with calls for each call. broken
// says what could not be read.
func rowsOf(s *store.Store, calls bool, holds func(*entry) bool) (rows []entry, broken error) {
	waiting, broken := pendingOf(s)
	add := func(all entry, each []entry) {
		if !calls {
			each = []entry{all}
		}
		rows = append(rows, slices.DeleteFunc(each, func(l entry) bool { return !holds(&l) })...)
	}
	unread := 0
	for doc, err := range place.Documents(s) {
		if err != nil {
			if unread++; unread == 1 {
				broken = errors.Join(broken, err)
			}
			continue
		}
		all, each := rowsOfDocument(doc)
		each = mark(&all, each, waiting[doc.Name])
		delete(waiting, doc.Name)
		add(all, each)
	}
	if unread > 1 {
		more := fmt.Errorf("and %s: traceforge verify tells of all", page.Count(unread-1, "document", "documents"))
		broken = errors.Join(broken, more)
	}
	for _, each := range waiting { // of tests of which nothing else is recorded
		all := each[0]
		all.Call, all.Pending = "", len(each)
		add(all, each)
	}
	return rows, broken
}

// pendingOf returns the calls that are pending, by the names of the documents.
func pendingOf(s *store.Store) (map[string][]entry, error) {
	waiting := map[string][]entry{}
	for doc, err := range place.Documents(s.Pending()) {
		if err != nil {
			return waiting, err
		}
		_, calls := rowsOfDocument(doc)
		for i := range calls {
			calls[i].Recorded, calls[i].sums = nil, sums{Pending: 1}
		}
		waiting[doc.Name] = calls
	}
	return waiting, nil
}

// mark counts what is pending of a test. It returns the test's calls with what is pending of each, and with calls
// that are only pending.
func mark(all *entry, calls, waiting []entry) []entry {
	all.Pending = len(waiting)
	for _, w := range waiting {
		i := slices.IndexFunc(calls, func(l entry) bool { return l.Call == w.Call })
		if i < 0 {
			calls = append(calls, w)
			continue
		}
		calls[i].Pending = 1
	}
	return calls
}

// rowsOfDocument returns the line of a document, and those of its calls.
func rowsOfDocument(doc *store.Doc) (all entry, calls []entry) {
	size, raw := lint.Sizes(doc)
	all = entry{Test: page.TestOf(doc.Document), File: doc.File()}
	for i := range doc.Document.Snapshots {
		record := &doc.Document.Snapshots[i]
		at := record.Timestamp
		one := entry{Test: all.Test, File: all.File, Call: strings.Clone(record.ID), Recorded: &at}
		one.Providers = []string{own(cmp.Or(record.Provider, doc.Provider))}
		all.Providers = inorder.With(all.Providers, one.Providers[0])
		if model := (modelUse{Asked: own(record.Request.Model)}); model.Asked != "" {
			if answered := record.Response.Model; answered != model.Asked {
				model.Answered = own(answered)
			}
			one.Models = []modelUse{model}
			all.Models = inorder.With(all.Models, model)
		}
		one.sums = sums{Calls: 1, Size: weight{Raw: raw[i]}}
		if used := record.Response.Usage; used != nil {
			one.Tokens = tokenCount{amount.Of(used.InputTokens), amount.Of(used.OutputTokens)}
		}
		if record.Response.Stale != "" {
			one.Stale = 1
		}
		if record.Source.Scripted != "" {
			one.Scripted = 1
		}
		if all.add(one.sums); all.Recorded == nil || at.Before(*all.Recorded) {
			all.Recorded = &at
		}
		calls = append(calls, one)
	}
	all.Size.Document = size
	return all, calls
}

// own returns a text that is no part of a document, and that all who have it share.
func own(text string) string { return unique.Make(text).Value() }
