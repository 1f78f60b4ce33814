package modelio

import (
	"cmp"
	"slices"
	"strings"
)

// A Violation is one thing that is wrong with a text: a document, a session, params, or an answer. All packages that
// check texts use it.
type Violation struct {
	Pointer string // RFC 6901 pointer to the place; empty for the complete text
	Rule    string // the rule's name in the specification of the text
	Message string
}

func (v Violation) String() string {
	parts := []string{v.Pointer, v.Rule, v.Message}
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), ": ")
}

// Compare orders violations by pointer, rule and message.
func (v Violation) Compare(w Violation) int {
	return cmp.Or(cmp.Compare(v.Pointer, w.Pointer), cmp.Compare(v.Rule, w.Rule), cmp.Compare(v.Message, w.Message))
}
