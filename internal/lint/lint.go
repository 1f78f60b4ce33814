// Package lint asks of recorded traffic what is no fault of the records: whether the program asks models as it
// should.
//
// Each [Rule] is a value. A [Linter] looks at documents, on several goroutines at once, and keeps of each what
// was found and what is needed to compare it with others; [Linter.Findings] returns it, equal causes together.
// [Deterministic] and [Notes] are asked of each document that is verified.
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

// A Rule is one question about recorded traffic.
type Rule struct {
	Name string
	Asks string // what is found
	Why  string // what it costs
	Fix  string // what to do, where a finding does not say it

	look func(l *Linter, d *document, add adder)          // at a document
	each func(l *Linter, d *document, c *call, add adder) // at a call
	end  func(l *Linter, add adder)                       // once all are seen
}

// An adder notes a finding of a rule at a place, which has its message. key is what findings of one cause share. way
// is what to do; empty means what the rule says.
type adder func(key, way string, at Place)

// Rules returns all rules, in the order in which findings are told.
func Rules() []Rule {
	return []Rule{scriptedAnswer, unpinnedModel, otherModel, foreignAnswer, cachePrefix, openSchema, noMaxTokens, largeDocument,
		largeAnswer, tokensPerTest, tokensOfAll, costPerTest, costOfAll}
}

// A Finding is one cause, and all places where it was found.
type Finding struct {
	Rule    string  `json:"rule"`
	Message string  `json:"message"` // at the first place, with what to do
	Tests   int     `json:"tests"`
	Calls   int     `json:"calls"`  // 0 means it is of whole documents, or of all
	Places  []Place `json:"places"` // sorted
	way     string  // what to do, where a place says it
}

// Line returns the finding as one line says it: where it is first, and how often.
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
	File    string `json:"file"`              // the document, its path in the store; empty means all documents
	Call    string `json:"call,omitempty"`    // the id; empty means the whole document
	Pointer string `json:"pointer"`           // into the file; empty means the whole of it
	Message string `json:"message,omitempty"` // where it is another than the finding's
}

func (p Place) compare(q Place) int {
	return cmp.Or(cmp.Compare(p.File, q.File), number(p.Call)-number(q.Call), cmp.Compare(p.Pointer, q.Pointer),
		cmp.Compare(p.Message, q.Message))
}

func number(id string) int {
	_, n, _ := snapshot.ParseID(id)
	return n
}

// A Linter looks at the documents of one store. It is safe for concurrent use.
type Linter struct {
	config *store.Config
	rules  []Rule

	mu       sync.Mutex
	found    map[cause]*Finding
	silenced []bool   // by the index of the silence: it silenced something
	tools    variants // of the tools of requests, and of their system prompts
	systems  variants
	tokens   int64 // that recording all documents again takes
	cost     float64
}

// A cause is what equal findings have in common.
type cause struct{ rule, key string }

// New returns a linter that holds what config.json asks for.
func New(config *store.Config) *Linter {
	return &Linter{
		config: config, rules: Rules(), found: map[cause]*Finding{},
		silenced: make([]bool, len(config.Lint.Silences)),
		tools:    variants{}, systems: variants{},
	}
}

// Check is a [store.Check] that finds nothing wrong with a document: it looks at it.
func (l *Linter) Check(d *store.Doc) []snapshot.Violation {
	doc := newDocument(d)
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

// Findings returns what was found in all documents, by rules and the first places. It is called once.
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

// finish sorts the places, and gives the finding the words of the first.
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

// RuleConfig is that of what config.json says wrongly about the rules.
const RuleConfig = "lint"

// Wrong says what of config.json is wrong about rules, and of what silences nothing once all documents
// were looked at.
func (l *Linter) Wrong() (wrong []snapshot.Violation) {
	for i, s := range l.config.Lint.Silences {
		at := jsontext.PointerTo("lint", "silence", strconv.Itoa(i))
		var names []string
		for _, r := range l.rules {
			names = append(names, r.Name)
		}
		switch {
		case !slices.Contains(names, s.Rule):
			wrong = append(wrong, snapshot.Violation{Pointer: at + "/rule", Rule: RuleConfig,
				Message: fmt.Sprintf("%q is no rule: there are %s", s.Rule, strings.Join(names, ", "))})
		case !l.silenced[i]:
			wrong = append(wrong, snapshot.Violation{Pointer: at, Rule: RuleConfig,
				Message: "silences nothing that " + s.Rule + " finds: remove it"})
		}
	}
	return wrong
}

// adder returns what adds to the findings of a rule those that config.json does not silence.
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
		if way != "" && (f.way == "" || way < f.way) { // whichever document comes first
			f.way = way
		}
		f.Places = append(f.Places, at)
	}
}
