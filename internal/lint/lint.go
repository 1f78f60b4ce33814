// Package lint examines recorded traffic for problems that are not faults of the records, such as how the program uses
// models.
//
// Each [Rule] is a value. A [Linter] examines documents, on several goroutines at once, and keeps only findings and
// what it needs to compare documents. [Linter.Findings] returns the findings, grouped by cause. [Deterministic] and
// [Notes] are checks of each document that verify runs.
package lint

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/internal/page"
	"github.com/traceforge/traceforge-go/internal/store"
	"github.com/traceforge/traceforge-go/snapshot"
)

// A Rule looks for one problem in recorded traffic. docs/lint.md says what each finds, and why.
type Rule struct {
	Name string
	Fix  string // what to do, unless a finding says so

	look func(l *Linter, d *document, add adder)          // examines a document
	each func(l *Linter, d *document, c *call, add adder) // examines a call
	end  func(l *Linter, add adder)                       // runs after all documents
}

// An adder notes a finding of a rule at a place, which has its message. Findings with the same key have one cause. way
// says what to do; empty for the rule's own advice.
type adder func(key, way string, at Place)

// Rules returns all rules, in the order in which findings are reported.
func Rules() []Rule {
	return []Rule{scriptedAnswer, unpinnedModel, otherModel, foreignAnswer, cachePrefix, openSchema, noMaxTokens,
		largeDocument,
		largeAnswer, tokensPerTest, tokensOfAll, costPerTest, costOfAll}
}

// A Finding is one cause with all places where it was found.
type Finding struct {
	Rule    string  `json:"rule"`
	Message string  `json:"message"` // the message of the first place, with what to do
	Tests   int     `json:"tests"`
	Calls   int     `json:"calls"`  // 0 if it is about documents as a whole
	Places  []Place `json:"places"` // sorted
	way     string  // what to do, if a place says so
}

// Line returns the finding as one line: its first place, and how many there are.
func (f *Finding) Line() snapshot.Finding {
	first := f.Places[0]
	line := snapshot.Finding{File: first.File, Pointer: first.Pointer, Rule: f.Rule, Message: f.Message}
	var often []string
	if f.Calls > 1 {
		often = append(often, page.Count(f.Calls, "call", "calls"))
	}
	if f.Tests > 1 {
		often = append(often, page.Count(f.Tests, "test", "tests"))
	}
	switch count := strings.Join(often, " of "); {
	case count != "":
		line.Message += " (" + count + ", the first is " + first.Test.Name + ")"
	case first.Test.Name != "":
		line.Message += " (" + first.Test.Name + ")"
	}
	return line
}

// A Place is where something was found.
type Place struct {
	page.Test
	File    string `json:"file"`              // the document's path in the store; empty for all documents
	Call    string `json:"call,omitempty"`    // the call's id; empty for the complete document
	Pointer string `json:"pointer"`           // pointer into the file; empty for the complete file
	Message string `json:"message,omitempty"` // if it differs from the finding's
	number  int    // of the call
}

func (p Place) compare(q Place) int {
	return cmp.Or(cmp.Compare(p.File, q.File), p.number-q.number, cmp.Compare(p.Pointer, q.Pointer),
		cmp.Compare(p.Message, q.Message))
}

// A Linter examines the documents of one store. It is safe for concurrent use.
type Linter struct {
	config *store.Config
	rules  []Rule

	mu       sync.Mutex
	found    map[cause]*Finding
	silenced []bool   // whether each silence, by its index, silenced something
	tools    variants // variants of the tools and of the system prompts of requests
	systems  variants
	tokens   int64 // tokens that recording all documents again would take
	cost     float64
}

// A cause is what findings that are reported together have in common.
type cause struct{ rule, key string }

// New returns a linter with the settings of config.json.
func New(config *store.Config) *Linter {
	return &Linter{
		config: config, rules: Rules(), found: map[cause]*Finding{},
		silenced: make([]bool, len(config.Lint.Silences)),
		tools:    variants{}, systems: variants{},
	}
}

// Check is a [store.Check] that reports nothing: it adds a document to the linter.
func (l *Linter) Check(d *store.Doc) []snapshot.Violation {
	doc := newDocument(d, l.config.Prices)
	l.mu.Lock()
	l.tokens, l.cost = l.tokens+doc.tokens, l.cost+doc.cost
	l.mu.Unlock()
	for i := range l.rules {
		rule, add := &l.rules[i], l.adder(l.rules[i].Name)
		if rule.look != nil {
			rule.look(l, doc, add)
		}
		for n := range doc.calls {
			if rule.each != nil {
				rule.each(l, doc, &doc.calls[n], add)
			}
		}
	}
	return nil
}

// Findings returns the findings of all documents, sorted by rule and first place. Call it once, after all documents.
func (l *Linter) Findings() []Finding {
	var all []Finding
	for _, rule := range l.rules {
		if rule.end != nil {
			rule.end(l, l.adder(rule.Name))
		}
		var of []Finding
		for c, f := range l.found {
			if c.rule == rule.Name {
				of = append(of, f.finish(cmp.Or(f.way, rule.Fix)))
			}
		}
		slices.SortFunc(of, func(a, b Finding) int {
			return cmp.Or(len(b.Places)-len(a.Places), a.Places[0].compare(b.Places[0]),
				cmp.Compare(a.Message, b.Message))
		})
		all = append(all, of...)
	}
	return all
}

// finish sorts the places, and gives the finding the message of the first.
func (f *Finding) finish(way string) Finding {
	slices.SortFunc(f.Places, Place.compare)
	f.Message = f.Places[0].Message
	tests, calls := map[page.Test]bool{}, map[string]bool{}
	for i := range f.Places {
		tests[f.Places[i].Test] = true
		if call := f.Places[i].Call; call != "" {
			calls[call] = true
		}
		if f.Places[i].Message == f.Message {
			f.Places[i].Message = ""
		}
	}
	f.Message += ": " + way
	f.Tests, f.Calls = len(tests), len(calls)
	return *f
}

// RuleConfig is the rule of findings about wrong settings for rules in config.json.
const RuleConfig = "lint"

// Wrong returns what is wrong with the settings for rules in config.json, including silences that silenced nothing in
// any document.
func (l *Linter) Wrong() (wrong []snapshot.Finding) {
	for i, s := range l.config.Lint.Silences {
		at := jsontext.PointerTo("lint", "silence", strconv.Itoa(i))
		var names []string
		for _, r := range l.rules {
			names = append(names, r.Name)
		}
		switch {
		case !slices.Contains(names, s.Rule):
			wrong = append(wrong, snapshot.Finding{File: store.ConfigName, Pointer: at + "/rule", Rule: RuleConfig,
				Message: fmt.Sprintf("%q is no rule: there are %s", s.Rule, strings.Join(names, ", "))})
		case !l.silenced[i]:
			wrong = append(wrong, snapshot.Finding{File: store.ConfigName, Pointer: at, Rule: RuleConfig,
				Message: "silences nothing that " + s.Rule + " finds: remove it"})
		}
	}
	return wrong
}

// adder returns the function that adds findings of a rule, except for those that config.json silences.
func (l *Linter) adder(rule string) adder {
	return func(key, way string, at Place) {
		l.mu.Lock()
		defer l.mu.Unlock()
		silent := false
		for i, s := range l.config.Lint.Silences {
			of := s.Test == "" || s.Test == at.Test.Name || strings.HasPrefix(at.Test.Name, s.Test+"/")
			if of && s.Rule == rule {
				l.silenced[i], silent = true, true
			}
		}
		if silent {
			return
		}
		c := cause{rule, own(key)}
		f := l.found[c]
		if f == nil {
			f = &Finding{Rule: rule}
			l.found[c] = f
		}
		if way != "" && (f.way == "" || way < f.way) { // does not depend on the order of documents
			f.way = way
		}
		f.Places = append(f.Places, at)
	}
}
