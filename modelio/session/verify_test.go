package session_test

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/modelio"
	"github.com/traceforge/traceforge-go/modelio/session"
)

func sortAsMI10(violations []modelio.Violation) {
	slices.SortFunc(violations, func(a, b modelio.Violation) int {
		return cmp.Or(cmp.Compare(a.Rule, b.Rule), cmp.Compare(session.Path(a), session.Path(b)), cmp.Compare(a.Message, b.Message))
	})
}

// aSession is a valid session. Tests replace parts of it.
const aSession = `{
  "model_io_schema_version": "1.0.0", "adapter_id": "a", "model_id": "m", "mode": "record",
  "interactions": [
    {"i": 0, "prompt_hash": "` + hashOfHi + `", "response_hash": "` + hashOfHi + `", "response_content": "hi", "tokens_input": 1},
    {"i": 1, "prompt_hash": "` + hashOfHi + `", "response_hash": "` + hashOfNothing + `", "response_content": ""}
  ]
}`

const (
	hashOfHi      = "sha256:8f434346648f6b96df89dda901c5176b10a6d83961dd3c1ac88b59b2dc327aa4"
	hashOfNothing = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
)

// changed returns aSession with each old text replaced by a new one.
func changed(t testing.TB, oldnew ...string) []byte {
	t.Helper()
	s := aSession
	for i := 0; i < len(oldnew); i += 2 {
		require.Contains(t, s, oldnew[i])
		s = strings.Replace(s, oldnew[i], oldnew[i+1], 1)
	}
	return []byte(s)
}

var verifyCases = []struct {
	name, why string
	change    []string
	want      []string // violations; empty if the session is valid, with the hash of aSession
}{{
	name: "valid", why: "the session that the others change",
}, {
	name: "index_spelled_otherwise", why: "1.0, 1e0 and -0 are integers to JavaScript",
	change: []string{`"i": 0`, `"i": -0`, `"i": 1`, `"i": 10e-1`},
}, {
	name: "names_escaped", why: "a name is what it stands for, not how it is spelled",
	change: []string{`"adapter_id"`, `"adapter\u005fid"`, `"i": 0`, `"\u0069": 0`},
}, {
	name: "names_of_other_case", why: "members are known by their exact names, as in JavaScript",
	change: []string{`"mode"`, `"Mode": 1, "mode"`, `"i": 0`, `"I": 7, "i": 0`},
}, {
	name: "ephemeral_of_any_type", why: "no rule speaks of ephemeral members",
	change: []string{`"tokens_input": 1`, `"tokens_input": [{"a":[1e400,null,"\ud800",true,false,-1.5E+3]}, {}, []]`, `"mode"`, `"stats": "none", "mode"`},
}, {
	name: "content_escaped_otherwise", why: "the hash is of characters",
	change: []string{`"hi"`, `"\u0068\u0069"`},
}, {
	name: "index_null", why: "JavaScript says object of null",
	change: []string{`"i": 0`, `"i": null`},
	want:   []string{"$.interactions[0].i: MI5: index must be a number, got object"},
}, {
	name: "index_boolean", why: "the type is named as JavaScript does",
	change: []string{`"i": 0`, `"i": true`, `"i": 1`, `"i": false`},
	want:   []string{"$.interactions[0].i: MI5: index must be a number, got boolean", "$.interactions[1].i: MI5: index must be a number, got boolean"},
}, {
	name: "index_infinite", why: "a number out of range is infinite to JavaScript",
	change: []string{`"i": 0`, `"i": -1e400`, `"i": 1`, `"i": 1e400`},
	want:   []string{"$.interactions[0].i: MI5: index must be 0, got -Infinity", "$.interactions[1].i: MI5: index must be 1, got Infinity"},
}, {
	name: "index_rounded", why: "numbers are shown as JavaScript has them",
	change: []string{`"i": 0`, `"i": -0.10e0`, `"i": 1`, `"i": 9007199254740993`},
	want:   []string{"$.interactions[0].i: MI5: index must be 0, got -0.1", "$.interactions[1].i: MI5: index must be 1, got 9007199254740992"},
}, {
	name: "index_exponent", why: "numbers are shown as JavaScript has them",
	change: []string{`"i": 0`, `"i": 0.00000025`, `"i": 1`, `"i": 1000000000000000000000`},
	want:   []string{"$.interactions[0].i: MI5: index must be 0, got 2.5e-7", "$.interactions[1].i: MI5: index must be 1, got 1e+21"},
}, {
	name: "index_of_many_digits", why: "nobody can make us keep a number of any length",
	change: []string{`"i": 0`, `"i": 0.` + strings.Repeat("0", 300)},
	want:   []string{"$.interactions[0].i: MI5: index must be 0, got 0." + strings.Repeat("0", 254) + "…"},
}, {
	name: "same_index_twice", why: "a pair, the order and the place are each wrong",
	change: []string{`"i": 1`, `"i": 0`},
	want: []string{
		"$.interactions[1].i: MI5: index must be 1, got 0",
		"$.interactions[1]: MI8: duplicate (prompt_hash, i) pair at index 1",
		"$.interactions[1]: MI9: interactions not sorted by i: 0 >= 0",
	},
}, {
	name: "same_malformed_pair", why: "MI8 can be judged although MI6 is broken",
	change: []string{`"i": 1`, `"i": 0`, `"prompt_hash": "` + hashOfHi, `"prompt_hash": "x`, `"prompt_hash": "` + hashOfHi, `"prompt_hash": "x`},
	want: []string{
		"$.interactions[1].i: MI5: index must be 1, got 0",
		"$.interactions[0].prompt_hash: MI6: prompt_hash must be sha256:<64 hex chars>, got x",
		"$.interactions[1].prompt_hash: MI6: prompt_hash must be sha256:<64 hex chars>, got x",
		"$.interactions[1]: MI8: duplicate (prompt_hash, i) pair at index 1",
		"$.interactions[1]: MI9: interactions not sorted by i: 0 >= 0",
	},
}, {
	name: "lone_surrogates", why: "JavaScript distinguishes them, and shows each in the same way",
	change: []string{
		`"i": 1`, `"i": 0`, `"prompt_hash": "` + hashOfHi, `"prompt_hash": "\ud800\ud800`, `"prompt_hash": "` + hashOfHi, `"prompt_hash": "\ud801\ud800`,
	},
	want: []string{
		"$.interactions[1].i: MI5: index must be 1, got 0",
		"$.interactions[0].prompt_hash: MI6: prompt_hash must be sha256:<64 hex chars>, got \ufffd\ufffd",
		"$.interactions[1].prompt_hash: MI6: prompt_hash must be sha256:<64 hex chars>, got \ufffd\ufffd",
		"$.interactions[1]: MI9: interactions not sorted by i: 0 >= 0",
	},
}, {
	name: "long_pairs", why: "what is cut may differ",
	change: []string{
		`"i": 0`, `"i": [` + strings.Repeat("1,", 150) + `1]`, `"i": 1`, `"i": [` + strings.Repeat("1,", 150) + `2]`,
	},
	want: []string{
		"$.interactions[0].i: MI5: index must be a number, got object",
		"$.interactions[1].i: MI5: index must be a number, got object",
	},
}, {
	name: "long_prompt_hashes", why: "what is cut may differ",
	change: []string{
		`"i": 1`, `"i": 0`, `"prompt_hash": "` + hashOfHi, `"prompt_hash": "` + strings.Repeat("p", 300),
		`"prompt_hash": "` + hashOfHi, `"prompt_hash": "` + strings.Repeat("p", 301),
	},
	want: []string{
		"$.interactions[1].i: MI5: index must be 1, got 0",
		"$.interactions[0].prompt_hash: MI6: prompt_hash must be sha256:<64 hex chars>, got " + strings.Repeat("p", 256) + "…",
		"$.interactions[1].prompt_hash: MI6: prompt_hash must be sha256:<64 hex chars>, got " + strings.Repeat("p", 256) + "…",
		"$.interactions[1]: MI9: interactions not sorted by i: 0 >= 0",
	},
}, {
	name: "mode_large_object", why: "an object is named as JavaScript does, whatever its size",
	change: []string{`"record"`, `{"x":"` + strings.Repeat("x", 300) + `"}`},
	want:   []string{"$.mode: MI3: mode must be one of [record, replay], got [object Object]"},
}, {
	name: "order_not_judged_without_index", why: "the reference compares what is a number only",
	change: []string{`"i": 0`, `"i": {}`},
	want:   []string{"$.interactions[0].i: MI5: index must be a number, got object"},
}, {
	name: "interactions_that_are_none", why: "the reference crashes on null; the rest of the array is still judged",
	change: []string{`{"i": 0`, `null, [], true, "x", {"i": 0`},
	want: append(
		noInteraction(0, 1, 2, 3),
		"$.interactions[1]: MI8: duplicate (prompt_hash, i) pair at index 1",
		"$.interactions[2]: MI8: duplicate (prompt_hash, i) pair at index 2",
		"$.interactions[3]: MI8: duplicate (prompt_hash, i) pair at index 3",
		"$.interactions[4].i: MI5: index must be 4, got 0",
		"$.interactions[5].i: MI5: index must be 5, got 1",
	),
}, {
	name: "empty_interaction", why: "all four members are missing",
	change: []string{`{"i": 0`, `{}, {"i": 1`, `"i": 1,`, `"i": 2,`, `"i": 1`, `"i": 1`},
	want:   append(noInteraction(0), "$.interactions[0].response_content: MI7: response_content must be a string, got undefined", "$.interactions[1].i: MI5: index must be 1, got 2", "$.interactions[2].i: MI5: index must be 2, got 1", "$.interactions[2]: MI9: interactions not sorted by i: 2 >= 1"),
}, {
	name: "response_hash_and_content", why: "the reference stops at the first; both can be judged",
	change: []string{`"response_hash": "` + hashOfHi, `"response_hash": "SHA`, `"hi"`, `["hi"]`},
	want: []string{
		"$.interactions[0].response_content: MI7: response_content must be a string, got object",
		"$.interactions[0].response_hash: MI7: response_hash must be sha256:<64 hex chars>, got SHA",
	},
}, {
	name: "hash_in_capitals", why: "MI6 and MI7 ask for small letters",
	change: []string{`"prompt_hash": "sha256:8f`, `"prompt_hash": "sha256:8F`, `"response_hash": "sha256:8f`, `"response_hash": "sha256:8F`},
	want: []string{
		"$.interactions[0].prompt_hash: MI6: prompt_hash must be sha256:<64 hex chars>, got " + strings.Replace(hashOfHi, "f", "F", 1),
		"$.interactions[0].response_hash: MI7: response_hash must be sha256:<64 hex chars>, got " + strings.Replace(hashOfHi, "f", "F", 1),
	},
}, {
	name: "response_changed", why: "MI7",
	change: []string{`"hi"`, `"ho"`},
	want:   []string{"$.interactions[0].response_hash: MI7: response_hash mismatch: expected sha256:a821c62e8104f8519d639b4c0948aece641b143f6601fa145993bb2e2c7299d4, got " + hashOfHi},
}, {
	name: "all_header_types", why: "every rule that can be judged is reported, whatever else is wrong",
	change: []string{`"1.0.0"`, `true`, `"a"`, `{"x":1}`, `"m"`, `null`, `"record"`, `[["record"],null,1.0,{},"\ud800",false]`, "[\n", `"", "x": [`},
	want: []string{
		"$.model_io_schema_version: MI1: model_io_schema_version must be string, got boolean",
		"$.adapter_id: MI2: adapter_id must be non-empty string",
		"$.model_id: MI2: model_id must be non-empty string",
		"$.mode: MI3: mode must be one of [record, replay], got record,,1,[object Object],\uFFFD,false",
		"$.interactions: MI4: interactions must be an array",
	},
}, {
	name: "long_values_are_cut", why: "a message must not be as large as the file",
	change: []string{`"1.0.0"`, `"` + strings.Repeat("9", 300) + `"`, `"record"`, `"` + strings.Repeat("r", 300) + `"`, `"prompt_hash": "` + hashOfHi, `"prompt_hash": "` + strings.Repeat("p", 40_000)},
	want: []string{
		"$.model_io_schema_version: MI1: model_io_schema_version must be semver format, got " + strings.Repeat("9", 256) + "…",
		"$.mode: MI3: mode must be one of [record, replay], got " + strings.Repeat("r", 256) + "…",
		"$.interactions[0].prompt_hash: MI6: prompt_hash must be sha256:<64 hex chars>, got " + strings.Repeat("p", 256) + "…",
	},
}, {
	name: "members_twice", why: "readers differ in which one they take, so they would differ in the hash",
	change: []string{
		`"1.0.0"`, `"1.0.0", "model_io_schema_version": "1.0.0"`,
		`"a"`, `"a", "adapter_id": "a"`,
		`"m"`, `"m", "model_id": 1`,
		`"record"`, `"record", "mode": {}, "mode": null, "interactions": []`,
		`"i": 0`, `"i": 0, "i": 0`,
		`"prompt_hash":`, `"prompt_hash": "` + hashOfHi + `", "prompt_hash":`,
		`"response_hash":`, `"response_hash": "` + hashOfHi + `", "response_hash":`,
	},
	want: []string{
		"$.model_io_schema_version: MI1: member model_io_schema_version appears twice",
		"$.adapter_id: MI2: member adapter_id appears twice",
		"$.model_id: MI2: member model_id appears twice",
		"$.mode: MI3: member mode appears twice",
		"$.interactions: MI4: member interactions appears twice",
	},
}, {
	name: "interaction_members_twice", why: "readers differ in which one they take, so they would differ in the hash",
	change: []string{
		`"i": 0`, `"i": 0, "i": 0`,
		`"prompt_hash":`, `"prompt_hash": "` + hashOfHi + `", "prompt_hash":`,
		`"response_hash":`, `"response_hash": "` + hashOfHi + `", "response_hash":`,
		`"hi"`, `"hi", "response_content": "ho"`,
	},
	want: []string{
		"$.interactions[0].i: MI5: member i appears twice",
		"$.interactions[0].prompt_hash: MI6: member prompt_hash appears twice",
		"$.interactions[0].response_content: MI7: member response_content appears twice",
		"$.interactions[0].response_hash: MI7: member response_hash appears twice",
	},
}}

// noInteraction returns the violations for elements that are not objects.
func noInteraction(places ...int) []string {
	var violations []string
	for _, n := range places {
		violations = append(violations,
			fmt.Sprintf("$.interactions[%d].i: MI5: index must be a number, got undefined", n),
			fmt.Sprintf("$.interactions[%d].prompt_hash: MI6: prompt_hash must be sha256:<64 hex chars>, got undefined", n),
			fmt.Sprintf("$.interactions[%d].response_hash: MI7: response_hash must be sha256:<64 hex chars>, got undefined", n),
		)
	}
	return violations
}

func TestVerify(t *testing.T) {
	valid := verify(t, []byte(aSession), session.VerifyOptions{})
	require.Equal(t, 2, valid.Interactions)
	for _, tt := range verifyCases {
		t.Run(tt.name, func(t *testing.T) {
			text := changed(t, tt.change...)
			got := verify(t, text, session.VerifyOptions{})
			if tt.want == nil {
				require.Equal(t, valid, got, tt.why)
			}
			var lines []string
			for _, v := range got.Violations {
				lines = append(lines, session.Path(v)+": "+v.Rule+": "+v.Message)
			}
			require.ElementsMatch(t, tt.want, lines, tt.why)
			require.True(t, slices.IsSortedFunc(got.Violations, func(a, b modelio.Violation) int {
				return cmp.Or(cmp.Compare(a.Rule, b.Rule), cmp.Compare(session.Path(a), session.Path(b)))
			}), "MI10")
			require.Equal(t, got.Violations, session.Verify(text))
		})
	}
}

// TestVerifyReaderInPieces checks that reading in pieces does not change the result.
func TestVerifyReaderInPieces(t *testing.T) {
	for _, tt := range verifyCases {
		t.Run(tt.name, func(t *testing.T) {
			text := changed(t, tt.change...)
			want := verify(t, text, session.VerifyOptions{})
			for name, pieces := range map[string]func(io.Reader) io.Reader{
				"one_byte": iotest.OneByteReader, "half": iotest.HalfReader, "data_with_eof": iotest.DataErrReader,
			} {
				got, err := session.VerifyReader(pieces(bytes.NewReader(text)), session.VerifyOptions{})
				require.NoError(t, err, name)
				require.Equal(t, want, got, name)
			}
		})
	}
}

func TestVerifyNotJSON(t *testing.T) {
	tests := []struct {
		name, text string
		kind       error
		want       string
	}{
		{"empty", "", canon.ErrSyntax, "offset 0: invalid JSON: unexpected end, want a value"},
		{"byte_order_mark", "\uFEFF{}", canon.ErrSyntax, `offset 0: invalid JSON: unexpected "\xef", want a value`},
		{"trailing_data", "{} {}", canon.ErrSyntax, `offset 3: invalid JSON: unexpected "{", want the end`},
		{"truncated", aSession[:200], canon.ErrSyntax, "/interactions/0/prompt_hash: offset 200: invalid JSON: unexpected end, want the end of the string"},
		{"truncated_character", `{"adapter_id":"` + "\xe2\x82", canon.ErrSyntax, "/adapter_id: offset 15"},
		{"no_comma", `{"mode":[1 2]}`, canon.ErrSyntax, `/mode: offset 11: invalid JSON: unexpected "2", want ',' or ']'`},
		{"no_comma_in_object", `{"a":1 "b":2}`, canon.ErrSyntax, `offset 7: invalid JSON: unexpected "\"", want ',' or '}'`},
		{"no_colon", `{"a" 1}`, canon.ErrSyntax, `offset 5: invalid JSON: unexpected "1", want ':'`},
		{"trailing_comma", `{"a":1,}`, canon.ErrSyntax, `offset 7: invalid JSON: unexpected "}", want a member name`},
		{"trailing_comma_in_array", `{"x":[1,]}`, canon.ErrSyntax, `offset 8: invalid JSON: unexpected "]", want a value`},
		{"name_not_string", `{1:2}`, canon.ErrSyntax, "want a member name"},
		{"nested_name_not_string", `{"x":{1:2}}`, canon.ErrSyntax, "want a member name"},
		{"nested_second_name", `{"x":{"a":1,2}}`, canon.ErrSyntax, "want a member name"},
		{"wrong_brace", `{"x":[1}}`, canon.ErrSyntax, `unexpected "}", want ',' or ']'`},
		{"interactions_no_comma", `{"interactions":[{} {}]}`, canon.ErrSyntax, `/interactions: offset 20`},
		{"literal", `{"x":trux}`, canon.ErrSyntax, `offset 5: invalid JSON: unexpected "t", want a value`},
		{"leading_zero", `{"x":01}`, canon.ErrSyntax, `unexpected "}", want a number as JSON spells it`},
		{"plus", `{"x":+1}`, canon.ErrSyntax, `unexpected "+", want a value`},
		{"minus_alone", `{"x":-}`, canon.ErrSyntax, `unexpected "}", want a number as JSON spells it`},
		{"no_fraction", `{"x":1.}`, canon.ErrSyntax, `unexpected "}", want a number as JSON spells it`},
		{"no_exponent", `{"x":1e+}`, canon.ErrSyntax, `unexpected "}", want a number as JSON spells it`},
		{"hex", `{"x":0x1}`, canon.ErrSyntax, `unexpected "x"`},
		{"nan", `{"x":NaN}`, canon.ErrSyntax, `unexpected "N", want a value`},
		{"bad_escape", `{"x":"\x"}`, canon.ErrSyntax, "offset 6: invalid JSON: not an escape sequence"},
		{"bad_hex_escape", `{"x":"\u12G4"}`, canon.ErrSyntax, "not an escape sequence"},
		{"cut_escape", `{"x":"\`, canon.ErrSyntax, "not an escape sequence"},
		{"control_character", "{\"x\":\"a\nb\"}", canon.ErrSyntax, `offset 7: invalid JSON: unexpected "\n", want an escape for a control character`},
		{"invalid_utf8", "{\"adapter_id\":\"a\xffb\"}", canon.ErrEncoding, "/adapter_id: offset 16: invalid Unicode: byte 0xff is not UTF-8 here"},
		{"overlong_utf8", "{\"x\":\"\xc0\xaf\"}", canon.ErrEncoding, "offset 6"},
		{"surrogate_in_utf8", "{\"x\":\"\xed\xa0\x80\"}", canon.ErrEncoding, "offset 6"},
		{"deep", strings.Repeat("[", 5_000_000), canon.ErrDepth, "offset 1000: nested too deep: more than 1000 levels"},
		{"deep_in_session", `{"interactions":[{"x":` + strings.Repeat("[", 998), canon.ErrDepth, "nested too deep"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := session.VerifyReader(strings.NewReader(tt.text), session.VerifyOptions{})
			require.ErrorIs(t, err, tt.kind)
			require.ErrorContains(t, err, tt.want)
			_, inPieces := session.VerifyReader(iotest.OneByteReader(strings.NewReader(tt.text)), session.VerifyOptions{})
			require.Equal(t, err, inPieces)
			require.Equal(t,
				[]modelio.Violation{{Rule: session.RuleParse, Message: "Invalid JSON: " + err.Error()}},
				session.Verify([]byte(tt.text)))
		})
	}
}

func TestVerifyDeepestNesting(t *testing.T) {
	const inside = canon.MaxDepth - 3 // session, interactions, interaction
	deep := strings.Repeat("[", inside) + strings.Repeat("]", inside)
	require.Empty(t, session.Verify(changed(t, `"tokens_input": 1`, `"tokens_input": `+deep)))
}

// TestVerifyReaderFails checks that a reader's error differs from the report about invalid JSON, wherever it occurs.
func TestVerifyReaderFails(t *testing.T) {
	broken := errors.New("broken disk")
	for n := range len(aSession) {
		r := io.MultiReader(strings.NewReader(aSession[:n]), iotest.ErrReader(broken))
		_, err := session.VerifyReader(r, session.VerifyOptions{})
		require.ErrorIs(t, err, broken)
		require.EqualError(t, err, fmt.Sprintf("read model_io session at byte %d: broken disk", n))
	}
	_, err := session.VerifyReader(lazyReader{}, session.VerifyOptions{})
	require.ErrorIs(t, err, io.ErrNoProgress)
}

// A lazyReader returns no bytes and no error.
type lazyReader struct{}

func (lazyReader) Read([]byte) (int, error) { return 0, nil }

// TestVerifyReaderAdapterLast reads a file with adapter_id at its end. The hash begins with it.
func TestVerifyReaderAdapterLast(t *testing.T) {
	want := verify(t, []byte(aSession), session.VerifyOptions{})
	text := changed(t, `"adapter_id": "a", `, "", "  ]\n}", `  ], "adapter_id": "a"}`)

	got, err := session.VerifyReader(bytes.NewReader(text), session.VerifyOptions{})
	require.NoError(t, err)
	require.Equal(t, want, got, "what came before is kept")

	s := session.New("a", "m")
	s.Append("p", strings.Repeat("r", 100_000))
	hash, err := s.Hash()
	require.NoError(t, err)
	long, err := s.Encode()
	require.NoError(t, err)
	long = []byte(strings.Replace(string(long[:len(long)-2])+`, "adapter_id": "a"}`, `"adapter_id":"a",`, "", 1))
	require.Equal(t, hash, verify(t, long, session.VerifyOptions{}).Hash, "as much of it as there is")

	r := bytes.NewReader(append([]byte("head"), text...))
	_, _ = r.Seek(4, io.SeekStart)
	got, err = session.VerifyReader(r, session.VerifyOptions{})
	require.NoError(t, err)
	require.Equal(t, want, got, "the session begins where the reader stands")

	pipe, writer, err := os.Pipe()
	require.NoError(t, err)
	defer pipe.Close()
	go func() {
		_, _ = writer.Write(text)
		writer.Close()
	}()
	got, err = session.VerifyReader(pipe, session.VerifyOptions{})
	require.NoError(t, err)
	require.Equal(t, want, got, "a pipe is read as a file is")
}

func TestVerifyOptions(t *testing.T) {
	text := changed(t, `"hi"`, `"ho"`)
	require.Len(t, verify(t, text, session.VerifyOptions{}).Violations, 1)
	require.True(t, verify(t, text, session.VerifyOptions{NoResponseHashes: true}).OK())

	text = changed(t, `"hi"`, `5`)
	require.Len(t, verify(t, text, session.VerifyOptions{NoResponseHashes: true}).Violations, 1,
		"a core without response content is none, compared or not")
}

// TestVerifyLimits checks that limits count bytes, and that they also apply to the list of violations.
func TestVerifyLimits(t *testing.T) {
	nulls := "[" + strings.Repeat("null,", 100_000) + "null]"
	report := verify(t, changed(t, "[\n", `[`+nulls[1:len(nulls)-1]+",\n"), session.VerifyOptions{})
	require.Len(t, report.Violations, 4*session.MaxInteractions)
	require.Contains(t, report.Violations, modelio.Violation{
		Rule: "MI4", Pointer: "/interactions", Message: "interactions length (100003) exceeds limit (10000)",
	})

	s := session.New("a", "m")
	s.Append("p", strings.Repeat("é", session.MaxResponseBytes/2)+"x")
	data, err := s.Encode()
	require.NoError(t, err)
	require.Equal(t, []modelio.Violation{{
		Rule: "MI11", Pointer: "/interactions/0/response_content", Message: "response_content size (1000001 bytes) exceeds limit (1000000)",
	}}, session.Verify(data))

	hash, err := s.Hash()
	require.NoError(t, err)
	require.Equal(t, session.Report{Interactions: 1, Hash: hash}, verify(t, data, session.VerifyOptions{NoSizeLimits: true}))
}

func TestReportString(t *testing.T) {
	require.Equal(t,
		`{"ok":false,"violations":[{"message":"session must be object, got null","path":"$","rule_id":"SCHEMA"}]}`,
		verify(t, []byte("null"), session.VerifyOptions{}).String())
}
