package snapshot

import (
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/internal/jsontext"
)

// A builder writes a compact text. What cannot be written is reported and left out, so the
// text is of use only if nothing was found.
type builder struct {
	trail
	text []byte
}

// appendText appends a string, as RFC 8785 section 3.2.2.2 spells it.
func (b *builder) appendText(s string) {
	if !utf8.ValidString(s) {
		b.report(ruleUnicode, "must be valid UTF-8")
		return
	}
	b.growFor(s)
	b.text = append(b.text, '"')
	plain := 0
	for i := range len(s) {
		if isPlain(s[i]) {
			continue
		}
		b.text = jsontext.AppendRune(append(b.text, s[plain:i]...), rune(s[i]))
		plain = i + 1
	}
	b.text = append(append(b.text, s[plain:]...), '"')
}

// growFor makes room for a string that is long, and for what may follow it, at once: an answer
// can have many megabytes, and each growth on the way would copy them.
func (b *builder) growFor(s string) {
	const long = 4 << 10
	if len(s) < long {
		return
	}
	size := len(s) + long
	var escape [len(`\u0000`)]byte
	for i := range len(s) {
		if !isPlain(s[i]) {
			size += len(jsontext.AppendRune(escape[:0], rune(s[i]))) - 1
		}
	}
	b.text = slices.Grow(b.text, size)
}

// isPlain reports whether a byte of a string stands for itself.
func isPlain(c byte) bool { return c >= ' ' && c != '"' && c != '\\' }

// appendRaw appends a JSON text, its numbers kept (design R1).
func (b *builder) appendRaw(raw []byte) {
	kept, err := canon.KeepNumbers(raw)
	if err != nil {
		b.found = append(b.found, textViolation(b.pointer(), err))
		return
	}
	b.text = append(b.text, kept...)
}

func (b *builder) appendInt(n int64) { b.text = strconv.AppendInt(b.text, n, 10) }

// canonical makes text[start:], one value, canonical.
func (b *builder) canonical(start int) {
	if len(b.found) > 0 || canon.Canonical(b.text[start:]) {
		return
	}
	text, err := canon.JSON(b.text[start:])
	if err != nil {
		b.found = append(b.found, textViolation(b.pointer(), err))
		return
	}
	b.text = append(b.text[:start], text...)
}

// err returns what was found, if anything.
func (b *builder) err() error {
	if len(b.found) == 0 {
		return nil
	}
	slices.SortFunc(b.found, compareViolations)
	return &Error{Violations: b.found}
}
