package snapshot

import (
	"bytes"
	"math/bits"
	"slices"
	"strings"
	"unicode/utf8"
)

// A text is split into pieces in a file, so that a changed word is a change in a short line. The end of a piece depends
// only on the characters around it: an edit moves no other pieces.

const (
	lineMost  = 120 // maximum characters of a line that is one piece
	pieceMost = 160 // maximum characters of a piece that is not divided further
)

// Split returns the pieces of a text in files; joined, they are the text. A text with one piece is a string in files.
// docs/format.md has the table of where pieces end.
func Split(text string) []string {
	if isOnePiece(text) {
		return []string{text}
	}
	pieces := make([]string, 0, 1+max(len(text)/lineMost, strings.Count(text, "\n")))
	for line := range strings.Lines(text) {
		if fits(line, lineMost) {
			pieces = append(pieces, line)
		} else {
			pieces = divide(pieces, line, 0)
		}
	}
	return pieces
}

// isOnePiece reports whether a text is short and contains no line break except at its end.
func isOnePiece(text string) bool {
	return fits(text, lineMost) && !strings.Contains(strings.TrimSuffix(text, "\n"), "\n")
}

// fits reports whether s has at most most characters.
func fits(s string, most int) bool {
	if len(s) <= most {
		return true
	}
	for range s {
		if most--; most < 0 {
			return false
		}
	}
	return true
}

// divide appends the pieces of s, which is too long. It cuts s at the places of the first level that has any, and
// longer pieces at those of the next. A long s without places is scanned once.
func divide(pieces []string, s string, level int) []string {
	start, next := 0, len(levels)     // the first of the levels below with a place in s
	asked := ^uint8(0) << (2 * level) // the bits of this level, and of those before next
	for i := 2; i < len(s); i++ {
		may := mayEnd.before[s[i-2]] & mayEnd.last[s[i-1]] & asked
		if may == 0 || !utf8.RuneStart(s[i]) { // not an end, or inside a character
			continue
		}
		l := bits.TrailingZeros8(may) / 2
		for l < next && (may>>(2*l)&3 == 0 || !levels[l](s, i)) {
			l++
		}
		switch {
		case l == level:
			pieces = divideLong(pieces, s[start:i], level+1)
			start = i
			asked &= 1<<(2*(level+1)) - 1 // the pieces are scanned again when they are divided
		case l < next:
			next = l
			asked &= 1<<(2*l) - 1
		}
	}
	if start == 0 {
		return divideLong(pieces, s, next)
	}
	return divideLong(pieces, s[start:], level+1)
}

func divideLong(pieces []string, s string, level int) []string {
	if level == len(levels) || fits(s, pieceMost) {
		return append(pieces, s)
	}
	return divide(pieces, s, level)
}

// levels are the ways to end pieces, coarsest first. Each reports whether a piece ends before s[i], which has at least
// two bytes before it.
var levels = [...]func(s string, i int) bool{endsSentence, endsClause, endsWord, endsRun}

// mayEnd has two bits for each level, by the last byte but one and the last byte before an end. The levels are then
// called at few places only. An empty first text stands for any byte.
var mayEnd = func() (may struct{ before, last [256]uint8 }) {
	for bit, ways := range [2 * len(levels)][2]string{
		{" \"')]*_`.!?\x81\x82\x9f", " "}, {"\"}]0123456789el\x80\xbc", ",\x81\x82\x9f"},
		{",;:|\x94\\", " nt"}, {"", "\t>;}],\r\x81\x8c\x9b"},
		{"\x03\v\x13\x1b#+3;CKS[cks{", " "}, {"\x83\x8b\x93\x9b\xa3\xab\xb3\xbb\xc3\xcb\xd3\xdb\xe3\xeb\xf3\xfb", " "},
		{"", "\x03\x13#3CScs\x83\x93\xa3\xb3\xc3\xd3\xe3\xf3"},
	} {
		for c := range 256 {
			if ways[0] == "" || strings.IndexByte(ways[0], byte(c)) >= 0 {
				may.before[c] |= 1 << bit
			}
			if strings.IndexByte(ways[1], byte(c)) >= 0 {
				may.last[c] |= 1 << bit
			}
		}
	}
	return may
}()

// endsSentence: after a full stop and the space after it, and after a member or an element of JSON.
func endsSentence(s string, i int) bool {
	switch s[i-1] {
	case ' ':
		return s[i] != ' ' && endsInStop(s[:i])
	case ',':
		return strings.IndexByte(`"}]0123456789el`, s[i-2]) >= 0 && isJSONMember(s[i:])
	}
	return s[i] != ' ' && isCJKStop(s[:i])
}

func isJSONMember(rest string) bool {
	rest = strings.TrimLeft(rest, " ")
	return rest != "" && strings.IndexByte(`"{[`, rest[0]) >= 0
}

// endsInStop reports whether s ends in a full stop, ignoring at most eight spaces and closing marks after it.
func endsInStop(s string) bool {
	for n := 0; n < 8 && s != "" && strings.IndexByte(" \"')]*_`", s[len(s)-1]) >= 0; n++ {
		s = s[:len(s)-1]
	}
	return s != "" && strings.IndexByte(".!?", s[len(s)-1]) >= 0 || isCJKStop(s)
}

func isCJKStop(s string) bool {
	return strings.HasSuffix(s, "。") || strings.HasSuffix(s, "！") || strings.HasSuffix(s, "？")
}

// endsClause: after punctuation within a sentence, a tag or a bracket.
func endsClause(s string, i int) bool {
	switch s[i-1] {
	case ' ':
		return strings.IndexByte(",;:|", s[i-2]) >= 0 || strings.HasSuffix(s[:i-1], "—")
	case '\t', '>', ';', '}', ']', '\r':
		return true
	case ',':
		return s[i] != ' '
	case 'n', 't': // an escaped line break or tab, in JSON within a string
		return s[i-2] == '\\'
	}
	return strings.HasSuffix(s[:i], "，") || strings.HasSuffix(s[:i], "、") || strings.HasSuffix(s[:i], "；")
}

// endsWord: after a space that follows one of an eighth of all bytes, such as c, k and s.
func endsWord(s string, i int) bool { return s[i-1] == ' ' && s[i-2]%8 == 3 }

// endsRun: after two of a few bytes, for text without spaces.
func endsRun(s string, i int) bool { return s[i-1]%16 == 3 && s[i-2]%4 == 3 }

// mayHavePieces reports whether a JSON string may be a text of several pieces.
func mayHavePieces(raw []byte) bool {
	return len(raw) > lineMost || bytes.Contains(raw, []byte(`\n`)) || bytes.Contains(raw, []byte(`\u000`))
}

// writePieces writes a string, in pieces if files have it in pieces.
func (c *cursor) writePieces(s string) {
	if c.form == inFile && !isOnePiece(s) {
		pieces := Split(s)
		c.dst = slices.Grow(c.dst, len(s)+len(s)/8+(len(`"",`)+indentation)*len(pieces)) // includes memory for layOut
		c.writeStrings(pieces)
		return
	}
	c.writeText(s)
}

func (c *cursor) writeStrings(all []string) {
	c.write("[")
	for i, s := range all {
		c.comma(i)
		c.writeText(s)
	}
	c.write("]")
}

// longText is the current string, which may be an array of pieces in files.
func (c *cursor) longText(s *string) {
	switch text, isText := c.at.Text(); {
	case !c.reading():
		c.writePieces(*s)
	case isText:
		*s = text
	case c.at.IsArray():
		*s = c.joined()
	default:
		c.mismatch("a string or an array of its pieces")
		*s = ""
	}
}

// joined returns the text whose pieces are in the current array. It accepts any pieces, but at least one.
func (c *cursor) joined() string {
	at := c.at
	if at.IsEmpty() {
		c.report(RuleText, "must have at least one piece")
		return ""
	}
	size, alone := 0, at.Len() == 1
	for _, e := range at.Elements() {
		if alone && e.IsString() {
			text, _ := e.Text() // not copied
			return text
		}
		size += max(0, len(e.Raw())-len(`""`)) // an upper bound, since there may be escapes
	}
	var text strings.Builder
	text.Grow(size)
	for i, e := range at.Elements() {
		if !e.WriteText(&text) {
			c.element(i)
			c.at = e
			c.mismatch("a string, a piece of the text")
			c.leave()
			c.at = at
			return ""
		}
	}
	return text.String()
}
