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

// A Column is a column of a [Table]. Cell returns the text of a cell; it is called several times for each, so that
// a table of many lines is held nowhere.
type Column struct {
	Name    string
	Cell    func(row int) string
	Right   bool // cells end below each other, as numbers do
	Shrinks bool // cells may be cut where lines would be too long
	Shown   bool // also where all cells are empty
}

// A Table is cells in lines.
type Table struct {
	Columns []Column
	Rows    int
}

// leastColumn is how far a column shrinks.
const leastColumn = 12

// A layout is how a column stands in lines of some width.
type layout struct {
	width    int // 0 means it is not shown
	natural  int // the width of the uncut column
	prefix   int // how many characters all cells begin with
	apart    int // the width that shows what tells cells apart: behind prefix, with a mark in its place
	distinct int // how many different cells
}

// Aligned returns the lines of the table for people, the names of the columns first: at most width characters each.
// It first cuts what tells no rows apart: the common beginning of a column's cells, then columns with the fewest
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
			width := -l.width // the cell begins there
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

// cut cuts a cell to the width of its column: what all cells begin with before what tells it apart.
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
			if l := &layouts[i]; t.Columns[i].Shrinks && total > width {
				to := max(l.width-(total-width), min(l.width, least(i)))
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
	for _, i := range slices.Backward(order) { // columns may grow into what is left over
		if l := &layouts[i]; total < width && l.width > 0 {
			more := min(width-total, l.natural-l.width)
			l.width, total = l.width+more, total+more
		}
	}
	return layouts
}

// leastTelling notes what the cells of each column have in common, and returns the columns in the order in which they
// are cut: those with the fewest different cells first, of equal ones the widest.
func (t *Table) leastTelling(layouts []layout) (order []int) {
	for i := range t.Columns {
		l, cells := &layouts[i], map[string]bool{}
		for row := range t.Rows {
			cells[plaintext.Line(t.Columns[i].Cell(row))] = true
		}
		if l.distinct = len(cells); l.distinct > 1 {
			sorted := slices.Sorted(maps.Keys(cells)) // all begin as the first and the last do
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
		return cmp.Or(cmp.Compare(layouts[a].distinct, layouts[b].distinct), cmp.Compare(layouts[b].width, layouts[a].width), b-a)
	})
	return order
}

// sharedRunes returns how many characters two texts begin with alike.
func sharedRunes(a, b []rune) (n int) {
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

// Tabbed returns the lines of the table for programs: all cells, with tabs between them, and no names.
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
