package scrub

import (
	"cmp"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/internal/locked"
	"github.com/traceforge/traceforge-go/internal/pattern"
)

// A Rule finds parts of a text to replace. The zero value finds nothing.
type Rule struct {
	name    string // name of its placeholders; empty for Volatile, which has several
	wrong   string // why it cannot be used; empty if it can
	finders []finder
}

// A finder finds the values of one kind.
type finder struct {
	name string // name of their placeholders
	find func(text string) []span
	// returns a stand-in for the n-th secret that only the recording knew; nil if the values are not secret
	dummy func(n int) string
	one   bool // there is only one value, which is also the dummy

	// anywhere finds the values that every process finds, whatever its directories; nil if find does so or, when one is
	// set, if there are none.
	anywhere func(text string) []span
}

// A span is the position of a value in a text, in bytes.
type span struct{ start, end int }

// leastValue is the minimum length of a value in bytes; shorter ones may occur in any text by chance.
const leastValue = 4

// Value returns the rule for one value, including its escaped forms in JSON and URLs. An empty value, such as a key in
// replay, is replaced with a dummy.
func Value(name, value string) Rule {
	r := Rule{name: name, wrong: wrongName("Value", name)}
	value = cmp.Or(value, "traceforge-"+name)
	if len(value) < leastValue && r.wrong == "" {
		r.wrong = fmt.Sprintf("Value(%q, …): a value of less than %d bytes is found in any text: set a longer one",
			name, leastValue)
	}
	quoted := string(jsontext.Text(value))
	type spelling struct{ suffix, value string }
	forms := []spelling{
		{"", value}, {".json", quoted[1 : len(quoted)-1]},
		{".query", url.QueryEscape(value)}, {".path", url.PathEscape(value)},
	}
	for i, form := range forms {
		if slices.ContainsFunc(forms[:i], func(f spelling) bool { return f.value == form.value }) {
			continue
		}
		r.finders = append(r.finders, finder{
			name:  name + form.suffix,
			find:  func(text string) []span { return occurrences(text, form.value) },
			dummy: func(int) string { return form.value },
			one:   true,
		})
	}
	return r
}

func occurrences(text, value string) (found []span) {
	for at := 0; ; {
		i := strings.Index(text[at:], value)
		if i < 0 {
			return found
		}
		found = append(found, span{at + i, at + i + len(value)})
		at += i + len(value)
	}
}

// Pattern returns the rule for whatever re matches or, if re has a group, whatever its first group matches.
func Pattern(name string, re *regexp.Regexp) Rule {
	r := Rule{name: name, wrong: wrongName("Pattern", name)}
	if re == nil {
		r.wrong = fmt.Sprintf("Pattern(%q, nil): there is no pattern", name)
		return r
	}
	p, err := pattern.New(re)
	if err != nil {
		r.wrong = fmt.Sprintf("Pattern(%q, …): %q %v", name, re, err)
		return r
	}
	r.finders = []finder{{name: name, dummy: p.Dummy, find: func(text string) (found []span) {
		p.Find(text, func(start, end int) { found = append(found, span{start, end}) })
		return found
	}}}
	return r
}

// Volatile returns the rule for values that differ in each run: temporary and home directories, ports of servers on
// this machine, UUIDs and times.
func Volatile() Rule { return Rule{finders: volatile()} }

// VolatileDates returns the rule of Volatile that also finds dates without a time of day.
func VolatileDates() Rule {
	return Rule{finders: append(volatile(), finder{name: "date", find: findDates})}
}

func wrongName(of, name string) string {
	switch {
	case pattern.IsVolatile(name):
		return fmt.Sprintf("%s(%q, …): the name is one of Volatile's", of, name)
	case !pattern.IsName(name):
		return fmt.Sprintf("%s(%q, …): a name begins with a lower-case letter and has such letters, digits, - and _",
			of, name)
	}
	return ""
}

// Rules are the rules of a test. They are safe for concurrent use.
type Rules struct {
	finders []finder
	said    *secrets
	clean   locked.Map[string, bool] // texts without values: a conversation repeats most of its texts in each request
}

// secrets are the secrets of a test that first appeared in an answer. They are safe for concurrent use.
type secrets struct {
	mu    sync.Mutex
	known map[string]string // placeholders by name and value
	taken map[string]bool   // the placeholders in known
	last  map[string]int    // the last number of the placeholders in known, by name
}

func emptyRules() *Rules {
	return &Rules{said: &secrets{known: map[string]string{}, taken: map[string]bool{}, last: map[string]int{}}}
}

// New returns the rules of a test. It fails if a rule cannot be used, or if two have the same name.
func New(all ...Rule) (*Rules, error) {
	rules := emptyRules()
	names := map[string]bool{}
	var last []finder // finders of Volatile: secrets are found first
	for _, r := range all {
		switch {
		case r.wrong != "":
			return nil, fmt.Errorf("Scrub(%s)", r.wrong)
		case r.finders == nil:
			return nil, fmt.Errorf("Scrub(Rule{}): make rules with Value, Pattern and Volatile")
		case r.name == "":
			last = r.finders
			continue
		case names[r.name]:
			return nil, fmt.Errorf("rules of Scrub: two are named %s", r.name)
		}
		names[r.name] = true
		rules.finders = append(rules.finders, r.finders...)
	}
	rules.finders = append(rules.finders, last...)
	return rules, nil
}

// Anywhere returns the rules without parts that depend on the process: values that a test knows only at run time, and
// directories of this machine. They find the same in a record on every machine.
func (r *Rules) Anywhere() *Rules {
	rules := emptyRules()
	for _, f := range r.finders {
		if f.one {
			continue
		}
		if f.anywhere != nil {
			f.find = f.anywhere
		}
		rules.finders = append(rules.finders, f)
	}
	return rules
}

// First returns the position of the first value that the rules find in a stored text, or of the first placeholder. end
// is 0 if there is none.
func (r *Rules) First(text string) (start, end int) {
	var taken []match
	for _, t := range storedTokens(text) {
		taken = append(taken, match{t.span, finder{name: t.name}})
	}
	for _, m := range r.find(text, taken) {
		if name, _, _ := strings.Cut(m.name, "."); m.find != nil || name != "" && r.Has(name) {
			return m.start, m.end
		}
	}
	return 0, 0
}

// WithVolatile returns the rules together with Volatile.
func (r *Rules) WithVolatile() *Rules { return r.with(Volatile()) }

// WithDates returns the rules together with VolatileDates.
func (r *Rules) WithDates() *Rules { return r.with(VolatileDates()) }

func (r *Rules) with(rule Rule) *Rules {
	more := slices.DeleteFunc(slices.Clone(rule.finders), func(f finder) bool { return r.Has(f.name) })
	return &Rules{finders: append(slices.Clip(r.finders), more...), said: r.said}
}

// Has reports whether there is a rule for placeholders with a name.
func (r *Rules) Has(name string) bool {
	_, ok := r.finder(name)
	return ok
}

// finder returns the finder for placeholders with a name.
func (r *Rules) finder(name string) (finder, bool) {
	for _, f := range r.finders {
		if f.name == name {
			return f, true
		}
	}
	return finder{}, false
}

// A match is a value in a text.
type match struct {
	span
	finder
}

// leastClean is the length in bytes from which looking a text up is faster than searching it.
const leastClean = 64

// mostRounds limits how often a text is searched for further values between those already found.
const mostRounds = 16

// find returns taken, and the values that the rules find between those, in order. A rule does not see values that
// earlier rules have found. Because found values split the text, a rule may find more in the remaining parts: the
// search is repeated until nothing is found, so that scrubbing a text twice has no effect. A rule that would find more
// forever takes all of the remaining text.
func (r *Rules) find(text string, taken []match) []match {
	fresh := len(taken) == 0 && len(text) >= leastClean
	if fresh {
		if _, clean := r.clean.Get(text); clean {
			return nil
		}
	}
	for round, before := 1, -1; len(taken) != before; round++ {
		before = len(taken)
		for _, f := range r.finders {
			taken = f.between(text, taken, round >= mostRounds)
		}
	}
	if fresh && len(taken) == 0 {
		r.clean.Add(text, true)
	}
	return taken
}

// between returns taken, and the values that the finder finds between those. With whole, it takes the complete part of
// the text in which it finds a value.
func (f finder) between(text string, taken []match, whole bool) []match {
	var all []match
	at := 0
	for i := range len(taken) + 1 {
		next := span{len(text), len(text)}
		if i < len(taken) {
			next = taken[i].span
		}
		if at < next.start {
			found := f.find(text[at:next.start])
			if whole && found != nil {
				found = []span{{0, next.start - at}}
			}
			for _, s := range found {
				all = append(all, match{span{at + s.start, at + s.end}, f})
			}
		}
		at = next.end
	}
	return merge(taken, all)
}

// merge returns taken, and the matches in found that do not overlap with it, in order.
func merge(taken, found []match) []match {
	var all []match
	for _, m := range found {
		for len(taken) > 0 && taken[0].end <= m.start {
			all, taken = append(all, taken[0]), taken[1:]
		}
		if len(taken) == 0 || m.end <= taken[0].start {
			all = append(all, m)
		}
	}
	return append(all, taken...)
}
