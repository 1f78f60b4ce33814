package drift

import (
	"cmp"
	"encoding/json"
	"unicode/utf8"
)

// Text shows differences, each under its pointer: see [Style.Text].
func Text(differences []Difference) string {
	changes := make([]Change, len(differences))
	for i, d := range differences {
		pointer := cmp.Or(d.Pointer, "(whole)")
		c := Change{Component: pointer, Kind: pointer, Pointer: d.Pointer}
		c.Before, c.After = spelledAs(readable, d.Recorded), spelledAs(readable, d.Got)
		if c.Before != nil && c.After != nil && *c.Before == *c.After { // as "1" and 1
			c.Before, c.After = spelledAs(laidOut, d.Recorded), spelledAs(laidOut, d.Got)
		}
		changes[i] = c
	}
	return Plain.Text(changes)
}

// spelledAs spells a value; nil means absent.
func spelledAs(spell spelling, value json.RawMessage) *string {
	if value == nil {
		return nil
	}
	text := spell.text(value)
	return &text
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

// commonEnds returns how many bytes two texts have in common where they begin and where they end.
func commonEnds(a, b string) int {
	head, most := 0, min(len(a), len(b))
	for head < most && a[head] == b[head] {
		head++
	}
	tail := 0
	for head+tail < most && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	return head + tail
}
