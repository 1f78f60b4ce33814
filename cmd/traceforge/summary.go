package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/traceforge/traceforge-go/internal/page"
	"github.com/traceforge/traceforge-go/internal/usage"
)

// A summary counts what an updating run did, over all tests.
type summary struct {
	Kept       int            `json:"kept"`       // calls that were served from the store
	Changed    int            `json:"changed"`    // calls that were made again
	Components map[string]int `json:"components"` // how many requests changed in each component, by its name
	New        int            `json:"new"`        // calls that had no snapshot
	Removed    int            `json:"removed"`    // records that no call requests any more
	Rekeyed    int            `json:"rekeyed"`    // answers that were adopted for a changed request
	Renamed    int            `json:"renamed"`    // tests that reuse the records they had under another name
	Pending    []string       `json:"pending"`    // ids of the answers that failed tests bought
	Unasked    int            `json:"unasked"`    // pending answers that no call of a passing test requests
	// how many tests use each model that its provider no longer offers, by a description of the model
	Gone      map[string]int `json:"gone"`
	TokensIn  int64          `json:"tokens_in"`  // input tokens of the bought answers
	TokensOut int64          `json:"tokens_out"` // output tokens of the bought answers
}

func summarize(receipts []usage.Receipt) *summary {
	s := &summary{Components: map[string]int{}, Pending: []string{}, Gone: map[string]int{}}
	for _, r := range receipts {
		for _, model := range r.Gone {
			s.Gone[model]++
		}
		u := r.Update
		if u == nil { // it wrote nothing
			s.Kept += len(r.Played)
			continue
		}
		s.Kept += len(u.Kept)
		s.Changed += len(u.Changed)
		for _, c := range u.Changed {
			for _, component := range c.Components {
				s.Components[component]++
			}
		}
		s.New += len(u.New)
		s.Removed += len(u.Removed)
		s.Rekeyed += len(u.Rekeyed)
		if u.Adopted != "" {
			s.Renamed++
		}
		s.Pending = append(s.Pending, u.Pending...)
		s.Unasked += len(u.Unasked)
		s.TokensIn, s.TokensOut = s.TokensIn+u.TokensIn, s.TokensOut+u.TokensOut
	}
	return s
}

// lines returns the summary for people.
func (s *summary) lines() []string {
	kinds := slices.SortedFunc(maps.Keys(s.Components), func(a, b string) int {
		return cmp.Or(cmp.Compare(s.Components[b], s.Components[a]), strings.Compare(a, b))
	})
	for i, kind := range kinds {
		kinds[i] = fmt.Sprintf("%s %d", kind, s.Components[kind])
	}
	changed := fmt.Sprintf("%d changed", s.Changed)
	if len(kinds) > 0 {
		changed += " (" + strings.Join(page.Most(5, kinds, "more"), ", ") + ")"
	}
	calls := fmt.Sprintf("calls: %d kept, %s, %d new, %d removed", s.Kept, changed, s.New, s.Removed)
	if s.Rekeyed > 0 {
		calls += fmt.Sprintf(", %d rekeyed", s.Rekeyed)
	}
	lines := []string{calls + fmt.Sprintf("; %d tokens in, %d out", s.TokensIn, s.TokensOut)}
	if s.Renamed > 0 {
		lines = append(lines,
			page.Count(s.Renamed, "renamed test goes", "renamed tests go")+" on with the records of the old name")
	}
	if n := len(s.Pending); n > 0 {
		lines = append(lines, page.Count(n, "answer of a test that failed waits", "answers of tests that failed wait")+
			" for a decision: see traceforge accept; the next -update uses what is still needed")
	}
	for _, model := range slices.Sorted(maps.Keys(s.Gone)) {
		lines = append(lines, goneModel(model, s.Gone[model]))
	}
	if s.Unasked > 0 {
		lines = append(lines, usage.Unasked(s.Unasked))
	}
	return lines
}

// goneModel returns what to do about a model that its provider no longer offers, and that this many tests use.
func goneModel(said string, tests int) string {
	return fmt.Sprintf("%s: %s it; see what another says with traceforge check --model OLD=NEW, then name it in the code, and record with a key, "+
		"or keep the stored answers with traceforge update --rekey", said, page.Count(tests, "test asks", "tests ask"))
}
