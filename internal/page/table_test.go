package page_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/page"
)

func table(cells ...[]string) *page.Table {
	columns := []page.Column{
		{Name: "TEST", Shrinks: true, Shown: true}, {Name: "PACKAGE", Shrinks: true}, {Name: "N", Right: true}, {Name: "STALE"},
	}
	for i := range columns {
		columns[i].Cell = func(row int) string { return cells[row][i] }
	}
	return &page.Table{Columns: columns, Rows: len(cells)}
}

func aligned(t *page.Table, width int) string {
	var lines []string
	t.Aligned(func(line string) bool { lines = append(lines, line); return true }, width)
	return strings.Join(lines, "\n")
}

func TestTableAligned(t *testing.T) {
	for _, c := range []struct {
		name, reason string
		width        int
		cells        [][]string
		want         string
	}{
		{"empty", "the names say what there would be", 40, nil, "TEST"},
		{"fits", "numbers end below each other, and a column of nothing is left out", 40,
			[][]string{{"TestA", "example.com/a", "7", ""}, {"TestÄrger", "b", "1234", ""}},
			"TEST       PACKAGE           N\n" +
				"TestA      example.com/a     7\n" +
				"TestÄrger  b              1234"},
		{"shown", "one cell is enough for a column", 40, [][]string{{"T", "p", "1", ""}, {"U", "p", "1", "2"}},
			"TEST  PACKAGE  N  STALE\nT     p        1\nU     p        1  2"},
		{"same", "what is the same in all rows gives way first", 34,
			[][]string{{"TestOfSomething", "example.com/a/very/long/path", "1", ""}, {"TestOfSomeone", "example.com/a/very/long/path", "2", ""}},
			"TEST             PACKAGE         N\nTestOfSomething  example.com/a…  1\nTestOfSomeone    example.com/a…  2"},
		{"begins", "then what all cells begin with: the package alone tells these rows apart", 34,
			[][]string{{"TestOfSomething", "example.com/a/very/long/one", "1", ""}, {"TestOfSomething", "example.com/a/very/long/two", "2", ""}},
			"TEST          PACKAGE            N\nTestOfSomet…  …/a/very/long/one  1\nTestOfSomet…  …/a/very/long/two  2"},
		{"telling", "a column of few different cells before one of many", 34,
			[][]string{{"TestA/one", "gpt-4o-mini-2024-07-18", "1", ""}, {"TestB/two", "claude-sonnet-4-5-20250929", "2", ""}, {"Third", "gpt-4o-mini-2024-07-18", "3", ""}},
			"TEST       PACKAGE               N\nTestA/one  gpt-4o-mini-2024-07…  1\nTestB/two  claude-sonnet-4-5-2…  2\nThird      gpt-4o-mini-2024-07…  3"},
		{"least", "a column that is cut to nothing says nothing: it is left out", 20,
			[][]string{{"TestOfSomething", "example.com/a", "1", ""}, {"TestOfSomeone", "example.com/a", "1", ""}},
			"TEST             N\nTestOfSomething  1\nTestOfSomeone    1"},
		{"tiny", "the first column is there in any case", 10,
			[][]string{{"TestOfSomething", "example.com/a", "1", ""}, {"TestOfSomeone", "example.com/a", "1", ""}},
			"TEST\n…Something\n…OfSomeone"},
		{"hostile", "nothing in a cell leaves it", 40, [][]string{{"a\tb\nc\x1b", "p", "1", ""}},
			"TEST           PACKAGE  N\na\\tb\\nc\\u001b  p        1"},
	} {
		t.Run(c.name, func(t *testing.T) { require.Equal(t, c.want, aligned(table(c.cells...), c.width), c.reason) })
	}
}

// A reader that has seen enough gets no more.
func TestTableStops(t *testing.T) {
	lines := 0
	stop := func(string) bool { lines++; return lines < 2 }
	rows := table([]string{"a", "", "", ""}, []string{"b", "", "", ""}, []string{"c", "", "", ""})
	rows.Aligned(stop, 80)
	require.Equal(t, 2, lines)
	lines = 0
	rows.Tabbed(stop)
	require.Equal(t, 2, lines)
}

func TestTableTabbed(t *testing.T) {
	var lines []string
	cells := [][]string{{"TestOfSomethingLong", "", "1", ""}, {"a\tb", "p", "2", "x"}}
	table(cells...).Tabbed(func(line string) bool { lines = append(lines, line); return true })
	require.Equal(t, []string{"TestOfSomethingLong\t\t1\t", "a\\tb\tp\t2\tx"}, lines, "all cells, uncut, and no tab but those between them")
}
