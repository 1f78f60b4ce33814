// Package pattern finds values in texts by regular expressions, as the rules of config.json and of tests do.
package pattern

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
)

// A Pattern finds the matches of a regular expression or, if it has a group, of its first group.
type Pattern struct {
	re    *regexp.Regexp
	group int
}

// mostInstructions limits the size of a pattern, because the cost of a search is the length of the text times the size.
const mostInstructions = 2000

var ruleName = regexp.MustCompile(`^[a-z][a-z0-9_-]*$`)

// IsName reports whether s is a legal name for a rule and its placeholders.
func IsName(s string) bool { return ruleName.MatchString(s) }

// IsVolatile reports whether placeholders with a name stand for values that differ in each run.
func IsVolatile(s string) bool {
	return slices.Contains([]string{"tmp", "home", "port", "uuid", "time", "date"}, s)
}

// New returns the pattern of a regular expression. It returns an error if the expression is too large or would change
// its own output.
func New(re *regexp.Regexp) (*Pattern, error) {
	p := &Pattern{re, min(re.NumSubexp(), 1)}
	tree, err := syntax.Parse(re.String(), syntax.Perl)
	if err != nil {
		return nil, err // valid only in POSIX, such as a**
	}
	program, _ := syntax.Compile(tree.Simplify()) // it was compiled
	if n := len(program.Inst); n > mostInstructions {
		return nil, fmt.Errorf("has %d instructions, must have at most %d: let it repeat less", n, mostInstructions)
	}
	one, two := p.sample(0, 1), p.sample(0, 2)
	for _, text := range []string{one, one + two, one + " " + two, one + "\n" + two} {
		if more := p.unsettled(text); more != "" {
			return nil, fmt.Errorf(
				"would change its own output: a rule sees the text between placeholders, so of %q it takes more, %q, "+
					"after it took what it finds: leave out ^, $ and \\b, or let the group match less", text, more)
		}
	}
	return p, nil
}

// unsettled returns a match in the text between the pattern's matches; empty if there is none.
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

// Find calls found with the position of each match, in order.
func (p *Pattern) Find(text string, found func(start, end int)) {
	for _, m := range p.re.FindAllStringSubmatchIndex(text, -1) {
		if start, end := m[2*p.group], m[2*p.group+1]; start >= 0 && start < end {
			found(start, end)
		}
	}
}
