package main

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
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

// A testList is the output of ls --json.
type testList struct {
	Tests []entry `json:"tests"` // one entry for each test, or with --calls for each call
	Total sums    `json:"total"` // totals of all listed entries
}

func list(c *call, s *store.Store, _ string) error {
	f, err := filterOf(c, time.Now())
	if err != nil {
		return usageError{err}
	}
	rows, broken := rowsOf(s, c.is("calls"), f.holds)
	slices.SortFunc(rows, f.order)
	total := sums{}
	for i := range rows {
		total.add(rows[i].sums)
	}
	c.secrets.Hide(&rows)
	c.answer(testList{orEmpty(rows), total}, func() {
		c.table(tableOf(rows, c.is("calls"), f.now, c.terminal))
		c.say("%s", tally(&total, len(rows), c.is("calls")))
	})
	return broken
}

// A filter selects and orders the listed lines.
type filter struct {
	now      time.Time
	names    []*regexp.Regexp
	model    *regexp.Regexp
	provider string
	stale    bool
	scripted bool
	older    time.Duration
	larger   int64
	order    func(a, b entry) int
}

// orders are the sort orders of lines. Lines that compare equal are sorted by name.
var orders = map[string]func(a, b entry) int{
	"name": func(a, b entry) int { return 0 },
	"tokens": func(a, b entry) int {
		return cmp.Compare(b.Tokens.Input+b.Tokens.Output, a.Tokens.Input+a.Tokens.Output)
	},
	"size":  func(a, b entry) int { return cmp.Compare(b.bytes(), a.bytes()) },
	"calls": func(a, b entry) int { return cmp.Compare(b.Calls, a.Calls) },
	"age": func(a, b entry) int {
		if a.Recorded == nil || b.Recorded == nil { // pending entries come last
			return cmp.Compare(b.Calls, a.Calls)
		}
		return a.Recorded.Compare(*b.Recorded)
	},
}

// orderNames are the names of the orders, as in the help.
var orderNames = []string{"name", "tokens", "size", "age", "calls"}

// filterOf returns the filter that the user requested.
func filterOf(c *call, now time.Time) (f filter, err error) {
	f = filter{now: now, provider: c.value("provider"), stale: c.is("stale"), scripted: c.is("scripted")}
	for _, pattern := range c.args {
		re, err := regexp.Compile(pattern)
		if err != nil {
			return f, fmt.Errorf("FILTER is a regular expression of the test's name or package: %w", err)
		}
		f.names = append(f.names, re)
	}
	if f.model, err = regexp.Compile(c.value("model")); err != nil {
		return f, fmt.Errorf("--model is a regular expression: %w", err)
	}
	if text := c.value("older"); text != "" {
		if f.older, err = amount.ParseAge(text); err != nil {
			return f, fmt.Errorf("--older: %w", err)
		}
	}
	if text := c.value("larger"); text != "" {
		if f.larger, err = amount.ParseSize(text); err != nil {
			return f, fmt.Errorf("--larger: %w", err)
		}
	}
	by := orders[cmp.Or(c.value("sort"), "name")]
	if by == nil {
		return f, fmt.Errorf("--sort: %q is no order: there are %s", c.value("sort"), strings.Join(orderNames, ", "))
	}
	f.order = func(a, b entry) int {
		return cmp.Or(by(a, b), cmp.Compare(a.Test.Name, b.Test.Name), cmp.Compare(a.Package, b.Package),
			cmp.Compare(a.File, b.File), a.number-b.number)
	}
	return f, nil
}

func (f *filter) holds(l *entry) bool {
	named := func(re *regexp.Regexp) bool { return re.MatchString(l.Test.Name) || re.MatchString(l.Package) }
	models := func(m modelUse) bool { return f.model.MatchString(m.Asked) || f.model.MatchString(m.Answered) }
	return (f.names == nil || slices.ContainsFunc(f.names, named)) &&
		(f.model.String() == "" || slices.ContainsFunc(l.Models, models)) &&
		(f.provider == "" || slices.Contains(l.Providers, f.provider)) &&
		(!f.stale || l.Stale > 0) && (!f.scripted || l.Scripted > 0) &&
		(f.older == 0 || l.Recorded != nil && f.now.Sub(*l.Recorded) > f.older) &&
		(f.larger == 0 || l.bytes() > f.larger)
}

// tableOf returns the table of lines. Numbers are rounded for people, and exact for programs.
func tableOf(rows []entry, calls bool, now time.Time, forPeople bool) *page.Table {
	text := func(cell func(*entry) string) func(int) string {
		return func(row int) string { return cell(&rows[row]) }
	}
	count := func(number func(*entry) int64) func(int) string {
		return text(func(l *entry) string {
			if n := number(l); n != 0 || !forPeople {
				return strconv.FormatInt(n, 10)
			}
			return ""
		})
	}
	first := page.Column{Name: "CALLS", Right: true, Cell: text(func(l *entry) string { return strconv.Itoa(l.Calls) })}
	if calls {
		first = page.Column{Name: "CALL", Shrinks: true, Cell: text(func(l *entry) string { return l.Call })}
	}
	size := count((*entry).bytes)
	if forPeople {
		size = text(func(l *entry) string { return page.Size(l.bytes()) })
	}
	return &page.Table{Rows: len(rows), Columns: []page.Column{
		{Name: "TEST", Shrinks: true, Shown: true, Cell: text(func(l *entry) string { return cmp.Or(l.Test.Name, l.File) })},
		{Name: "PACKAGE", Shrinks: true, Cell: text(func(l *entry) string { return l.Package })},
		first,
		{Name: "MODEL", Shrinks: true, Cell: text(func(l *entry) string { return modelsOf(l.Models) })},
		{Name: "IN", Right: true, Cell: count(func(l *entry) int64 { return l.Tokens.Input })},
		{Name: "OUT", Right: true, Cell: count(func(l *entry) int64 { return l.Tokens.Output })},
		{Name: "AGE", Right: true, Cell: text(func(l *entry) string { return l.age(now, forPeople) })},
		{Name: "STALE", Right: true, Cell: count(func(l *entry) int64 { return int64(l.Stale) })},
		{Name: "SCRIPTED", Right: true, Cell: count(func(l *entry) int64 { return int64(l.Scripted) })},
		{Name: "PENDING", Right: true, Cell: count(func(l *entry) int64 { return int64(l.Pending) })},
		{Name: "SIZE", Right: true, Cell: size},
	}}
}

func (l *entry) age(now time.Time, forPeople bool) string {
	switch {
	case l.Recorded == nil:
		return ""
	case forPeople:
		return page.Age(now.Sub(*l.Recorded))
	}
	return l.Recorded.Format(time.RFC3339)
}

// modelsOf formats the requested models, and those that answered.
func modelsOf(models []modelUse) string {
	words := make([]string, len(models))
	for i, m := range models {
		if words[i] = m.Asked; m.Answered != "" {
			words[i] += " → " + m.Answered
		}
	}
	return strings.Join(words, ", ")
}

// tally returns the closing line.
func tally(total *sums, rows int, calls bool) string {
	var parts []string
	if !calls {
		parts = append(parts, page.Count(rows, "test", "tests"))
	}
	parts = append(parts, page.Count(total.Calls, "call", "calls"),
		fmt.Sprintf("%d tokens in, %d out", total.Tokens.Input, total.Tokens.Output), page.Size(total.bytes()))
	n := map[string]int{"stale": total.Stale, "scripted": total.Scripted, "pending": total.Pending}
	return strings.Join(append(parts, page.Counts([]string{"stale", "scripted", "pending"}, n)...), ", ")
}

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

// pendingOf returns the pending calls, by document name. broken reports the documents that could not be read.
func pendingOf(s *store.Store) (waiting map[string][]entry, broken error) {
	waiting = map[string][]entry{}
	for doc := range place.Readable(s.Pending(), &broken) {
		_, calls := rowsOfDocument(doc)
		for i := range calls {
			calls[i].Recorded, calls[i].sums = nil, sums{Pending: 1}
		}
		waiting[doc.Name] = calls
	}
	return waiting, broken
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
