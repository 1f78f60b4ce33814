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
	"github.com/traceforge/traceforge-go/internal/pattern"
)

// A Rule says which parts of a text are replaced. The zero value is no rule.
type Rule struct {
	name    string // of its placeholders; empty means Volatile, which has several
	wrong   string // why it cannot be used; empty means it can
	finders []finder
}

// A finder finds the values of one kind.
type finder struct {
	name  string // of their placeholders
	find  func(text string) []span
	dummy func(n int) string // stands for the n-th secret that only the recording knew; nil means they are no secrets
	one   bool               // there is one value, which is the dummy

	// anywhere finds what every process finds, whatever its directories; nil means that find does, or if one is set,
	// nothing.
	anywhere func(text string) []span
}

// A span is where a value is in a text, in bytes.
type span struct{ start, end int }

// leastValue is the length in bytes below which a value may be in any text by chance.
const leastValue = 4

// Value returns the rule for one value, also where it is escaped as in JSON or in a URL. An empty value, as a key may
// be in replay, is replaced by a dummy.
func Value(name, value string) Rule {
	r := Rule{name: name, wrong: wrongName("Value", name)}
	value = cmp.Or(value, "traceforge-"+name)
	if len(value) < leastValue && r.wrong == "" {
		r.wrong = fmt.Sprintf("Value(%q, …): a value of less than %d bytes is found in any text: set a longer one",
			name, leastValue)
	}
	quoted := string(jsontext.Text(value))
	type escaped struct{ suffix, value string }
	forms := []escaped{
		{"", value}, {".json", quoted[1 : len(quoted)-1]},
		{".query", url.QueryEscape(value)}, {".path", url.PathEscape(value)},
	}
	for i, form := range forms {
		if slices.ContainsFunc(forms[:i], func(f escaped) bool { return f.value == form.value }) {
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

// Pattern returns the rule for what re matches or, if re has a group, for what its first group matches.
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
// this machine, uuids and times.
func Volatile() Rule { return Rule{finders: volatile()} }

// VolatileDates returns the rule for that and for dates without a time of day.
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

// Rules are the rules of a test.
type Rules struct {
	finders []finder
	said    map[string]string // placeholders of secrets that an answer was the first to say, by name and value
	taken   map[string]bool   // these placeholders
	last    map[string]int    // the last number of these, by name

	clean sync.Map // texts in which nothing was found: a conversation says most of them in each request
}

func emptyRules() *Rules {
	return &Rules{said: map[string]string{}, taken: map[string]bool{}, last: map[string]int{}}
}

// New returns the rules of a test. It fails if one cannot be used, or two have one name.
func New(all ...Rule) (*Rules, error) {
	rules := emptyRules()
	names := map[string]bool{}
	var last []finder // of Volatile: what is secret comes first
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

// Anywhere returns the rules without what depends on the process: a value that a test knows when it runs, the
// directories of this machine. They find the same in a record wherever it is read.
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

// First returns where a stored text has the first value that the rules find, or the first of their placeholders; end 0
// means it has none.
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

// WithVolatile returns the rules with Volatile's.
func (r *Rules) WithVolatile() *Rules { return r.with(Volatile()) }

// WithDates returns the rules with those of VolatileDates.
func (r *Rules) WithDates() *Rules { return r.with(VolatileDates()) }

func (r *Rules) with(rule Rule) *Rules {
	more := slices.DeleteFunc(slices.Clone(rule.finders), func(f finder) bool { return r.Has(f.name) })
	if len(more) == 0 {
		return r
	}
	return &Rules{finders: append(slices.Clip(r.finders), more...), said: r.said, taken: r.taken, last: r.last}
}

// Has reports whether there is a rule for the placeholders of a name.
func (r *Rules) Has(name string) bool {
	_, ok := r.finder(name)
	return ok
}

// finder returns that of the placeholders of a name.
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

// leastClean is the length in bytes from which it is faster to look a text up than to search it.
const leastClean = 64

// mostRounds is how often a text is searched for what rules take between what others took.
const mostRounds = 16

// find returns taken, and the values that the rules find between those, all in order. A rule does not see what earlier
// rules have found. What is found splits the text, and a rule may find more in the rest: the search goes on until
// nothing is found, so that scrubbing a text again changes nothing. A rule that would find more forever takes the whole
// rest.
func (r *Rules) find(text string, taken []match) []match {
	fresh := len(taken) == 0 && len(text) >= leastClean
	if fresh {
		if _, clean := r.clean.Load(text); clean {
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
		r.clean.Store(text, true)
	}
	return taken
}

// between returns taken, and what the finder finds between those. whole says that it takes all of a stretch in which it
// finds something.
func (f finder) between(text string, taken []match, whole bool) []match {
	var all []match
	at := 0
	for i := 0; i <= len(taken); i++ {
		end := len(text)
		if i < len(taken) {
			end = taken[i].start
		}
		if at < end {
			found := f.find(text[at:end])
			if whole && found != nil {
				found = []span{{0, end - at}}
			}
			for _, s := range found {
				all = append(all, match{span{at + s.start, at + s.end}, f})
			}
		}
		if i < len(taken) {
			all, at = append(all, taken[i]), taken[i].end
		}
	}
	return all
}

// merge returns taken, and those of found that do not overlap with it, in order.
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
