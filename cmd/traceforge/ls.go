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

	"github.com/traceforge/traceforge-go/internal/amount"
	"github.com/traceforge/traceforge-go/internal/page"
	"github.com/traceforge/traceforge-go/snapshot"
)

// A testList is what ls prints for a program.
type testList struct {
	Tests []entry `json:"tests"` // a test each, or with --calls a call
	Total sums    `json:"total"` // of all that is listed
}

func list(c *call) error {
	f, err := filterOf(c, time.Now())
	if err != nil {
		return usageError{err}
	}
	s, _, err := c.store()
	if err != nil {
		return err
	}
	rows, broken := rowsOf(s, c.is("calls"), f.holds)
	slices.SortFunc(rows, f.order)
	total := sums{}
	for i := range rows {
		total.add(rows[i].sums)
		for _, name := range rows[i].names() {
			*name = c.secrets.Mask(*name)
		}
	}
	if c.is("json") {
		err = c.json(testList{orEmpty(rows), total})
	} else {
		c.table(tableOf(rows, c.is("calls"), f.now, c.terminal))
		c.say("%s", tally(&total, len(rows), c.is("calls")))
	}
	return errors.Join(err, broken)
}

// A filter says which lines are listed, and in what order.
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

// orders are the orders of lines. Lines that are equal in one have that of their names.
var orders = map[string]func(a, b entry) int{
	"name": func(a, b entry) int { return 0 },
	"tokens": func(a, b entry) int {
		return cmp.Compare(b.Tokens.Input+b.Tokens.Output, a.Tokens.Input+a.Tokens.Output)
	},
	"size":  func(a, b entry) int { return cmp.Compare(b.bytes(), a.bytes()) },
	"calls": func(a, b entry) int { return cmp.Compare(b.Calls, a.Calls) },
	"age": func(a, b entry) int {
		if a.Recorded == nil || b.Recorded == nil { // it is pending, and comes last
			return cmp.Compare(b.Calls, a.Calls)
		}
		return a.Recorded.Compare(*b.Recorded)
	},
}

// orderNames are the names of the orders, as help has them.
var orderNames = []string{"name", "tokens", "size", "age", "calls"}

// filterOf returns what the user asked for.
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
		return cmp.Or(by(a, b), cmp.Compare(a.Test.Test, b.Test.Test), cmp.Compare(a.Package, b.Package),
			cmp.Compare(a.File, b.File), number(a.Call)-number(b.Call))
	}
	return f, nil
}

func number(id string) int {
	_, n, _ := snapshot.ParseID(id)
	return n
}

func (f *filter) holds(l *entry) bool {
	named := func(re *regexp.Regexp) bool { return re.MatchString(l.Test.Test) || re.MatchString(l.Package) }
	models := func(m modelUse) bool { return f.model.MatchString(m.Asked) || f.model.MatchString(m.Answered) }
	return (f.names == nil || slices.ContainsFunc(f.names, named)) &&
		(f.model.String() == "" || slices.ContainsFunc(l.Models, models)) &&
		(f.provider == "" || slices.Contains(l.Providers, f.provider)) &&
		(!f.stale || l.Stale > 0) && (!f.scripted || l.Scripted > 0) &&
		(f.older == 0 || l.Recorded != nil && f.now.Sub(*l.Recorded) > f.older) &&
		(f.larger == 0 || l.bytes() > f.larger)
}

// tableOf returns the table of lines. Numbers are round for people, and exact for programs.
func tableOf(rows []entry, calls bool, now time.Time, forPeople bool) *page.Table {
	first := page.Column{Name: "CALLS", Right: true}
	if calls {
		first = page.Column{Name: "CALL", Shrinks: true}
	}
	count := func(n int64) string {
		if n == 0 && forPeople {
			return ""
		}
		return strconv.FormatInt(n, 10)
	}
	return &page.Table{
		Columns: []page.Column{
			{Name: "TEST", Shrinks: true, Shown: true}, {Name: "PACKAGE", Shrinks: true}, first,
			{Name: "MODEL", Shrinks: true}, {Name: "IN", Right: true}, {Name: "OUT", Right: true},
			{Name: "AGE", Right: true}, {Name: "STALE", Right: true}, {Name: "SCRIPTED", Right: true}, {Name: "PENDING", Right: true},
			{Name: "SIZE", Right: true},
		},
		Rows: len(rows),
		Cell: func(row, column int) string {
			l := &rows[row]
			switch column {
			case 0:
				return cmp.Or(l.Test.Test, l.File)
			case 1:
				return l.Package
			case 2:
				if calls {
					return l.Call
				}
				return strconv.Itoa(l.Calls)
			case 3:
				return modelsOf(l.Models)
			case 4:
				return count(l.Tokens.Input)
			case 5:
				return count(l.Tokens.Output)
			case 6:
				return l.age(now, forPeople)
			case 7:
				return count(int64(l.Stale))
			case 8:
				return count(int64(l.Scripted))
			case 9:
				return count(int64(l.Pending))
			}
			if forPeople {
				return amount.Size(l.bytes())
			}
			return count(l.bytes())
		},
	}
}

func (l *entry) age(now time.Time, forPeople bool) string {
	switch {
	case l.Recorded == nil:
		return ""
	case forPeople:
		return amount.Age(now.Sub(*l.Recorded))
	}
	return l.Recorded.Format(time.RFC3339)
}

// modelsOf spells who was asked, and who answered.
func modelsOf(models []modelUse) string {
	words := make([]string, len(models))
	for i, m := range models {
		if words[i] = m.Asked; m.Answered != "" {
			words[i] += " → " + m.Answered
		}
	}
	return strings.Join(words, ", ")
}

// tally is the closing line.
func tally(total *sums, rows int, calls bool) string {
	var parts []string
	if !calls {
		parts = append(parts, page.Count(rows, "test", "tests"))
	}
	parts = append(parts, page.Count(total.Calls, "call", "calls"),
		fmt.Sprintf("%d tokens in, %d out", total.Tokens.Input, total.Tokens.Output), amount.Size(total.bytes()))
	if total.Stale > 0 {
		parts = append(parts, fmt.Sprintf("%d stale", total.Stale))
	}
	if total.Scripted > 0 {
		parts = append(parts, fmt.Sprintf("%d scripted", total.Scripted))
	}
	if total.Pending > 0 {
		parts = append(parts, fmt.Sprintf("%d pending", total.Pending))
	}
	return strings.Join(parts, ", ")
}
