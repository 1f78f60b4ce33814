package page_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/internal/page"
)

func TestChanges(t *testing.T) {
	seal := func(file, hash string, calls map[int]canon.Hash) map[string]page.Seal {
		test := page.Test{Package: "p", Name: "TestX"}
		return map[string]page.Seal{"x": {File: file, Test: test, Hash: canon.Hash(hash), Calls: calls}}
	}
	two := map[int]canon.Hash{1: "a", 2: "b"}
	none := map[string]page.Seal{}
	tests := []struct {
		name, why     string
		before, after map[string]page.Seal
		want          []string
		tally         string
	}{
		{"same", "nothing to tell", seal("o/x.json", "h", two), seal("o/x.json", "h", two), nil, "no document changed"},
		{"added", "a new test", none, seal("o/x.json", "h", two), []string{"added o/x.json  TestX in p"}, "1 added"},
		{"removed", "one that is gone", seal("o/x.json", "h", two), none, []string{"removed o/x.json  TestX in p"}, "1 removed"},
		{
			"calls", "what became of its calls", seal("o/x.json", "h", two),
			seal("o/x.json", "i", map[int]canon.Hash{1: "c", 3: "b", 4: "d"}),
			[]string{"changed o/x.json  TestX in p, 2 records added, 1 record changed, 1 record removed"}, "1 changed",
		},
		{
			"provider", "another first call has another provider", seal("a/x.json", "h", two), seal("o/x.json", "h", two),
			[]string{"changed o/x.json  TestX in p"}, "1 changed",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			changes := page.Changes(tt.before, tt.after)
			for _, c := range changes {
				got = append(got, c.String())
			}
			require.Equal(t, tt.want, got, tt.why)
			require.Equal(t, tt.tally, page.Tally(changes), tt.why)
		})
	}
}
