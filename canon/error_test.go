package canon

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// badTexts are rejected. The fuzz targets start from them too.
var badTexts = []struct {
	name    string
	why     string
	text    string
	is      error
	offset  int64
	pointer string
}{
	{"empty", "no value", "", ErrSyntax, 0, ""},
	{"space-only", "no value", " \n", ErrSyntax, 2, ""},
	{"two-values", "one text is one value", "1 2", ErrSyntax, 2, ""},
	{"json-lines", "one text is one value", "{}\n{}", ErrSyntax, 3, ""},
	{"byte-order-mark", "RFC 8259 section 8.1: must not be added", "\ufeff{}", ErrSyntax, 0, ""},
	{"nul", "no white space", "{}\x00", ErrSyntax, 2, ""},
	{"form-feed", "no white space", "[\f1]", ErrSyntax, 1, "/0"},
	{"no-break-space", "no white space", "[\u00a01]", ErrSyntax, 1, "/0"},
	{"comment", "no JSON", "[1 /* one */]", ErrSyntax, 3, ""},
	{"single-quotes", "no JSON", "['a']", ErrSyntax, 1, "/0"},
	{"unquoted-name", "no JSON", "{a:1}", ErrSyntax, 1, ""},
	{"number-name", "no JSON", "{1:1}", ErrSyntax, 1, ""},

	{"array-missing-comma", "jcs v1.0.1 took it as [12]", "[1 2]", ErrSyntax, 3, ""},
	{"array-trailing-comma", "no JSON", "[1,]", ErrSyntax, 3, "/1"},
	{"array-leading-comma", "no JSON", "[,1]", ErrSyntax, 1, "/0"},
	{"array-truncated", "no end", "[1", ErrSyntax, 2, ""},
	{"array-truncated-comma", "no end", "[1,", ErrSyntax, 3, "/1"},
	{"array-wrong-end", "no match", "[1}", ErrSyntax, 2, ""},
	{"array-only-end", "no start", "]", ErrSyntax, 0, ""},
	{"object-truncated-name", `jcs v1.0.1 took it as {"a":1}`, `{"a":1,"b`, ErrSyntax, 9, ""},
	{"object-truncated-colon", "no end", `{"a"`, ErrSyntax, 4, ""},
	{"object-truncated-value", "no end", `{"a":`, ErrSyntax, 5, "/a"},
	{"object-truncated-comma", "no end", `{"a":1,`, ErrSyntax, 7, ""},
	{"object-trailing-comma", "no JSON", `{"a":1,}`, ErrSyntax, 7, ""},
	{"object-missing-colon", "no JSON", `{"a" 1}`, ErrSyntax, 5, ""},
	{"object-missing-comma", "no JSON", `{"a":1 "b":2}`, ErrSyntax, 7, ""},
	{"object-wrong-end", "no match", `{"a":1]`, ErrSyntax, 6, ""},

	{"literal-split", "jcs v1.0.1 took it as true", "[tr ue]", ErrSyntax, 1, "/0"},
	{"literal-truncated", "no literal", "nul", ErrSyntax, 0, ""},
	{"literal-continued", "no literal", "truex", ErrSyntax, 4, ""},
	{"literal-case", "no literal", "True", ErrSyntax, 0, ""},
	{"literal-nan", "no number", "[NaN]", ErrSyntax, 1, "/0"},
	{"literal-infinity", "no number", "[-Infinity]", ErrSyntax, 2, "/0"},

	{"number-hexadecimal", "strconv takes it, JSON does not", "0x1F", ErrSyntax, 1, ""},
	{"number-underscore", "strconv takes it, JSON does not", "1_000", ErrSyntax, 1, ""},
	{"number-plus", "strconv takes it, JSON does not", "+1", ErrSyntax, 0, ""},
	{"number-leading-zero", "no JSON", "[01]", ErrSyntax, 3, "/0"},
	{"number-negative-leading-zero", "no JSON", "-00", ErrSyntax, 3, ""},
	{"number-minus", "no digits", "-", ErrSyntax, 1, ""},
	{"number-point-first", "no digits", ".5", ErrSyntax, 0, ""},
	{"number-point-last", "no digits", "[5.]", ErrSyntax, 3, "/0"},
	{"number-point-exponent", "no digits", "5.e1", ErrSyntax, 2, ""},
	{"number-exponent-empty", "no digits", "[1e]", ErrSyntax, 3, "/0"},
	{"number-exponent-sign", "no digits", "1e+", ErrSyntax, 3, ""},
	{"number-two-points", "no JSON", "1.2.3", ErrSyntax, 3, ""},

	{"string-truncated", "no end", `"abc`, ErrSyntax, 4, ""},
	{"string-truncated-escape", "no end", `"abc\`, ErrSyntax, 4, ""},
	{"string-truncated-unicode", "no end", `"\u12`, ErrSyntax, 1, ""},
	{"string-escape-unknown", "no JSON", `["\x41"]`, ErrSyntax, 2, "/0"},
	{"string-escape-case", "no JSON", `"\U0041"`, ErrSyntax, 1, ""},
	{"string-escape-hex", "g is no digit", `"\u00g0"`, ErrSyntax, 1, ""},
	{"string-line-end", "controls are escaped", "[\"a\nb\"]", ErrSyntax, 3, "/0"},
	{"string-nul", "controls are escaped", "\"a long enough text\x00\"", ErrSyntax, 19, ""},
	{"string-last-control", "U+001F is the last that is escaped", "\"unit\x1fseparator\"", ErrSyntax, 5, ""},

	{"utf8-invalid", "FF is never UTF-8", "[\"a\xff\"]", ErrEncoding, 3, "/0"},
	{"utf8-invalid-in-block", "in the midst of a long text", "[\"a long\xff enough text\",\"and another\"]", ErrEncoding, 8, "/0"},
	{"utf8-continuation", "80 follows nothing", "\"\x80\"", ErrEncoding, 1, ""},
	{"utf8-truncated", "E2 82 needs AC", "\"a\xe2\x82\"", ErrEncoding, 2, ""},
	{"utf8-truncated-by-escape", "no sequence goes on behind an escape", "\"\xe2\x82\\n\xac\"", ErrEncoding, 1, ""},
	{"utf8-overlong", "C0 80 is no NUL", "\"\xc0\x80\"", ErrEncoding, 1, ""},
	{"utf8-surrogate", "CESU-8 is no UTF-8", "\"\xed\xa0\xbd\xed\xb8\x80\"", ErrEncoding, 1, ""},
	{"utf8-beyond", "U+110000 is none", "\"\xf4\x90\x80\x80\"", ErrEncoding, 1, ""},
	{"utf8-in-name", "names are strings", "{\"a\":{\"\xff\":1}}", ErrEncoding, 7, "/a"},
	{"utf8-before-the-end", "the first place counts", "\"\xff", ErrEncoding, 1, ""},
	{"utf8-outside", "no value", "[\xff]", ErrSyntax, 1, "/0"},
	{"surrogate-high", "alone", `{"a":"x\ud800y"}`, ErrEncoding, 7, "/a"},
	{"surrogate-low", "alone", `"\udc00"`, ErrEncoding, 1, ""},
	{"surrogate-two-high", "no pair", `"\ud800\ud800"`, ErrEncoding, 1, ""},
	{"surrogate-reversed", "no pair", `"\ude00\ud83d"`, ErrEncoding, 1, ""},
	{"surrogate-at-end", "no pair", `"\ud83d`, ErrEncoding, 1, ""},
	{"surrogate-and-escape", "no pair", `"\ud83d\n"`, ErrEncoding, 1, ""},
	{"surrogate-in-name", "names are strings", `{"\udead":1}`, ErrEncoding, 2, ""},

	{"duplicate", "RFC 7493 section 2.3", `{"a":1,"a":1}`, ErrDuplicate, 7, "/a"},
	{"duplicate-escaped", "compared after unescaping", `{"a":1,"\u0061":2}`, ErrDuplicate, 7, "/a"},
	{"duplicate-surrogates", "compared after unescaping", `{"😀":1,"b":2,"\ud83d\ude00":3}`, ErrDuplicate, 16, "/😀"},
	{"duplicate-apart", "anywhere in the object", `[{"b":1,"a":{"c":0},"c":2,"b":3}]`, ErrDuplicate, 26, "/0/b"},
	{"duplicate-among-many", "the second is the offending one", `{"n":0,"m":0,"l":0,"k":0,"j":0,"i":0,"h":0,"g":0,"f":0,"n":1,"e":0,"d":0,"c":0,"b":0,"a":0}`, ErrDuplicate, 55, "/n"},
	{"duplicate-empty", "a name may be empty", `{"":1,"":2}`, ErrDuplicate, 6, "/"},
	{"duplicate-pointer", "RFC 6901 escapes", `{"a/b":[0,{"~":{"c":1,"c":2}}]}`, ErrDuplicate, 22, "/a~1b/1/~0/c"},

	{"integer-2-53-plus-1", "would be rounded", `{"seed":9007199254740993}`, ErrNumber, 8, "/seed"},
	{"integer-negative", "would be rounded", `-9007199254740993`, ErrNumber, 0, ""},
	{"integer-max-int64", "a schema's maximum", `{"maximum":9223372036854775807}`, ErrNumber, 11, "/maximum"},
	{"integer-min-int64", "a power of two, but ECMAScript writes another integer", `-9223372036854775808`, ErrNumber, 0, ""},
	{"integer-max-uint64", "would be rounded", `[0,18446744073709551615]`, ErrNumber, 3, "/1"},
	{"integer-18-digits", "would be rounded", `123456789012345678`, ErrNumber, 0, ""},
	{"integer-2-68", "appendix B writes 295147905179352830000", `295147905179352825856`, ErrNumber, 0, ""},
	{"integer-long", "out of range", "1" + strings.Repeat("0", 400), ErrNumber, 0, ""},
	{"exponent-400", "out of range", `[[1e400]]`, ErrNumber, 2, "/0/0"},
	{"exponent-negative", "out of range", `-1e309`, ErrNumber, 0, ""},
	{"exponent-rounds-up", "out of range", `1.7976931348623159e308`, ErrNumber, 0, ""},
	{"exponent-long", "out of range", `1e99999999999999999999`, ErrNumber, 0, ""},

	{"depth-arrays", "one too many", strings.Repeat("[", MaxDepth+1) + strings.Repeat("]", MaxDepth+1), ErrDepth, MaxDepth, strings.Repeat("/0", MaxDepth)},
	{"depth-objects", "one too many", strings.Repeat(`{"a":`, MaxDepth+1) + "1" + strings.Repeat("}", MaxDepth+1), ErrDepth, MaxDepth * 5, strings.Repeat("/a", MaxDepth)},
}

func TestErrors(t *testing.T) {
	for _, tt := range badTexts {
		t.Run(tt.name, func(t *testing.T) {
			src := []byte(tt.text)
			got, err := JSON(src)
			require.Nil(t, got)
			require.ErrorIs(t, err, tt.is, tt.why)
			var e *Error
			require.ErrorAs(t, err, &e)
			require.Equal(t, tt.pointer, e.Pointer)
			require.Equal(t, tt.offset, e.Offset)
			require.NotErrorIs(t, err, ErrKept, "only RestoreNumbers says so")

			require.False(t, Canonical(src))
			_, err = KeepNumbers(src)
			if tt.is == ErrNumber {
				require.NoError(t, err, "KeepNumbers is the way out")
			} else {
				require.Equal(t, e, err, "KeepNumbers is as strict")
			}
			_, err = RestoreNumbers(src)
			require.Equal(t, e, err, "RestoreNumbers is as strict")
		})
	}
}

func TestErrorMessages(t *testing.T) {
	tests := []struct {
		name string
		text string
		want string
	}{
		{"end", `{"a":[1`, `/a: offset 7: invalid JSON: unexpected end, want ',' or ']'`},
		{"empty", ``, `top level: offset 0: invalid JSON: unexpected end, want a value`},
		{"value", `[tru]`, `/0: offset 1: invalid JSON: unexpected "t", want a value`},
		{"no-value", `[?]`, `/0: offset 1: invalid JSON: unexpected "?", want a value`},
		{"trailing", `{} x`, `top level: offset 3: invalid JSON: unexpected "x", want the end`},
		{"number", `[01]`, `/0: offset 3: invalid JSON: unexpected "]", want a number as JSON spells it`},
		{"name", `{1}`, `top level: offset 1: invalid JSON: unexpected "1", want a member name`},
		{"colon", `{"a"}`, `top level: offset 4: invalid JSON: unexpected "}", want ':'`},
		{"member-end", `{"a":1:`, `top level: offset 6: invalid JSON: unexpected ":", want ',' or '}'`},
		{"string-end", `"a`, `top level: offset 2: invalid JSON: unexpected end, want the end of the string`},
		{"control", "\"\x1b[2J\"", `top level: offset 1: invalid JSON: unexpected "\x1b", want an escape for a control character`},
		{"escape", `"\q"`, `top level: offset 1: invalid JSON: not an escape sequence`},
		{"surrogate", `"\ud800"`, `top level: offset 1: invalid Unicode: lone surrogate`},
		{"encoding", "\"\xff\"", `top level: offset 1: invalid Unicode: byte 0xff is not UTF-8 here`},
		{"duplicate", `{"a":1,"a":1}`, `/a: offset 7: duplicate member name "a"`},
		{"depth", strings.Repeat("[", 5_000_000), strings.Repeat("/0", 45) + `…` + strings.Repeat("/0", 45) + `: offset 1000: nested too deep: more than 1000 levels`},
		{"range", `1e400`, `top level: offset 0: number does not fit a float64: 1e400 is out of range`},
		{"integer", `9007199254740993`, `top level: offset 0: number does not fit a float64: integer 9007199254740993 would become 9007199254740992`},
		{"long-number", "1" + strings.Repeat("0", 9999), `top level: offset 0: number does not fit a float64: 1` + strings.Repeat("0", 199) + `… is out of range`},
		{"unprintable-name", `{"\u001b[2J\n":?}`, "/\ufffd[2J\ufffd: offset 15: invalid JSON: unexpected \"?\", want a value"},
		{"long-name", `{"` + strings.Repeat("ä", 150) + `":?}`, `/` + strings.Repeat("ä", 44) + `…` + strings.Repeat("ä", 45) + `: offset 304: invalid JSON: unexpected "?", want a value`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := JSON([]byte(tt.text))
			require.EqualError(t, err, tt.want)
		})
	}
	_, err := RestoreNumbers([]byte(`[{"$number":1}]`))
	require.EqualError(t, err, `/0: offset 2: not a kept number: want a string with a number that does not fit a float64`)
	_, err = KeepNumbers([]byte(strings.Repeat("[", MaxDepth) + "1e400" + strings.Repeat("]", MaxDepth)))
	require.EqualError(t, err, strings.Repeat("/0", 45)+`…`+strings.Repeat("/0", 45)+`: offset 1000: nested too deep: no level left to keep the number in an object`)
	require.NotNil(t, errors.Unwrap(err))
}
