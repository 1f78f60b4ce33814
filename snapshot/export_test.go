package snapshot

import (
	"slices"

	"github.com/traceforge/traceforge-go/internal/jsontext"
)

// ParseMedium is what tells that a string of a message is the name of a medium.
var ParseMedium = parseMedium

// LayOut is how a compact text becomes a file, in its own memory.
var LayOut = layOut

// ParseUnsealed is Parse for a text whose hashes may be wrong, as fuzzing makes them; nil if it breaks
// another rule.
func ParseUnsealed(data []byte) *Document {
	text, err := jsontext.ParseStrict(data)
	if err != nil {
		return nil
	}
	doc, found, _ := parse(text, false)
	if slices.ContainsFunc(found, func(v Violation) bool { return v.Rule != RuleSeal && v.Rule != RuleHash }) {
		return nil
	}
	return doc
}
