package usage

import "fmt"

// An Update is what a test that recorded did to its document, by the ids of its records (design R11).
type Update struct {
	Kept    []string        `json:"kept,omitempty"`    // served from the store, as they were
	Changed []ChangedRecord `json:"changed,omitempty"` // bought again, in place of a record
	New     []string        `json:"new,omitempty"`     // bought for calls that had no record
	Removed []string        `json:"removed,omitempty"` // not called any more
	Rekeyed []ChangedRecord `json:"rekeyed,omitempty"` // answers that were adopted for a changed request, or rules
	Pending []string        `json:"pending,omitempty"` // bought by a test that failed: they wait for a decision
	Unasked []string        `json:"unasked,omitempty"` // bought earlier, for calls that the test, which passed, does not make: they wait too

	// TokensIn and TokensOut are what the calls that were made in this run cost, as their answers report it.
	TokensIn  int64 `json:"tokens_in,omitempty"`
	TokensOut int64 `json:"tokens_out,omitempty"`

	// Adopted is the name of the document that the test's records come from, where the test was renamed; empty means none.
	Adopted string `json:"adopted,omitempty"`
}

// A ChangedRecord is a record that stands for another request, or has another answer, than before.
type ChangedRecord struct {
	ID         string   `json:"id"`
	Components []string `json:"components,omitempty"` // what changed, in words: "system", "answer", "scrub rules"
}

// Unasked says that so many answers wait that no call asks for.
func Unasked(n int) string {
	if n == 1 {
		return "1 answer waits that no call asks for: traceforge reject"
	}
	return fmt.Sprintf("%d answers wait that no call asks for: traceforge reject", n)
}
