package jsontext

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestPolicies is about what JSON allows and Go strings and objects cannot hold: each reader has its
// policy for it.
func TestPolicies(t *testing.T) {
	for _, c := range []struct {
		name, why, text        string
		parse, strict, lenient error
		at                     int64
		pointer                string
	}{
		{"pair", "is a character", `"\ud83d\ude00"`, nil, nil, nil, 0, ""},
		{"surrogate", "only strict texts have none", `{"a":["x\ud800"]}`, nil, ErrEncoding, nil, 8, "/a/0"},
		{"name", "no member can be found by it", `[{"\udc00":1}]`, ErrEncoding, ErrEncoding, nil, 2, "/0"},
		{"twice", "readers disagree on which counts", `{"b":{"a":1,"\u0061":2}}`, ErrDuplicate, ErrDuplicate, nil, 12, "/b/a"},
		{"bytes", "are no text at all", "[\"a\xff\"]", ErrEncoding, ErrEncoding, ErrEncoding, 3, "/0"},
		{"depth", "ends somewhere", strings.Repeat("[", MaxDepth+1), ErrDepth, ErrDepth, ErrDepth, MaxDepth, strings.Repeat("/0", MaxDepth)},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, reader := range []struct {
				name  string
				parse func([]byte) (*Document, error)
				want  error
			}{{"Parse", Parse, c.parse}, {"ParseStrict", ParseStrict, c.strict}, {"ParseLenient", ParseLenient, c.lenient}} {
				doc, err := reader.parse([]byte(c.text))
				require.ErrorIs(t, err, reader.want, "%s: %s", reader.name, c.why)
				if reader.want == nil {
					require.NoError(t, err)
					require.Equal(t, c.text, string(doc.Root().Raw()))
					continue
				}
				var at *Error
				require.ErrorAs(t, err, &at)
				require.Equal(t, c.pointer, at.Pointer, reader.name)
				require.InDelta(t, c.at, at.Offset, 1, "of the escape, or of the name that holds it")
				require.Equal(t, c.name == "bytes", errors.Is(err, ErrSyntax), "bytes that are not UTF-8 are no JSON text")
			}
		})
	}
	doc, err := ParseReplacing([]byte(`["\ud800","\ud83d\ude00"]`))
	require.NoError(t, err)
	texts, ok := doc.Root().Texts()
	require.True(t, ok)
	require.Equal(t, []string{"\ufffd", "😀"}, texts)

	doc, err = ParseLenient([]byte(`{"a":1,"a":2}`))
	require.NoError(t, err)
	require.Equal(t, map[string]json.RawMessage{"a": json.RawMessage("2")}, doc.Root().Object(), "the last one counts, as in JavaScript")
}

func TestPointers(t *testing.T) {
	for _, c := range []struct {
		name, why, pointer string
		tokens             []string
	}{
		{"whole", "no tokens", "", nil},
		{"empty_name", "is a name", "/", []string{""}},
		{"escapes", "of both kinds, in the order that RFC 6901 wants", "/a~1b/~01/c", []string{"a/b", "~1", "c"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			tokens, err := ParsePointer(c.pointer)
			require.NoError(t, err)
			require.Equal(t, c.tokens, tokens, c.why)
			require.Equal(t, c.pointer, PointerTo(tokens...))
		})
	}
	_, err := ParsePointer("a")
	require.EqualError(t, err, `pointer "a" does not begin with a slash`)
	for _, pointer := range []string{"/~", "/~2", "/a~/b"} {
		_, err = ParsePointer(pointer)
		require.ErrorContains(t, err, "has a ~ that neither 0 nor 1 follows")
	}
}

func TestCount(t *testing.T) {
	doc, err := ParseStrict([]byte(`{"least":-9223372036854775808,"more":9223372036854775808,"fraction":4.0,"text":"4"}`))
	require.NoError(t, err)
	n, ok := doc.Root().Member("least").Count()
	require.True(t, ok)
	require.EqualValues(t, int64(math.MinInt64), *n)
	for _, name := range []string{"more", "fraction", "text", "absent"} {
		n, ok := doc.Root().Member(name).Count()
		require.False(t, ok, name)
		require.Nil(t, n, name)
	}
	least := doc.Root().Member("least")
	require.Zero(t, testing.AllocsPerRun(10, func() { _, ok = least.Integer() }))
}

func TestParseRefusesTooMuch(t *testing.T) {
	_, err := ParseStrict([]byte(`{"` + strings.Repeat("x", 300) + "\x1b" + `":1}`))
	require.ErrorIs(t, err, ErrSyntax)
	_, err = Parse([]byte(`{"\u001b[2J":x}`))
	require.EqualError(t, err, "/\ufffd[2J: offset 13: invalid JSON: unexpected \"x\", want a value", "no names that command the terminal")
}

// TestParseAllocations holds that room for the values of a text is made once, also of one that has many objects and lists.
func TestParseAllocations(t *testing.T) {
	text := []byte(`[` + strings.Repeat(`{"role":"user","content":["All work. ","And no play. "]},`, 200) + `{}]`)
	require.LessOrEqual(t, testing.AllocsPerRun(10, func() {
		_, err := ParseStrict(text)
		require.NoError(t, err)
	}), 2.0)
}
