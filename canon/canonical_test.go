package canon

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCanonical(t *testing.T) {
	tests := []struct {
		name string
		why  string
		text string
		want bool
	}{
		{"everything", "all kinds of values", `{"":[],"\u0000":{},"\n":[null,true,false],"a":[0,-1,1.5,1e+21,1e-7,9007199254740993.5],"b":"\"\\\b\f\n\r\té😀"}`, false},
		{"all-values", "all kinds of values", `{"":[],"\u0000":{},"\n":[null,true,false],"a":[0,-1,1.5,1e+21,1e-7],"b":"\"\\\b\f\n\r\té😀/"}`, true},
		{"space-before", "no white space", ` 1`, false},
		{"space-after", "no white space, not even a line end", "1\n", false},
		{"space-in-array", "no white space", `[1, 2]`, false},
		{"space-in-empty-array", "no white space", `[ ]`, false},
		{"space-in-object", "no white space", `{"a": 1}`, false},
		{"space-in-empty-object", "no white space", `{ }`, false},
		{"unsorted", "names rise", `{"b":1,"a":2}`, false},
		{"unsorted-inside", "names rise everywhere", `{"a":[{"b":1,"a":2}]}`, false},
		{"utf8-order", "names rise in UTF-16", "{\"\ue000\":1,\"\U00010000\":2}", false},
		{"escape-order", "names rise by character", `{"[":1,"\"":2}`, false},
		{"equal", "no duplicates", `{"a":1,"a":2}`, false},
		{"escape-solidus", "needs none", `"\/"`, false},
		{"escape-letter", "needs none", `"\u0061"`, false},
		{"escape-delete", "needs none", `"\u007f"`, false},
		{"escape-short", "has a shorter one", `"\u000a"`, false},
		{"escape-upper-case", "lower case", `"\u001F"`, false},
		{"escape-pair", "needs none", `"\ud83d\ude00"`, false},
		{"minus-zero", "no sign", `-0`, false},
		{"plus-exponent", "the sign is written", `1e21`, false},
		{"exponent-case", "lower case", `1E+21`, false},
		{"exponent-zero", "no leading zeros", `1e-07`, false},
		{"exponent-needless", "1e20 has none", `1e+20`, false},
		{"exponent-missing", "1e-7 has one", `0.0000001`, false},
		{"exponent-mantissa", "one digit before the point", `10e+21`, false},
		{"fraction-zero", "1", `1.0`, false},
		{"fraction-trailing", "1.5", `1.50`, false},
		{"digits-needless", "0.1", `0.10000000000000001`, false},
		{"digits-needed", "17 of them", `0.30000000000000004`, true},
		{"integer-rounded", "never canonical", `9007199254740993`, false},
		{"integer-exponent", "1e+21", `1000000000000000000000`, false},
		{"name-unquoted", "a name begins with a quotation mark", `{xa":1}`, false},
		{"no-number", "what begins as a number", `[-]`, false},
		{"no-digit", "what begins as a number", `1.`, false},
		{"no-value", "none begins so", `x`, false},
		{"control", "a control character is escaped", "\"\x01\"", false},
		{"control-n", "a control character is no backslash", "\"\x01n\"", false},
		{"control-last", "a control character is escaped", "\"\x01", false},
		{"control-u", "a control character is no backslash", "\"\x01u0000\"", false},
		{"two-values", "one text", `1,2`, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			require.Equal(t, tt.want, Canonical([]byte(tt.text)), tt.why)
		})
	}
}

func TestCanonicalDoesNotAllocate(t *testing.T) {
	for _, text := range [][]byte{chat(2 << 10), history(100 << 10), []byte(`[0.30000000000000004,1e+21,"\n\u0000é",-0.006929283495992422]`)} {
		require.True(t, Canonical(text))
		require.Zero(t, testing.AllocsPerRun(10, func() { Canonical(text) }))
	}
	spaced := []byte(`{"a": 1}`)
	require.False(t, Canonical(spaced))
	require.Zero(t, testing.AllocsPerRun(10, func() { Canonical(spaced) }), "most arguments of tools are spelled so")
}
