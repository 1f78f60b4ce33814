package drift

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/traceforge/traceforge-go/internal/plaintext"
)

// A Style is how changes are shown as text. What it writes drives no terminal and no log.
type Style struct {
	Width  int  // characters of a line that changed, about; longer ones are cut around what changed
	Around int  // lines shown around those that changed
	Most   int  // lines of one change that are shown
	Color  bool // with escape sequences, for a terminal
}

// Plain is the style of failures of tests.
var Plain = Style{Width: 160, Most: 30}

// Text shows changes, each under its component:
//
//	  system, line 2
//	- Never guess.
//	+ Do not guess.
//	? ^^^^^^
//
// Lines before have a -, lines after a +, others two spaces. Where there is no colour, a line with a ?
// marks the words of the line above it that the line it replaces does not have, or if it lost some only,
// those that it lost.
func (s Style) Text(changes []Change) string {
	const most = 20 // changes
	var b strings.Builder
	for i, c := range changes {
		if i == most {
			fmt.Fprintf(&b, "  … and %d more differences\n", len(changes)-i)
			break
		}
		for _, line := range s.Lines(c) {
			b.WriteString(line + "\n")
		}
	}
	return b.String()
}

// Lines shows one change.
func (s Style) Lines(c Change) []string {
	hunks, more := c.Hunks(s.Around, s.Most)
	title := plaintext.Line(c.String())
	var shown []string
	for _, h := range hunks {
		if c.Before != nil && c.After != nil && (hasLines(c.Before) || hasLines(c.After)) {
			title += fmt.Sprintf(", line %d", h.first())
		}
		shown = append(shown, "  "+s.styled(bold, strings.TrimPrefix(title, ", ")))
		title = ""
		for i := range h.Lines {
			marked := h.Lines[i].Marks != nil && (i+1 == len(h.Lines) || h.Lines[i+1].Op != after || h.Lines[i+1].Marks == nil)
			shown = append(shown, s.line(&h.Lines[i], marked && !s.Color)...)
		}
	}
	if more > 0 {
		shown = append(shown, s.styled(faint, fmt.Sprintf("  … %d more lines", more)))
	}
	return shown
}

func hasLines(text *string) bool { return strings.Contains(*text, "\n") }

// first returns the number of the first line that changed: after, or before where it is there only.
func (h *Hunk) first() int {
	same := slices.IndexFunc(h.Lines, func(l Line) bool { return l.Op != inBoth })
	if h.Lines[same].Op == before && (same+1 == len(h.Lines) || h.Lines[same+1].Op != after) {
		return h.Before + same
	}
	return h.After + same
}

// The escape sequences of a style (ECMA-48 "SGR").
const (
	bold    = "1"
	faint   = "2"
	red     = "31"
	green   = "32"
	reverse = "7"
)

func (s Style) styled(style, text string) string {
	if !s.Color || style == "" || text == "" {
		return text
	}
	return "\x1b[" + style + "m" + text + "\x1b[0m"
}

// line shows a line, and below it what changed in it where it is marked there.
func (s Style) line(l *Line, marked bool) []string {
	style := map[string]string{before: red, after: green}[l.Op]
	var text, below strings.Builder
	for _, p := range s.Pieces(l) {
		shown := shown(p.Text)
		switch {
		case !p.Marked:
			text.WriteString(s.styled(style, shown))
			below.WriteString(strings.Repeat(" ", columns(shown)))
		default:
			text.WriteString(s.styled(style+";"+reverse, shown))
			below.WriteString(strings.Repeat("^", columns(shown)))
		}
	}
	line := s.styled(style, l.Op) + " " + text.String()
	if !s.Color {
		line = plaintext.Line(line) // again, as pieces may be harmless alone
	}
	if !marked {
		return []string{line}
	}
	return []string{line, "? " + strings.TrimRight(below.String(), " ")}
}

// A Piece is a part of a line.
type Piece struct {
	Text   string
	Marked bool // it is what changed inside the line
}

// Pieces returns a line in pieces, without what is too long to be shown. Their texts are as they were recorded.
func (s Style) Pieces(l *Line) (pieces []Piece) {
	if l.Marks == nil || utf8.RuneCountInString(l.Text) <= s.Width {
		return s.whole(l)
	}
	room := 2 * s.Width // of which each piece takes what it needs
	around := s.Width / 4
	end := 0
	for i, m := range l.Marks {
		same := l.Text[end:m.From]
		if i == 0 {
			same = tail(same, around)
		} else {
			same = middle(same, around)
		}
		changed := head(l.Text[m.From:m.To], max(room, around))
		pieces = append(pieces, Piece{same, false}, Piece{changed, true})
		room -= len(same) + len(changed)
		if end = m.To; room <= 0 {
			break
		}
	}
	return append(pieces, Piece{head(l.Text[end:], around), false})
}

// whole returns a line of which all or nothing changed, or one that is short.
func (s Style) whole(l *Line) (pieces []Piece) {
	if l.Marks == nil {
		return []Piece{{head(l.Text, s.Width), false}}
	}
	end := 0
	for _, m := range l.Marks {
		pieces = append(pieces, Piece{l.Text[end:m.From], false}, Piece{l.Text[m.From:m.To], true})
		end = m.To
	}
	return append(pieces, Piece{l.Text[end:], false})
}

// head returns the beginning of a text, and how much more there is.
func head(text string, most int) string {
	const slack = 20 // bytes, which the note would take
	if len(text) <= most+slack {
		return text
	}
	end := boundary(text, most)
	return fmt.Sprintf("%s… (%d bytes more)", text[:end], len(text)-end)
}

// tail returns the end of a text.
func tail(text string, most int) string {
	if len(text) <= most+len("…") {
		return text
	}
	return "…" + text[boundary(text, len(text)-most):]
}

// middle returns both ends of a text.
func middle(text string, around int) string {
	if len(text) <= 2*around+len("…") {
		return text
	}
	return text[:boundary(text, around)] + tail(text[around:], around)
}

// shown spells a part of a line so that all of it is seen.
func shown(text string) string { return plaintext.Line(strings.ReplaceAll(text, "\t", "    ")) }

// columns returns how many columns of a terminal a text takes.
func columns(text string) (n int) {
	for _, r := range text {
		switch {
		case joins(r):
		case isWide(r):
			n += 2
		default:
			n++
		}
	}
	return n
}

// isWide reports whether a character takes two columns, as those of East Asia and most emoji do (UAX #11).
func isWide(r rune) bool {
	const first, hangul, angle = 0x1100, 0xAC00, 0x2E80
	return r >= first && (r <= 0x115F || r >= angle && r <= 0xA4CF || r >= hangul && r <= 0xD7A3 ||
		r >= 0xF900 && r <= 0xFAFF || r >= 0xFE30 && r <= 0xFE6F || r >= 0xFF00 && r <= 0xFF60 ||
		r >= 0xFFE0 && r <= 0xFFE6 || r >= 0x1F300 && r <= 0x1FAFF || r >= 0x20000 && r <= 0x3FFFD) && unicode.IsPrint(r)
}
