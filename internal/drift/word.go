package drift

import (
	"unicode"
	"unicode/utf8"
)

// marks returns the places in which two lines differ, by words: the same number on both sides, and one of a pair may be
// empty. It returns none if the lines have little in common, so that they changed as a whole.
func marks(before, after string) (was, is []Mark) {
	const longest = 1 << 20 // bytes of a line of which the words are compared: they take 30 times its memory
	common, longer := 0, max(len(before), len(after))
	if longer <= longest {
		a, fromA := words(before)
		b, fromB := words(after)
		common = len(before)
		for _, e := range Edits(a, b) {
			w, i := without(before, after, Mark{fromA[e.A0], fromA[e.A1]}, Mark{fromB[e.B0], fromB[e.B1]})
			common -= w.To - w.From
			was, is = append(was, w), append(is, i)
		}
	}
	const least = 4 // less than a fourth of the bytes in common counts as little
	if common*least < longer {
		w, i := without(before, after, Mark{0, len(before)}, Mark{0, len(after)})
		if was, is = []Mark{w}, []Mark{i}; w.From == 0 {
			return nil, nil
		}
	}
	return was, is
}

// without returns two marks without the long ends that their texts have in common. A word may have thousands of
// characters, of which only the first ones are shown.
func without(before, after string, w, i Mark) (Mark, Mark) {
	const long = 64
	head, tail := ends(before[w.From:w.To], after[i.From:i.To])
	for head > 0 && (cuts(before, w.From+head) || cuts(after, i.From+head)) {
		head--
	}
	for tail > 0 && cuts(before, w.To-tail) {
		tail--
	}
	if head > long {
		w.From, i.From = w.From+head, i.From+head
	}
	if tail > long {
		w.To, i.To = w.To-tail, i.To-tail
	}
	return w, i
}

// cuts reports whether a place of a text is within a character or before one that joins it.
func cuts(text string, at int) bool {
	r, _ := utf8.DecodeRuneInString(text[at:])
	return at < len(text) && (!utf8.RuneStart(text[at]) || joins(r))
}

// words divides a line into its words and the characters between them. It returns where each starts, and where the last
// ends. In scripts without spaces, each character is a word.
func words(line string) (words []string, from []int) {
	for i := 0; i < len(line); {
		r, n := utf8.DecodeRuneInString(line[i:])
		end := i + n
		for kind := kindOf(r); end < len(line); end += n {
			if r, n = utf8.DecodeRuneInString(line[end:]); !joins(r) && (kind == other || kindOf(r) != kind) {
				break
			}
		}
		words, from = append(words, line[i:end]), append(from, i)
		i = end
	}
	return words, append(from, len(line))
}

// The kinds of characters: a word contains characters of one kind.
const (
	other = iota // each is a word
	letter
	space
)

func kindOf(r rune) int {
	switch {
	case unicode.IsSpace(r):
		return space
	case r >= utf8.RuneSelf && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai):
		return other
	case unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_':
		return letter
	}
	return other
}

// joins reports whether a character belongs to the one before it.
func joins(r rune) bool {
	const zeroWidthJoiner = '\u200d'
	return unicode.IsMark(r) || r == zeroWidthJoiner
}
