package bench

import (
	"testing"
	"time"
)

// TestVerdict checks that a slow limit flatters no row, and that the table names it.
func TestVerdict(t *testing.T) {
	of := func(kind string, each int, spare float64) row {
		return row{wanted: "at most 12x", kind: kind, each: time.Duration(each), spare: spare, met: spare >= 1}
	}
	all := []row{of("2 KB", 1000, 1.5), of("2 KB", 1200, 1.1), of("2 KB", 3000, 2), of("2 KB", 3000, 4), of("2 KB", 3000, 0.5), of("", 9000, 1.1)}
	for i, want := range []string{
		"met", "met by a slow limit",
		"met by a slow limit; the limit takes 3x of that of a like row",
		"met; the limit takes 3x of that of a like row",
		"short; the limit takes 3x of that of a like row",
		"met",
	} {
		if got := all[i].verdict(all); got != want {
			t.Errorf("row %d: got %q, want %q", i, got, want)
		}
	}
	unbounded := contest{names: []string{"memory", ours}, took: map[string]time.Duration{"memory": 2, ours: 9}}.row("a", 1, 0)
	if got := unbounded.verdict(rows); got != unbound {
		t.Errorf("a row without a bound: %q", got)
	}
}

// TestPerCall checks that the mean includes the first call and the median does not.
func TestPerCall(t *testing.T) {
	c := contest{
		names: []string{"memory", "httprr", ours},
		took:  map[string]time.Duration{"memory": 1000, "httprr": 4000, ours: 11000},
		later: map[string]time.Duration{"memory": 90, "httprr": 180, ours: 900},
	}
	r := c.perCall("replay", 10, 12, 9)
	if r.limit != "memory 100ns" || r.ours != "11x (10x)" || r.peers != "httprr 4x (2x)" || r.wanted != "at most 12x (9x)" || r.met {
		t.Errorf("%+v", r)
	}
	if r := c.perCall("replay", 10, 12, 10); !r.met {
		t.Errorf("%+v", r)
	}
}
