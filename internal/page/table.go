package page

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/traceforge/traceforge-go/internal/plaintext"
)

// A Column is a column of a [Table].
type Column struct {
	Name    string
	Right   bool // cells end below each other, as numbers do
	Shrinks bool // cells are cut where lines would be too long
	Shown   bool // also where all cells are empty
}

// A Table is cells in lines. Cell returns the text of one; it is called several times for each, so that
// a table of many lines is held nowhere.
type Table struct {
	Columns []Column
	Rows    int
	Cell    func(row, column int) string
}

// leastColumn is how far a column shrinks.
const leastColumn = 12

// Aligned returns the lines of the table for people, the names of the columns first: at most width characters
// each where columns that shrink allow it.
func (t *Table) Aligned(yield func(line string) bool, width int) {
	widths := t.fit(width)
	for row := -1; row < t.Rows; row++ {
		var line strings.Builder
		for i, w := range widths {
			if w == 0 {
				continue
			}
			cell := t.Columns[i].Name
			if row >= 0 {
				cell = plaintext.Line(t.Cell(row, i))
			}
			if line.Len() > 0 {
				line.WriteString("  ")
			}
			if cell = Clip(cell, w); t.Columns[i].Right {
				fmt.Fprintf(&line, "%*s", w, cell)
			} else {
				fmt.Fprintf(&line, "%-*s", w, cell)
			}
		}
		if !yield(strings.TrimRight(line.String(), " ")) {
			return
		}
	}
}

// fit returns the widths of the columns; 0: it is not shown.
func (t *Table) fit(width int) []int {
	widths, total := make([]int, len(t.Columns)), -2
	for i, c := range t.Columns {
		for row := range t.Rows {
			widths[i] = max(widths[i], utf8.RuneCountInString(plaintext.Line(t.Cell(row, i))))
		}
		if widths[i] > 0 || c.Shown {
			widths[i] = max(widths[i], utf8.RuneCountInString(c.Name))
			total += widths[i] + 2
		}
	}
	for ; total > width; total-- {
		widest := -1
		for i, c := range t.Columns {
			if c.Shrinks && widths[i] > leastColumn && (widest < 0 || widths[i] > widths[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			break
		}
		widths[widest]--
	}
	return widths
}

// Tabbed returns the lines of the table for programs: all cells, with tabs between them, and no names.
func (t *Table) Tabbed(yield func(line string) bool) {
	cells := make([]string, len(t.Columns))
	for row := range t.Rows {
		for i := range cells {
			cells[i] = plaintext.Line(t.Cell(row, i))
		}
		if !yield(strings.Join(cells, "\t")) {
			return
		}
	}
}
