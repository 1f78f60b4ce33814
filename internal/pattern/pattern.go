// Package pattern finds values in texts by regular expressions, as the rules of config.json and of tests do.
package pattern

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
)

// A Pattern finds what a regular expression matches or, if it has a group, what its first group matches.
type Pattern struct {
	re    *regexp.Regexp
	group int
}

// mostInstructions is how large a pattern may be: what it costs to search a text is its length times this.
const mostInstructions = 2000

var ruleName = regexp.MustCompile(`^[a-z][a-z0-9_-]*$`)

// IsName reports whether a rule, and so its placeholders, may have a name.
func IsName(s string) bool { return ruleName.MatchString(s) }

// IsVolatile reports whether placeholders of a name are for values that differ in each run.
func IsVolatile(s string) bool {
	return slices.Contains([]string{"tmp", "home", "port", "uuid", "time", "date"}, s)
}

// New returns the pattern of a regular expression. The error is why no rule may have it: it is too large, or it would
// change its own output.
func New(re *regexp.Regexp) (*Pattern, error) {
	p := &Pattern{re, min(re.NumSubexp(), 1)}
	tree, err := syntax.Parse(re.String(), syntax.Perl)
	if err != nil {
		return nil, err // of POSIX, such as a**
	}
	program, _ := syntax.Compile(tree.Simplify()) // it was compiled
	if n := len(program.Inst); n > mostInstructions {
		return nil, fmt.Errorf("has %d instructions, must have at most %d: let it repeat less", n, mostInstructions)
	}
	one, two := p.sample(0, 1), p.sample(0, 2)
	for _, text := range []string{one, one + two, one + " " + two, one + "\n" + two} {
		if more := p.unsettled(text); more != "" {
			return nil, fmt.Errorf("would change its own output: a rule sees the text between placeholders, so of %q it takes more, %q, "+
				"after it took what it finds: leave out ^, $ and \\b, or let the group match less", text, more)
		}
	}
	return p, nil
}

// unsettled returns what the pattern finds in a text between what it has found there before; empty means nothing.
func (p *Pattern) unsettled(text string) (more string) {
	at := 0
	look := func(part string) {
		p.Find(part, func(start, end int) { more = part[start:end] })
	}
	p.Find(text, func(start, end int) {
		look(text[at:start])
		at = end
	})
	if at > 0 {
		look(text[at:])
	}
	return more
}

// Find tells where a text has values, in order.
func (p *Pattern) Find(text string, found func(start, end int)) {
	for _, m := range p.re.FindAllStringSubmatchIndex(text, -1) {
		if start, end := m[2*p.group], m[2*p.group+1]; start >= 0 && start < end {
			found(start, end)
		}
	}
}
