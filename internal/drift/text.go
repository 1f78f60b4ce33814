package drift

import (
	"cmp"
	"unicode/utf8"
)

// Text shows differences, each under its pointer: see [Style.Text].
func Text(differences []Difference) string {
	w := writer{c: NewComparer(nil)}
	for _, d := range differences {
		w.named(cmp.Or(d.Pointer, "(whole)"), d.Pointer, w.c.part(d.Recorded), w.c.part(d.Got))
	}
	return Plain.Text(w.found)
}

// boundary returns the highest index up to i at which a rune of text starts.
func boundary(text string, i int) int {
	if i >= len(text) {
		return len(text)
	}
	for i > 0 && !utf8.RuneStart(text[i]) {
		i--
	}
	return i
}

// commonEnds returns the sum of the lengths of the common prefix and suffix of two texts in bytes.
func commonEnds(a, b string) int {
	head, tail := ends(a, b)
	return head + tail
}

// ends returns the lengths of the common prefix and suffix of two texts in bytes.
func ends(a, b string) (head, tail int) {
	most := min(len(a), len(b))
	for head < most && a[head] == b[head] {
		head++
	}
	for head+tail < most && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	return head, tail
}
