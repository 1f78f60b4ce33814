package drift

import "strings"

// Around returns the change with its texts reduced to about most bytes in total. Longer texts are reduced to the
// surroundings of the changed lines, and long lines to the surroundings of their marks. A change that was reduced has
// another key.
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

// around returns at most most bytes of a line, around its first mark.
func (l *Line) around(most int) string {
	if len(l.Text) <= most {
		return l.Text
	}
	start := 0
	if len(l.Marks) > 0 {
		start = max(0, l.Marks[0].From-most/4)
	}
	start = boundary(l.Text, start)
	text := l.Text[start:]
	return strings.Repeat("…", min(start, 1)) + text[:boundary(text, most)] + "…"
}
