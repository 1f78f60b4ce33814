package drift

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Kinds of causes that no difference explains: see [Causes.AddKnown].
const (
	Unrecorded = "unrecorded" // calls without a record
	Uncalled   = "uncalled"   // records without a call
)

// A KnownChange is a change of a call of another process: its key is known, and its texts maybe not.
type KnownChange struct {
	Key string
	Change
}

// AddKnown adds a call of a run. Of changes with equal keys one that has texts stands for all. It is for causes of
// which all calls are added so.
func (c *Causes) AddKnown(at Place, spent Spent, changes ...KnownChange) {
	for i, change := range changes {
		if slices.ContainsFunc(changes[:i], func(other KnownChange) bool { return other.Key == change.Key }) {
			continue // of a call that is in the cause
		}
		cause := c.cause(change.Key, change.Change)
		if cause.Change.Before == nil && cause.Change.After == nil {
			cause.Change = change.Change
		}
		cause.Calls = append(cause.Calls, at)
		cause.Spent.add(spent)
	}
}

// Around returns a change whose texts are together not longer than most bytes, or little longer: larger ones
// are cut to what is around the lines that changed, and long lines to what is around their marks. The key of
// what is cut is another.
func (c Change) Around(most int) Change {
	if textLen(c.Before)+textLen(c.After) <= most {
		return c
	}
	const mostLines, mostOfLine = 60, 1000
	var b, a []string
	hunks, _ := c.Hunks(1, mostLines)
	for _, h := range hunks {
		for i := range h.Lines {
			text := h.Lines[i].around(mostOfLine)
			if h.Lines[i].Op != after {
				b = append(b, text)
			}
			if h.Lines[i].Op != before {
				a = append(a, text)
			}
		}
	}
	cut := func(text *string, lines []string) *string {
		if text == nil {
			return nil
		}
		joined := strings.Join(lines, "\n")
		return &joined
	}
	c.Before, c.After = cut(c.Before, b), cut(c.After, a)
	return c
}

func textLen(text *string) int {
	if text == nil {
		return 0
	}
	return len(*text)
}

// around returns what is around the first mark of a line, at most so many bytes.
func (l *Line) around(most int) string {
	if len(l.Text) <= most {
		return l.Text
	}
	start := 0
	if len(l.Marks) > 0 {
		start = max(0, l.Marks[0].From-most/4)
	}
	for start > 0 && !utf8.RuneStart(l.Text[start]) {
		start--
	}
	text := l.Text[start:]
	text = text[:boundary(text, min(most, len(text)))]
	return strings.Repeat("…", min(start, 1)) + text + "…"
}
