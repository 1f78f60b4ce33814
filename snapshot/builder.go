package snapshot

import (
	"encoding/json"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/traceforge/traceforge-go/canon"
)

// A builder writes a compact text. What cannot be written is reported and left out, so the
// text is of use only if nothing was found.
type builder struct {
	trail
	text []byte
}

// appendText appends a string.
func (b *builder) appendText(s string) {
	if !utf8.ValidString(s) {
		b.report(ruleUnicode, "must be valid UTF-8")
		return
	}
	quoted, _ := json.Marshal(s) // strings always marshal; canonical makes the escapes the shortest
	b.text = append(b.text, quoted...)
}

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
	if len(b.found) > 0 {
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
