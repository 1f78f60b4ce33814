package drift

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/diff"
)

// What a rendering holds at the most, so that a megabyte that changed does not fill a terminal.
const (
	maxDifferences = 20
	maxLines       = 40  // of one multi-line value
	maxValue       = 400 // bytes of one line shown whole
	context        = 80  // bytes shown on either side of what changed in a longer line
	maxDiffed      = 1 << 20
)

// Text renders differences: the pointer, then the recorded value behind "-" and the value
// that was got behind "+". Values of several lines are shown as a line diff, long lines as
// the part that changed; what is left out is counted.
func Text(differences []Difference) string {
	var b strings.Builder
	for i, d := range differences {
		if i == maxDifferences {
			fmt.Fprintf(&b, "  … and %d more differences\n", len(differences)-i)
			break
		}
		pointer := d.Pointer
		if pointer == "" {
			pointer = "(whole)"
		}
		fmt.Fprintf(&b, "  %s\n", pointer)
		recorded, got := texts(d)
		writeValues(&b, recorded, got)
	}
	return b.String()
}

// texts returns what is shown of both sides; nil is absent. Strings lose their quotes where
// that cannot be mistaken: not beside a value of another type, nor where white space at an
// end or a control character would not be seen.
func texts(d Difference) (recorded, got *string) {
	r, rPlain := stringValue(d.Recorded)
	g, gPlain := stringValue(d.Got)
	if rPlain && gPlain {
		return r, g
	}
	return shownText(d.Recorded), shownText(d.Got)
}

func stringValue(value json.RawMessage) (text *string, plain bool) {
	if value == nil {
		return nil, true
	}
	var s string
	if value[0] != '"' || json.Unmarshal(value, &s) != nil || s == "" || s != strings.Trim(s, " \t") {
		return nil, false
	}
	for _, r := range s {
		if r != '\n' && r != '\t' && !unicode.IsPrint(r) {
			return nil, false
		}
	}
	return &s, true
}

func shownText(value json.RawMessage) *string {
	if value == nil {
		return nil
	}
	text := string(value)
	if len(value) > maxValue && value[0] != '"' {
		var indented bytes.Buffer
		if json.Indent(&indented, value, "", "  ") == nil {
			text = indented.String()
		}
	}
	return &text
}

func writeValues(b *strings.Builder, recorded, got *string) {
	switch {
	case recorded == nil:
		writeWhole(b, '+', *got)
	case got == nil:
		writeWhole(b, '-', *recorded)
	case strings.Contains(*recorded, "\n") || strings.Contains(*got, "\n"):
		writeLines(b, *recorded, *got)
	default:
		r, g := clip(*recorded, *got)
		fmt.Fprintf(b, "- %s\n+ %s\n", r, g)
	}
}

func writeWhole(b *strings.Builder, sign byte, text string) {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for i, line := range lines {
		if len(line) > maxValue {
			end := boundary(line, maxValue)
			line = fmt.Sprintf("%s… (%d bytes more)", line[:end], len(line)-end)
		}
		lines[i] = fmt.Sprintf("%c %s", sign, line)
	}
	writeSome(b, lines)
}

// writeSome writes lines, and counts those that are too many.
func writeSome(b *strings.Builder, lines []string) {
	for i, line := range lines {
		if i == maxLines {
			fmt.Fprintf(b, "  … %d more lines\n", len(lines)-i)
			return
		}
		b.WriteString(line + "\n")
	}
}

// writeLines writes a line diff of two texts. Texts too large to align are cut behind the
// first line that differs, which bounds time and memory.
func writeLines(b *strings.Builder, recorded, got string) {
	recorded, got = window(recorded, got)
	unified := diff.Diff("recorded", []byte(withNewline(recorded)), "got", []byte(withNewline(got)))
	lines := strings.Split(strings.TrimSuffix(string(unified), "\n"), "\n")
	lines = lines[min(3, len(lines)):] // without the unified format's own header
	for i, line := range lines {
		sign, text := line[:1], line[1:]
		if sign == "@" {
			sign, text = " ", line
		} else if len(text) > maxValue {
			text = text[:boundary(text, maxValue)] + "…"
		}
		lines[i] = sign + " " + text
	}
	writeSome(b, lines)
}

// window cuts two long texts down to the neighbourhood of their first difference.
func window(recorded, got string) (string, string) {
	if len(recorded)+len(got) <= maxDiffed {
		return recorded, got
	}
	const most = 64 << 10
	start := strings.LastIndexByte(recorded[:commonPrefix(recorded, got)], '\n') + 1
	recorded, got = recorded[start:], got[start:]
	return recorded[:boundary(recorded, most)], got[:boundary(got, most)]
}

func withNewline(text string) string {
	if text == "" || strings.HasSuffix(text, "\n") {
		return text
	}
	return text + "\n"
}

// clip shortens two long lines to what differs and a little around it.
func clip(recorded, got string) (string, string) {
	if len(recorded) <= maxValue && len(got) <= maxValue {
		return recorded, got
	}
	head := commonPrefix(recorded, got)
	tail := commonSuffix(recorded[head:], got[head:])
	return excerpt(recorded, head, len(recorded)-tail), excerpt(got, head, len(got)-tail)
}

// excerpt returns text[start:end] with its context, itself cut when it is long.
func excerpt(text string, start, end int) string {
	from := boundary(text, max(0, start-context))
	to := boundary(text, min(len(text), end+context))
	if to-from > 2*maxValue {
		to = boundary(text, from+2*maxValue)
	}
	var b strings.Builder
	if from > 0 {
		b.WriteString("…")
	}
	b.WriteString(text[from:to])
	if to < len(text) {
		fmt.Fprintf(&b, "… (%d bytes in all)", len(text))
	}
	return b.String()
}

// boundary returns the greatest index not above i at which a rune of text starts.
func boundary(text string, i int) int {
	if i >= len(text) {
		return len(text)
	}
	for i > 0 && !utf8.RuneStart(text[i]) {
		i--
	}
	return i
}

func commonPrefix(a, b string) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

func commonSuffix(a, b string) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[len(a)-1-i] != b[len(b)-1-i] {
			return i
		}
	}
	return n
}
