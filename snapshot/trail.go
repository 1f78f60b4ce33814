package snapshot

import (
	"fmt"
	"strconv"
	"strings"
)

// A trail is the way from the root of a document to the value that is being read or
// written, and what was found wrong on it.
type trail struct {
	steps []step
	found []Violation
}

// A step goes to a member by name, or to an element by index.
type step struct {
	member bool
	name   string
	index  int
}

func (t *trail) enter(s step) { t.steps = append(t.steps, s) }
func (t *trail) leave()       { t.steps = t.steps[:len(t.steps)-1] }

// report notes a violation at the current place, or at the members below it that are named.
func (t *trail) report(rule, message string, below ...string) {
	t.found = append(t.found, Violation{t.pointer(below...), rule, message})
}

func (t *trail) reportf(rule, format string, args ...any) {
	t.report(rule, fmt.Sprintf(format, args...))
}

var pointerEscapes = strings.NewReplacer("~", "~0", "/", "~1")

// pointer returns the RFC 6901 pointer of the current place, or of what is named below it.
func (t *trail) pointer(below ...string) string {
	var b strings.Builder
	for _, s := range t.steps {
		b.WriteByte('/')
		if s.member {
			b.WriteString(pointerEscapes.Replace(s.name))
		} else {
			b.WriteString(strconv.Itoa(s.index))
		}
	}
	for _, name := range below {
		b.WriteByte('/')
		b.WriteString(pointerEscapes.Replace(name))
	}
	return b.String()
}
