package canon

import (
	"encoding/json"
	"math/big"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// keptTexts are texts in canonical form, except for numbers that do not fit, and what KeepNumbers makes of them.
var keptTexts = []struct {
	name string
	why  string
	text string
	want string
}{
	{"max-int64", "a schema's maximum", `{"maximum":9223372036854775807}`, `{"maximum":{"$number":"9223372036854775807"}}`},
	{"min-int64", "a seed", `-9223372036854775808`, `{"$number":"-9223372036854775808"}`},
	{"out-of-range", "kept in the spelling of the sender", `[1e400,1E+400,-1e0400]`, `[{"$number":"1e400"},{"$number":"1E+400"},{"$number":"-1e0400"}]`},
	{"long", "no limit", `[1` + strings.Repeat("0", 500) + `]`, `[{"$number":"1` + strings.Repeat("0", 500) + `"}]`},
	{"fitting", "stay numbers", `[0.1,9007199254740994,1e+21,5e-324]`, `[0.1,9007199254740994,1e+21,5e-324]`},
	{"next-to-fitting", "neighbours do not collide", `[9007199254740992,9007199254740993,9007199254740994]`, `[9007199254740992,{"$number":"9007199254740993"},9007199254740994]`},
	{"own-object", "a user's object is told from a kept number", `{"$number":"9223372036854775807"}`, `{"$$number":"9223372036854775807"}`},
	{"own-object-escaped", "and so is one that looks like it was escaped", `{"$$number":1}`, `{"$$$number":1}`},
	{"own-object-any-value", "whatever it holds", `[{"$number":null},{"$number":{"$number":[]}}]`, `[{"$$number":null},{"$$number":{"$$number":[]}}]`},
	{"own-object-kept", "kept numbers within own objects", `{"$number":9223372036854775807}`, `{"$$number":{"$number":"9223372036854775807"}}`},
	{"two-members", "only a single member looks like a kept number", `{"$number":"1","a":2}`, `{"$number":"1","a":2}`},
	{"other-names", "only the very name", `[{"number":1},{"$Number":1},{"a$number":1},{"$ number":1},{"$numbers":1},{"":1}]`, `[{"number":1},{"$Number":1},{"a$number":1},{"$ number":1},{"$numbers":1},{"":1}]`},
	{"in-string", "strings are left alone", `"{\"$number\":1}"`, `"{\"$number\":1}"`},
	{"moved", "objects within objects that move", `[{"a":{"$number":{"c":1e400,"d":0}},"b":1e400}]`, `[{"a":{"$$number":{"c":{"$number":"1e400"},"d":0}},"b":{"$number":"1e400"}}]`},
	{"deepest", "a kept number takes a level", strings.Repeat("[", MaxDepth-1) + "1e400" + strings.Repeat("]", MaxDepth-1), strings.Repeat("[", MaxDepth-1) + `{"$number":"1e400"}` + strings.Repeat("]", MaxDepth-1)},
}

func TestKeepNumbers(t *testing.T) {
	for _, tt := range keptTexts {
		t.Run(tt.name, func(t *testing.T) {
			got, err := KeepNumbers([]byte(tt.text))
			require.NoError(t, err, tt.why)
			require.Equal(t, tt.want, string(got), tt.why)
			require.True(t, Canonical(got))

			back, err := RestoreNumbers(got)
			require.NoError(t, err)
			require.Equal(t, tt.text, string(back))
		})
	}
}

func TestKeepNumbersCanonicalizes(t *testing.T) {
	got, err := KeepNumbers([]byte(` {"b": {"\u0024number": {"y":1.0, "x":1e400}}, "a": 9223372036854775807} `))
	require.NoError(t, err)
	require.Equal(t, `{"a":{"$number":"9223372036854775807"},"b":{"$$number":{"x":{"$number":"1e400"},"y":1}}}`, string(got))
	back, err := RestoreNumbers([]byte(` {"b": {"$\u0024number": {"y":1.0, "x":{"$number":"1e4\u00300"}}}, "a": {"$number": "9223372036854775807"}} `))
	require.NoError(t, err)
	require.Equal(t, `{"a":9223372036854775807,"b":{"$number":{"x":1e400,"y":1}}}`, string(back))
}

func TestRestoreNumbersErrors(t *testing.T) {
	tests := []struct {
		name    string
		why     string
		text    string
		is      error
		offset  int64
		pointer string
	}{
		{"number", "KeepNumbers writes a string", `{"$number":9}`, ErrKept, 1, ""},
		{"null", "KeepNumbers writes a string", `[{"$number":null}]`, ErrKept, 2, "/0"},
		{"object", "KeepNumbers writes a string", `{"a":{"$number":{}}}`, ErrKept, 6, "/a"},
		{"array", "KeepNumbers writes a string", `{"$number":[]}`, ErrKept, 1, ""},
		{"fits", "it would have stayed a number", `{"$number":"1"}`, ErrKept, 1, ""},
		{"zero", "it would have stayed a number", `{"$number":"-0"}`, ErrKept, 1, ""},
		{"fraction", "it would have stayed a number", `{"$number":"0.1"}`, ErrKept, 1, ""},
		{"empty", "no number", `{"$number":""}`, ErrKept, 1, ""},
		{"word", "no number", `{"$number":"Infinity"}`, ErrKept, 1, ""},
		{"hexadecimal", "no number", `{"$number":"0xFFFFFFFFFFFFFFFF"}`, ErrKept, 1, ""},
		{"leading-zero", "no number", `{"$number":"09223372036854775807"}`, ErrKept, 1, ""},
		{"space", "not the number alone", `{"$number":" 9223372036854775807"}`, ErrKept, 1, ""},
		{"more", "would smuggle text in", `{"$number":"9223372036854775807,1"}`, ErrKept, 1, ""},
		{"not-kept", "KeepNumbers would have kept it", `[9223372036854775807]`, ErrNumber, 1, "/0"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := RestoreNumbers([]byte(tt.text))
			require.Nil(t, got)
			require.ErrorIs(t, err, tt.is, tt.why)
			var e *Error
			require.ErrorAs(t, err, &e)
			require.Equal(t, tt.offset, e.Offset)
			require.Equal(t, tt.pointer, e.Pointer)
		})
	}
}

// checkKept checks the properties of KeepNumbers and RestoreNumbers with src, which KeepNumbers accepts.
func checkKept(t *testing.T, src []byte) {
	t.Helper()
	kept, err := KeepNumbers(src)
	require.NoError(t, err)
	require.True(t, Canonical(kept))

	// RestoreNumbers finds the value again, so two values never share a result.
	back, err := RestoreNumbers(kept)
	require.NoError(t, err)
	value := decode(t, src)
	require.Equal(t, value, decode(t, back))
	again, err := KeepNumbers(back)
	require.NoError(t, err)
	require.Equal(t, string(kept), string(again))

	// A plain walk of the value gives the same.
	want, err := Marshal(keepValue(value))
	require.NoError(t, err)
	require.Equal(t, string(want), string(kept))
}

// decode returns the value of a text; numbers that fit are in canonical spelling.
func decode(t *testing.T, src []byte) any {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(string(src)))
	d.UseNumber()
	var v any
	require.NoError(t, d.Decode(&v))
	return respell(v)
}

func respell(v any) any {
	switch v := v.(type) {
	case json.Number:
		if text, fits := fit(v.String()); fits {
			return json.Number(text)
		}
	case []any:
		for i := range v {
			v[i] = respell(v[i])
		}
	case map[string]any:
		for name := range v {
			v[name] = respell(v[name])
		}
	}
	return v
}

// fit is the rule of the package documentation, word by word and with exact arithmetic.
func fit(number string) (canonical string, fits bool) {
	f, err := json.Number(number).Float64()
	if err != nil {
		return "", false
	}
	canonical = spelled(f)
	if strings.ContainsAny(number, ".eE") {
		return canonical, true
	}
	sent, _ := new(big.Rat).SetString(number)
	written, _ := new(big.Rat).SetString(canonical)
	return canonical, sent.Cmp(written) == 0
}

// spelled is f as ECMAScript spells it, which encoding/json does but for the sign of zero.
func spelled(f float64) string {
	text, err := json.Marshal(f + 0) // -0 + 0 is 0
	if err != nil {
		panic(err)
	}
	return string(text)
}

func keepValue(v any) any {
	switch v := v.(type) {
	case json.Number:
		if _, fits := fit(v.String()); !fits {
			return map[string]any{"$number": v.String()}
		}
		return v
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = keepValue(v[i])
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, member := range v {
			if len(v) == 1 && strings.TrimLeft(name, "$") == "number" && name != "number" {
				name = "$" + name
			}
			out[name] = keepValue(member)
		}
		return out
	}
	return v
}
