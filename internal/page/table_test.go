package page_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/page"
)

func table(cells ...[]string) *page.Table {
	return &page.Table{
		Columns: []page.Column{
			{Name: "TEST", Shrinks: true, Shown: true}, {Name: "PACKAGE", Shrinks: true}, {Name: "N", Right: true}, {Name: "STALE"},
		},
		Rows: len(cells), Cell: func(row, column int) string { return cells[row][column] },
	}
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
		{"shrinks", "columns give way until they are as wide as each other", 34,
			[][]string{{"TestOfSomething", "example.com/a/very/long/path", "1", ""}},
			"TEST            PACKAGE          N\nTestOfSomethi…  example.com/a/…  1"},
		{"least", "a column that is cut to nothing says nothing", 10,
			[][]string{{"TestOfSomething", "example.com/a/very/long/path", "1", ""}},
			"TEST          PACKAGE       N\nTestOfSomet…  example.com…  1"},
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
