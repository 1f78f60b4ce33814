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

// An entry is a line of ls: a test, or one of its calls. It refers to no part of the document.
type entry struct {
	page.Test
	File      string     `json:"file"`               // path of the document in the store
	Call      string     `json:"call,omitempty"`     // id of the call; empty if the entry is a whole test
	Providers []string   `json:"providers"`          // providers that were called
	Models    []modelUse `json:"models"`             // models that were called
	Recorded  *time.Time `json:"recorded,omitempty"` // time of the oldest call; absent if all calls are pending
	sums
	number int // of the call
}

// A modelUse is a model that was requested, and the model that answered if it differs.
type modelUse struct {
	Asked    string `json:"asked"`              // model that the request names
	Answered string `json:"answered,omitempty"` // model that the answer names, if it differs
}

// sums are the counts of an entry, or the totals of several.
type sums struct {
	Calls    int        `json:"calls"`    // number of calls
	Tokens   tokenCount `json:"tokens"`   // tokens of the calls
	Stale    int        `json:"stale"`    // answers that were adopted for a request other than the one they answered
	Scripted int        `json:"scripted"` // answers that come from a script instead of a model
	Pending  int        `json:"pending"`  // answers that are waiting for a decision
	Size     weight     `json:"size"`     // sizes in bytes
}

type tokenCount struct {
	Input  int64 `json:"input"`  // tokens of the requests
	Output int64 `json:"output"` // tokens of the answers
}

type weight struct {
	Document int64 `json:"document"` // size of the document in bytes
	Raw      int64 `json:"raw"`      // size of its raw answers in bytes
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

// rowsOf returns the entries of a store for which holds is true: one for each test, or with calls one for each call.
// broken reports the parts that could not be read.
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
	for _, each := range waiting { // of tests that have no other records
		all := each[0]
		all.Call, all.Pending = "", len(each)
		add(all, each)
	}
	return rows, broken
}

// pendingOf returns the pending calls, by document name.
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

// mark counts the pending calls of a test. It returns the test's calls with the pending count of each, including calls
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

// rowsOfDocument returns the entry of a document, and the entries of its calls.
func rowsOfDocument(doc *store.Doc) (all entry, calls []entry) {
	size, raw := lint.Sizes(doc)
	all = entry{Test: page.TestOf(doc.Document), File: doc.File()}
	for i := range doc.Document.Snapshots {
		record := &doc.Document.Snapshots[i]
		at := record.Timestamp
		one := entry{Test: all.Test, File: all.File, Call: strings.Clone(record.ID), number: record.Number(), Recorded: &at}
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

// own returns a copy of text that does not keep the document in memory, and that equal texts share.
func own(text string) string { return unique.Make(text).Value() }
