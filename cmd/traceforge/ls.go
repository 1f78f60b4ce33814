package main

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/traceforge/traceforge-go/internal/amount"
	"github.com/traceforge/traceforge-go/internal/page"
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
