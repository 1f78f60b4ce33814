// Package plaintext makes text from stores and providers safe to print (design R16). The result controls no terminal,
// has no hidden or reordered characters, and is no command to programs that read the log.
package plaintext

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Line returns s as one line. Control characters and characters that hide or reorder text are escaped as in JSON. The
// first character of a runner's command is escaped too: of "::" before a word, which GitHub's runner obeys at the start
// of a line, and of "##[" (actions/runner, src/Runner.Common/ActionCommand.cs) and similar prefixes of other runners
// anywhere. A JSON text keeps its value.
func Line(s string) string { return escape(s, "") }

// Text is Line for text of several lines.
func Text(s string) string { return escape(strings.ReplaceAll(s, "\r\n", "\n"), "\n\t") }

var commands = strings.NewReplacer("##[", `\u0023#[`, "##vso[", `\u0023#vso[`, "##teamcity[", `\u0023#teamcity[`)

func escape(s, allowed string) string {
	s = strings.ToValidUTF8(s, "\uFFFD") // file names may be invalid
	if strings.Contains(s, "##") {
		s = commands.Replace(s)
	}
	if strings.IndexFunc(s, func(r rune) bool { return !isPlain(r) && !strings.ContainsRune(allowed, r) }) < 0 &&
		!strings.Contains(s, "::") {
		return s
	}
	var b strings.Builder
	begins := true // at the start of a word
	var before rune
	for i, r := range s {
		last := before
		before = 0 // an escaped character is no base for a mark
		switch {
		case r == ':' && begins && strings.HasPrefix(s[i:], "::"):
			b.WriteString(`\u003a`)
		case hasForm(last, r, s[i+utf8.RuneLen(r):]) || strings.ContainsRune(allowed, r):
			b.WriteRune(r)
			before = r
		case strings.ContainsRune("\n\t\r", r):
			b.WriteString(strings.Trim(strconv.QuoteRune(r), "'"))
		case r <= 0xFFFF:
			fmt.Fprintf(&b, `\u%04x`, r)
		default: // such as tag characters, which only a model sees
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		}
		begins = unicode.IsSpace(r) || before == 0
	}
	return b.String()
}

const (
	zeroWidthJoiner = '\u200d'
	asText, asEmoji = '\ufe0e', '\ufe0f' // variation selectors
	keycap          = '\u20e3'
)

// formless are graphic characters that are invisible or look like a space: variation selectors, fillers, the braille
// blank, and all spaces except two.
var formless = &unicode.RangeTable{
	R16: []unicode.Range16{
		{0x00a0, 0x00a0, 1}, {0x034f, 0x034f, 1}, {0x115f, 0x1160, 1}, {0x1680, 0x1680, 1}, {0x17b4, 0x17b5, 1},
		{0x180b, 0x180f, 1},
		{0x2000, 0x200a, 1}, {0x202f, 0x202f, 1}, {0x205f, 0x205f, 1}, {0x2800, 0x2800, 1}, {0x3164, 0x3164, 1},
		{0xfe00, 0xfe0d, 1},
		{0xffa0, 0xffa0, 1},
	},
	R32:         []unicode.Range32{{0xe0100, 0xe01ef, 1}},
	LatinOffset: 1,
}

// Shown reports whether a terminal may show r unescaped. A mark must also follow its base, and a joiner must be within
// an emoji.
func Shown(r rune) bool {
	return unicode.IsGraphic(r) && !unicode.Is(formless, r) || r == zeroWidthJoiner
}

// isPlain reports whether r is visible in any context.
func isPlain(r rune) bool {
	return ' ' <= r && r < 0x7f || Shown(r) && r != zeroWidthJoiner && !unicode.IsMark(r)
}

// hasForm reports whether r is visible after the character before it, or changes how that one looks.
func hasForm(before, r rune, rest string) bool {
	after, size := utf8.DecodeRuneInString(rest)
	symbol := func(r rune) bool {
		return unicode.Is(unicode.So, r) || unicode.Is(unicode.Sk, r) || strings.ContainsRune("‼⁉〰ℹ↔", r)
	}
	switch {
	case !Shown(r):
		return false
	case r == zeroWidthJoiner:
		return (symbol(before) || before == asEmoji) && size > 0 && symbol(after)
	case r == asText || r == asEmoji:
		return symbol(before) || after == keycap && strings.ContainsRune("0123456789#*", before)
	case unicode.IsMark(r):
		return before != 0 && !unicode.IsSpace(before)
	}
	return true
}
