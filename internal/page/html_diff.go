package page

import (
	"fmt"
	"strings"

	"github.com/traceforge/traceforge-go/internal/drift"
	"github.com/traceforge/traceforge-go/internal/plaintext"
)

// Limits on what the page contains of a change.
const (
	htmlLines  = 400    // changed lines
	htmlFolded = 100    // equal lines between two changed ones; the rest is counted
	htmlWidth  = 4_000  // bytes of a line
	htmlAround = 400    // equal bytes on each side of a change, in a longer line; fewer next to many changes
	htmlText   = 10_000 // bytes of an unchanged text
)

// An htmlChange is a change as shown on the page.
type htmlChange struct {
	Title  string
	Prose  bool // a text, not JSON
	Sides  bool // show before and after side by side
	Groups []htmlGroup
	More   string // what is left out
}

// An htmlGroup is a group of consecutive lines.
type htmlGroup struct {
	Fold string // number of folded equal lines
	Rows []htmlRow
}

// An htmlRow is a line before and after the change; nil on a side without it.
type htmlRow struct {
	Same          bool
	Before, After []drift.Piece
}

// htmlChangeOf returns the page's view of a change.
func htmlChangeOf(c drift.Change, sides bool) htmlChange {
	const around = 2
	hunks, more := c.Hunks(around, htmlLines)
	v := htmlChange{
		Title: plaintext.Line(c.String()), Prose: isProse(c.Kind), Sides: sides && c.Before != nil && c.After != nil,
	}
	var before []string // the lines between the hunks are the same on both sides
	if c.Before != nil {
		before = strings.Split(*c.Before, "\n")
	}
	next := 0 // next line before the change
	for _, h := range hunks {
		v.fold(before, next, h.Before-1)
		v.Groups = append(v.Groups, htmlGroup{Rows: rowsOf(h.Lines)})
		next = h.Before - 1
		for _, l := range h.Lines {
			if l.Op != "+" {
				next++
			}
		}
	}
	if more == 0 {
		v.fold(before, next, len(before))
	} else {
		v.More = Count(more, "more line", "more lines") + " changed"
	}
	return v
}

// isProse reports whether a component is text written by people.
func isProse(kind string) bool {
	return strings.HasSuffix(kind, " message") || kind == "system" || kind == "prompt" ||
		kind == AnswerText || kind == Reasoning
}

// fold adds the equal lines from from to to.
func (v *htmlChange) fold(lines []string, from, to int) {
	if to = min(to, len(lines)); from >= to {
		return
	}
	equal := lines[from:to]
	g := htmlGroup{Fold: Count(len(equal), "equal line", "equal lines")}
	for i, line := range equal {
		if i == htmlFolded {
			more := fmt.Sprintf("… %s", Count(len(equal)-i, "more equal line", "more equal lines"))
			g.Rows = append(g.Rows, htmlRow{Same: true, Before: []drift.Piece{{Text: more}}})
			break
		}
		g.Rows = append(g.Rows, htmlRow{Same: true, Before: shownPieces(&drift.Line{Op: " ", Text: line})})
	}
	v.Groups = append(v.Groups, g)
}

// rowsOf puts each line next to its replacement.
func rowsOf(lines []drift.Line) (rows []htmlRow) {
	for i := 0; i < len(lines); i++ {
		pieces := shownPieces(&lines[i])
		switch {
		case lines[i].Op == " ":
			rows = append(rows, htmlRow{Same: true, Before: pieces})
		case lines[i].Op == "+":
			rows = append(rows, htmlRow{After: pieces})
		case i+1 < len(lines) && lines[i+1].Op == "+":
			i++
			rows = append(rows, htmlRow{Before: pieces, After: shownPieces(&lines[i])})
		default:
			rows = append(rows, htmlRow{Before: pieces})
		}
	}
	return rows
}

// shownPieces returns a line in pieces without hidden or reordered characters. A long line has the surroundings of its
// marks, or without marks its start, and how much more there is. An empty line has one piece.
func shownPieces(l *drift.Line) (shown []drift.Piece) {
	room, start := htmlWidth, 0
	around := max(20, min(htmlAround, htmlWidth/4/(len(l.Marks)+1)))
	add := func(text string, marked bool) {
		if room -= len(text); room < 0 {
			text = strings.ToValidUTF8(text[:max(room+len(text), 0)], "")
		}
		if text = plaintext.Line(strings.ReplaceAll(text, "\t", "    ")); text != "" {
			shown = append(shown, drift.Piece{Text: text, Marked: marked})
		}
	}
	equal := func(text string, head, tail int) {
		left := len(text) - head - tail
		if len(l.Text) > htmlWidth && l.Marks != nil && room > 0 && left > around {
			add(strings.ToValidUTF8(text[:head], ""), false)
			shown = append(shown, drift.Piece{Text: fmt.Sprintf("… (%d equal bytes) …", left)})
			text = strings.ToValidUTF8(text[len(text)-tail:], "")
		}
		add(text, false)
	}
	for i, m := range l.Marks {
		equal(l.Text[start:m.From], min(i, 1)*around, around)
		add(l.Text[m.From:m.To], true)
		start = m.To
	}
	equal(l.Text[start:], around, 0)
	switch {
	case room < 0:
		shown = append(shown, drift.Piece{Text: fmt.Sprintf("… (%d bytes more)", -room)})
	case len(shown) == 0:
		shown = append(shown, drift.Piece{})
	}
	return shown
}
