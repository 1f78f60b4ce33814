package usage

import "fmt"

// An Update describes how a recording test changed its document, by the ids of its records (design R11).
type Update struct {
	Kept    []string        `json:"kept,omitempty"`    // served from the store, unchanged
	Changed []ChangedRecord `json:"changed,omitempty"` // bought again, in place of a record
	New     []string        `json:"new,omitempty"`     // bought for calls without a record
	Removed []string        `json:"removed,omitempty"` // no longer called
	Rekeyed []ChangedRecord `json:"rekeyed,omitempty"` // answers that were adopted for a changed request or changed rules
	Pending []string        `json:"pending,omitempty"` // bought by a test that failed, and waiting for a decision
	Unasked []string        `json:"unasked,omitempty"` // bought earlier for calls that the passing test does not make, and waiting for a decision

	// TokensIn and TokensOut are the tokens of the live calls in this run, as reported by their answers.
	TokensIn  int64 `json:"tokens_in,omitempty"`
	TokensOut int64 `json:"tokens_out,omitempty"`

	// Adopted is the name of the document that the test's records come from, if the test was renamed; empty otherwise.
	Adopted string `json:"adopted,omitempty"`
}

// A ChangedRecord is a record whose request or answer has changed.
type ChangedRecord struct {
	ID         string   `json:"id"`
	Components []string `json:"components,omitempty"` // what changed, in words: "system", "answer", "scrub rules"
}

// Unasked says that n answers are waiting that no call asks for.
func Unasked(n int) string {
	if n == 1 {
		return "1 answer waits that no call asks for: traceforge reject"
	}
	return fmt.Sprintf("%d answers wait that no call asks for: traceforge reject", n)
}
