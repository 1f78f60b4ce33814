package drift

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/traceforge/traceforge-go/internal/plaintext"
)

// A Style determines how changes are shown as text. The text is safe for terminals and logs.
type Style struct {
	Width  int  // approximate characters of a changed line; longer lines are reduced to the surroundings of their changes
	Around int  // lines shown around changed lines
	Most   int  // maximum lines of one change
	Color  bool // use escape sequences, for a terminal
}

// Plain is the style of test failures.
var Plain = Style{Width: 160, Most: 30}

// Text shows changes, each under its component:
//
//	  system, line 2
//	- Never guess.
//	+ Do not guess.
//	? ^^^^^^
//
// Lines before the change have a -, lines after it a +, and other lines two spaces. Without color, a line with a ?
// marks the words that the line above it gained. If words were only removed, it is below the - line and marks those.
func (s Style) Text(changes []Change) string {
	const most = 20 // maximum number of changes
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
		shown = append(shown, "  "+s.Styled(bold, strings.TrimPrefix(title, ", ")))
		title = ""
		for i := 0; i < len(h.Lines); i++ {
			l := &h.Lines[i]
			switch {
			case l.Op == before && l.Marks != nil:
				i++
				shown = append(shown, s.pair(l, &h.Lines[i])...)
			case l.Op == inBoth && l.Text == "" && i == len(h.Lines)-1:
				// the empty line after a final newline is not shown
			case l.Op == inBoth:
				line, _ := s.line(l.Op, []Piece{{Head(l.Text, s.Width), false}})
				shown = append(shown, line)
			default:
				shown = append(shown, s.folded(l)...)
			}
		}
	}
	if more > 0 {
		shown = append(shown, s.Styled(faint, fmt.Sprintf("  … %d more lines", more)))
	}
	return shown
}

func hasLines(text *string) bool { return strings.Contains(*text, "\n") }

// first returns the number of the first changed line: after the change or, if it was removed, before it.
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

// Styled returns a text with the escape sequences of a style, which may be "".
func (s Style) Styled(style, text string) string {
	if !s.Color || style == "" || text == "" {
		return text
	}
	return "\x1b[" + style + "m" + text + "\x1b[0m"
}

// maxPlaces limits how many places of a long line are shown.
const maxPlaces = 6

// folded shows a changed line, in several lines if it is long.
func (s Style) folded(l *Line) (shown []string) {
	for text := Head(l.Text, max(s.Width, Plain.Width)); ; {
		end := len(text)
		if s.Width < Plain.Width && len(text) > s.Width {
			end = boundary(text, s.Width)
		}
		line, _ := s.line(l.Op, []Piece{{text[:end], false}})
		if shown, text = append(shown, line), text[end:]; text == "" {
			return shown
		}
	}
}

// narrow is the width below which the surroundings of a mark are not shown.
const narrow = 60

// pair shows a line and its replacement. Long lines are shown place by place where they differ.
func (s Style) pair(was, is *Line) (shown []string) {
	if max(utf8.RuneCountInString(was.Text), utf8.RuneCountInString(is.Text)) <= s.Width {
		s.Width = 4 * max(len(was.Text), len(is.Text)) // so that both are one place with all of the line around it
	} else if s.Width < narrow {
		return append(s.folded(was), s.folded(is)...)
	}
	places := s.places(was, is)
	for n, p := range places {
		if n == maxPlaces {
			return append(shown, s.Styled(faint, fmt.Sprintf("  … and %d more places of this line", len(places)-n)))
		}
		beforeLine, lost := s.line(before, s.pieces(was, p))
		afterLine, gained := s.line(after, s.pieces(is, p))
		shown = append(shown, beforeLine)
		if lost != "" && gained == "" {
			shown = append(shown, lost)
		}
		if shown = append(shown, afterLine); gained != "" {
			shown = append(shown, gained)
		}
	}
	return shown
}

// A place is a range of marks in a line that are shown together.
type place struct{ from, to int }

// places returns the places at which a line and its replacement are shown.
func (s Style) places(was, is *Line) (places []place) {
	room := s.Width - 2*s.around()
	for i := range was.Marks {
		last := len(places) - 1
		if last >= 0 {
			first := places[last].from
			if was.Marks[i].To-was.Marks[first].From <= room && is.Marks[i].To-is.Marks[first].From <= room {
				places[last].to = i + 1
				continue
			}
		}
		places = append(places, place{i, i + 1})
	}
	return places
}

// around is how many bytes are shown on each side of a place.
func (s Style) around() int { return s.Width / 4 }

// line shows a line, and the line of marks below it, which is empty if nothing is marked or color shows the marks.
func (s Style) line(op string, pieces []Piece) (line, below string) {
	style := map[string]string{before: red, after: green}[op]
	var text, marks strings.Builder
	for _, p := range pieces {
		shown, mark := shown(p.Text), " "
		if p.Marked {
			mark = "^"
			text.WriteString(s.Styled(style+";"+reverse, shown))
		} else {
			text.WriteString(s.Styled(style, shown))
		}
		marks.WriteString(strings.Repeat(mark, columns(shown)))
	}
	line = s.Styled(style, op) + " " + text.String()
	if s.Color {
		return line, ""
	}
	if marked := strings.TrimRight(marks.String(), " "); marked != "" {
		below = "? " + marked
	}
	return plaintext.Line(line), below // escaped again, because pieces may be harmless only on their own
}

// A Piece is a part of a line.
type Piece struct {
	Text   string
	Marked bool // the other line does not contain it
}

// pieces returns the visible pieces of a line at a place.
func (s Style) pieces(l *Line, p place) (pieces []Piece) {
	around, most := s.around(), s.Width-2*s.around()
	start := l.Marks[p.from].From
	pieces = append(pieces, Piece{tail(l.Text[:start], around), false})
	for _, m := range l.Marks[p.from:p.to] {
		changed := Head(l.Text[m.From:m.To], most)
		pieces = append(pieces, Piece{l.Text[start:m.From], false}, Piece{changed, true})
		start = m.To
	}
	rest := l.Text[start:]
	if len(rest) > around+len("…") {
		rest = rest[:boundary(rest, around)] + "…"
	}
	return append(pieces, Piece{rest, false})
}

// Head returns the start of a text, and how much more there is.
func Head(text string, most int) string {
	const slack = 20 // bytes, which is the length of the note
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

// shown makes all characters of a part of a line visible.
func shown(text string) string { return plaintext.Line(strings.ReplaceAll(text, "\t", "    ")) }

// columns returns how many terminal columns a text takes.
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

// isWide reports whether a character takes two columns, like those of East Asia and most emoji (UAX #11).
func isWide(r rune) bool {
	const first, hangul, angle = 0x1100, 0xAC00, 0x2E80
	return r >= first && (r <= 0x115F || r >= angle && r <= 0xA4CF || r >= hangul && r <= 0xD7A3 ||
		r >= 0xF900 && r <= 0xFAFF || r >= 0xFE30 && r <= 0xFE6F || r >= 0xFF00 && r <= 0xFF60 ||
		r >= 0xFFE0 && r <= 0xFFE6 || r >= 0x1F300 && r <= 0x1FAFF || r >= 0x20000 && r <= 0x3FFFD) && unicode.IsPrint(r)
}
