package jsontext

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

func TestUnescape(t *testing.T) {
	for _, c := range []struct {
		text, why string
		r         rune
		n         int
	}{
		{`\"x`, "a quote", '"', 2},
		{`\/`, "a slash need not be escaped", '/', 2},
		{`\b\f`, "one at a time", '\b', 2},
		{`\u0041`, "a code unit", 'A', 6},
		{`\uFFfd`, "either case", 0xfffd, 6},
		{`\ud83d\ude00x`, "a pair is one character", 0x1f600, 12},
		{`\ud83d`, "a lone surrogate", 0xd83d, 6},
		{`\ud83d\u0041`, "is no pair", 0xd83d, 6},
		{`\ude00\ud83d`, "nor in this order", 0xde00, 6},
		{`\`, "the text ends", 0, 0},
		{`\u12`, "so here", 0, 0},
		{`\u12g4`, "no digit", 0, 0},
		{"\\u0\x100a", "nor a byte that case would make one", 0, 0},
		{`\uaAfF`, "the ends of the letters", 0xaaff, 6},
		{`\x41`, "no escape of JSON", 0, 0},
	} {
		t.Run(c.why, func(t *testing.T) {
			r, n := Unescape([]byte(c.text))
			require.Equal(t, c.r, r)
			require.Equal(t, c.n, n)
		})
	}
}

// TestAppendRune reads what was written, and has the shortest spelling.
func TestAppendRune(t *testing.T) {
	for r := range rune(0x20000) {
		text := AppendRune([]byte{'"'}, r)
		switch {
		case 0xd800 <= r && r < 0xe000:
			got, n := Unescape(text[1:])
			require.Equal(t, r, got)
			require.Equal(t, 6, n)
		case r >= ' ' && r != '"' && r != '\\':
			require.Equal(t, string(r), string(text[1:]))
		default:
			var got string
			require.NoError(t, json.Unmarshal(append(text, '"'), &got))
			require.Equal(t, string(r), got)
		}
	}
}

func TestPlain(t *testing.T) {
	for _, c := range []struct {
		text, why string
		end       int
		ascii     bool
	}{
		{"", "nothing", 0, true},
		{"abc", "shorter than a word", 3, true},
		{"abcdefghijklmnop", "words", 16, true},
		{"abcdefghij\"é", "a quote; what follows does not count", 10, true},
		{"abc\\", "a backslash", 3, true},
		{"abcdefghé\x1f", "a control character", 10, false},
		{"\x7f\u2028 ", "neither DEL nor a line separator is escaped", 5, false},
	} {
		t.Run(c.why, func(t *testing.T) {
			end, ascii := Plain([]byte(c.text))
			require.Equal(t, c.end, end)
			require.Equal(t, c.ascii, ascii)
		})
	}
}

// TestPlainAtEachPlace puts two bytes at each place of texts of several words, and compares Plain with a plain loop.
func TestPlainAtEachPlace(t *testing.T) {
	odd := []byte{0, 0x1f, ' ', '!', '"', '#', '[', '\\', ']', 0x7f, 0x80, 0x9f, 0xa2, 0xdc, 0xff}
	for size := range 35 {
		text := []byte(strings.Repeat("x", size))
		for n := range size * size * len(odd) * len(odd) {
			i, j, a, b := n%size, n/size%size, odd[n/size/size%len(odd)], odd[n/size/size/len(odd)]
			text[i], text[j] = a, b
			want, ascii := 0, true
			for want < size && text[want] >= ' ' && text[want] != '"' && text[want] != '\\' {
				ascii = ascii && text[want] < utf8.RuneSelf
				want++
			}
			if got, isASCII := Plain(text); got != want || isASCII != ascii {
				t.Fatalf("%q: %d, %v; want %d, %v", text, got, isASCII, want, ascii)
			}
			text[i], text[j] = 'x', 'x'
		}
	}
}

func TestInvalidUTF8(t *testing.T) {
	require.Equal(t, -1, InvalidUTF8([]byte("aé\u2028😀")))
	require.Equal(t, 3, InvalidUTF8([]byte("aé\xffb")))
	require.Equal(t, 0, InvalidUTF8([]byte("\xed\xa0\x80")), "a surrogate")
}

// TestShortPointer: of a pointer of a thousand levels a message shows both ends.
func TestShortPointer(t *testing.T) {
	require.Equal(t, "/a/b", ShortPointer("/a/b"))
	long := "/begin" + strings.Repeat("/é", 1000) + "/end"
	short := ShortPointer(long)
	require.LessOrEqual(t, len(short), 200)
	require.True(t, utf8.ValidString(short))
	require.True(t, strings.HasPrefix(short, "/begin/é/é") && strings.HasSuffix(short, "/é/é/end") && strings.Contains(short, "…"), short)
	err := &Error{Pointer: strings.Repeat("/0", 1000), Err: ErrDepth}
	require.Less(t, len(err.Error()), 300)
}

func TestStringEnd(t *testing.T) {
	for text, want := range map[string]int{
		`a"`: 1, `"`: 0, ``: 0, `a`: 1, `a\`: 2, `a\"`: 3, `a\"b"c"`: 4, `\\"`: 2, `\u0022"`: 6, "a\nb\x00\"": 4, "é\"": 2,
	} {
		require.Equal(t, want, StringEnd([]byte(text), 0), "%q", text)
	}
}
