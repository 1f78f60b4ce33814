package page

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/traceforge/traceforge-go/internal/plaintext"
)

// A Column is a column of a [Table]. Cell returns the text of a cell. It is called several times for each cell, so that
// a large table is not kept in memory.
type Column struct {
	Name    string
	Cell    func(row int) string
	Right   bool // align cells to the right, as for numbers
	Shrinks bool // cells may be shortened if lines are too long
	Shown   bool // show it even if all cells are empty
}

// A Table is lines of cells.
type Table struct {
	Columns []Column
	Rows    int
}

// leastColumn is the width to which a column shrinks.
const leastColumn = 12

// A layout is the form of a column in lines of a given width.
type layout struct {
	width    int // 0 if it is not shown
	natural  int // width of the complete column
	prefix   int // length of the common prefix of all cells
	apart    int // width that shows how cells differ: after prefix, with a mark in its place
	distinct int // number of different cells
}

// Aligned yields the lines of the table for people, with the names of the columns first, at most width characters each.
// It first shortens what does not distinguish rows: common prefixes of a column's cells, then columns with the fewest
// different cells.
func (t *Table) Aligned(yield func(line string) bool, width int) {
	layouts := t.fit(width)
	for row := -1; row < t.Rows; row++ {
		var cells []string
		for i, l := range layouts {
			if l.width == 0 {
				continue
			}
			cell := Clip(t.Columns[i].Name, l.width)
			if row >= 0 {
				cell = l.cut(plaintext.Line(t.Columns[i].Cell(row)))
			}
			width := -l.width // start of the cell
			if t.Columns[i].Right {
				width = l.width
			}
			cells = append(cells, fmt.Sprintf("%*s", width, cell))
		}
		if !yield(strings.TrimRight(strings.Join(cells, "  "), " ")) {
			return
		}
	}
}

// cut shortens a cell to the width of its column, and removes the common prefix first.
func (l *layout) cut(cell string) string {
	runes := []rune(cell)
	if more := len(runes) - l.width; more > 0 && l.prefix > 1 {
		cell = "…" + string(runes[min(more+1, l.prefix):])
	}
	return Clip(cell, l.width)
}

// fit returns the layouts of the columns.
func (t *Table) fit(width int) []layout {
	layouts, total := make([]layout, len(t.Columns)), -2
	for i, c := range t.Columns {
		l := &layouts[i]
		for row := range t.Rows {
			l.width = max(l.width, utf8.RuneCountInString(plaintext.Line(t.Columns[i].Cell(row))))
		}
		if l.width > 0 || c.Shown {
			l.natural = max(l.width, utf8.RuneCountInString(c.Name))
			l.width = l.natural
			total += l.width + 2
		}
	}
	if total <= width {
		return layouts
	}
	order := t.leastTelling(layouts)
	for _, least := range []func(i int) int{
		func(i int) int { return max(layouts[i].apart, leastColumn) },
		func(int) int { return leastColumn },
	} {
		for _, i := range order {
			if l := &layouts[i]; t.Columns[i].Shrinks {
				to := max(l.width-(total-width), min(l.width, least(i))) // total stays width or more
				total -= l.width - to
				l.width = to
			}
		}
	}
	for _, i := range order {
		if l := &layouts[i]; total > width && i > 0 && l.width > 0 {
			total -= l.width + 2
			l.width = 0
		}
	}
	layouts[0].width -= max(0, min(total-width, layouts[0].width-1))
	for _, i := range slices.Backward(order) { // columns may grow into the remaining width
		if l := &layouts[i]; total < width && l.width > 0 {
			more := min(width-total, l.natural-l.width)
			l.width, total = l.width+more, total+more
		}
	}
	return layouts
}

// leastTelling notes what the cells of each column have in common, and returns the columns in the order in which they
// are shortened. Those with the fewest different cells come first, and of these the widest.
func (t *Table) leastTelling(layouts []layout) (order []int) {
	for i := range t.Columns {
		l, cells := &layouts[i], map[string]bool{}
		for row := range t.Rows {
			cells[plaintext.Line(t.Columns[i].Cell(row))] = true
		}
		if l.distinct = len(cells); l.distinct > 1 {
			sorted := slices.Sorted(maps.Keys(cells)) // the first and last determine the common prefix
			l.prefix = sharedRunes([]rune(sorted[0]), []rune(sorted[len(sorted)-1]))
		}
		for cell := range cells {
			if l.distinct > 1 || t.Rows == 1 {
				l.apart = max(l.apart, utf8.RuneCountInString(cell)-l.prefix+min(l.prefix, 1))
			}
		}
		order = append(order, i)
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(layouts[a].distinct, layouts[b].distinct),
			cmp.Compare(layouts[b].width, layouts[a].width), b-a)
	})
	return order
}

// sharedRunes returns the length of the common prefix of two texts in characters.
func sharedRunes(a, b []rune) (n int) {
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

// Tabbed yields the lines of the table for programs: all cells, separated by tabs, without names.
func (t *Table) Tabbed(yield func(line string) bool) {
	cells := make([]string, len(t.Columns))
	for row := range t.Rows {
		for i := range cells {
			cells[i] = plaintext.Line(t.Columns[i].Cell(row))
		}
		if !yield(strings.Join(cells, "\t")) {
			return
		}
	}
}
