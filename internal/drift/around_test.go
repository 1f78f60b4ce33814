package drift_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/drift"
)

func TestAround(t *testing.T) {
	text := func(s string) *string { return &s }
	far := strings.Repeat("a line that stays\n", 5000)
	long := strings.Repeat("ä", 40_000)
	for _, c := range []struct {
		name, reason string
		before       *string
		after        *string
		wantBefore   *string
		wantAfter    *string
	}{
		{"small", "all of it", text("a\nb"), text("a\nc"), text("a\nb"), text("a\nc")},
		{"short", "all of it, with what stays", text("1\n2\n3\nold"), text("1\n2\n3\nnew"), text("1\n2\n3\nold"), text("1\n2\n3\nnew")},
		{"far", "what is around the lines that changed", text(far + "old\n" + far), text(far + "new\n" + far),
			text("a line that stays\nold\na line that stays"), text("a line that stays\nnew\na line that stays")},
		{"long line", "what is around the marks", text(long + " old " + long), text(long + " new " + long),
			text("…" + strings.Repeat("ä", 125) + " old " + strings.Repeat("ä", 372) + "…"),
			text("…" + strings.Repeat("ä", 125) + " new " + strings.Repeat("ä", 372) + "…")},
		{"absent", "a side that is not there", nil, text(long), nil, text(strings.Repeat("ä", 500) + "…")},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := drift.Change{Before: c.before, After: c.after}.Around(64 << 10)
			require.Equal(t, c.wantBefore, got.Before, c.reason)
			require.Equal(t, c.wantAfter, got.After, c.reason)
		})
	}
}
