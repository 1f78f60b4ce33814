// Package plaintext makes text from anywhere fit to be printed: what a store or a provider says drives no
// terminal, hides and reorders nothing, and is no command to what reads the log (design R16).
package plaintext

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
)

// Line returns s as one line. Control characters and those that hide or reorder text are escaped as in
// JSON. The first character of what begins a command is escaped too: "::" in front of a word, which GitHub's
// runner takes at the beginning of a line, and "##[" (actions/runner, src/Runner.Common/ActionCommand.cs) or
// its kin of other runners anywhere. Of a JSON text it makes another spelling.
func Line(s string) string { return escape(s, "") }

// Text is Line for text of several lines.
func Text(s string) string { return escape(strings.ReplaceAll(s, "\r\n", "\n"), "\n\t") }

var commands = strings.NewReplacer("##[", `\u0023#[`, "##vso[", `\u0023#vso[`, "##teamcity[", `\u0023#teamcity[`)

func escape(s, allowed string) string {
	s = strings.ToValidUTF8(s, "\uFFFD") // file names need not be
	if strings.Contains(s, "##") {
		s = commands.Replace(s)
	}
	kept := func(r rune) bool { return Shown(r) || strings.ContainsRune(allowed, r) }
	if strings.IndexFunc(s, func(r rune) bool { return !kept(r) }) < 0 && !strings.Contains(s, "::") {
		return s
	}
	var b strings.Builder
	begins := true // a word
	for i, r := range s {
		switch {
		case r == ':' && begins && strings.HasPrefix(s[i:], "::"):
			b.WriteString(`\u003a`)
		case kept(r):
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == '\r':
			b.WriteString(`\r`)
		case r <= 0xFFFF:
			fmt.Fprintf(&b, `\u%04x`, r)
		default: // such as tag characters: text that nobody sees but a model
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		}
		begins = unicode.IsSpace(r) || !Shown(r)
	}
	return b.String()
}

// Shown reports whether a terminal shows r as what it is. Joiners are part of emoji and of many scripts.
func Shown(r rune) bool {
	const zeroWidthNonJoiner, zeroWidthJoiner = '\u200c', '\u200d'
	return unicode.IsGraphic(r) || r == zeroWidthNonJoiner || r == zeroWidthJoiner
}
