package canon

import (
	"bytes"
	"encoding/json"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/tbtest/vector"
)

// texts are accepted, want is their canonical form. The fuzz targets start from them.
var texts = []struct {
	name string
	why  string
	text string
	want string
}{
	{
		"rfc-8785-sample", "section 3.2.2, canonical form in 3.2.3",
		`{
      "numbers": [333333333.33333329, 1E30, 4.50,
                  2e-3, 0.000000000000000000000000001],
      "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
      "literals": [null, true, false]
    }`,
		`{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}`,
	},
	{
		"rfc-8785-order", "section 3.2.3: UTF-16 puts the surrogates of U+1F600 before U+FB33",
		`{
      "\u20ac": "Euro Sign",
      "\r": "Carriage Return",
      "\ufb33": "Hebrew Letter Dalet With Dagesh",
      "1": "One",
      "\ud83d\ude00": "Emoji: Grinning Face",
      "\u0080": "Control",
      "\u00f6": "Latin Small Letter O With Diaeresis"
    }`,
		`{"\r":"Carriage Return","1":"One","` + "\u0080" + `":"Control","ö":"Latin Small Letter O With Diaeresis",` +
			`"€":"Euro Sign","😀":"Emoji: Grinning Face","` + "\ufb33" + `":"Hebrew Letter Dalet With Dagesh"}`,
	},

	{"null", "literals stay", `null`, `null`},
	{"true", "literals stay", `true`, `true`},
	{"false", "literals stay", `false`, `false`},
	{"space-around", "jcs v1.0.1 failed on true and a line end", "\t\r\n true\n", `true`},
	{"space-within", "white space goes", " { \"a\" : [ 1 , 2 ] ,\n\t\"b\":{ } , \"c\":[ ] }\r\n", `{"a":[1,2],"b":{},"c":[]}`},
	{"nesting", "members are sorted at every level", `{"b":{"d":1,"c":[{"f":1,"e":2}]},"a":0}`, `{"a":0,"b":{"c":[{"e":2,"f":1}],"d":1}}`},
	{"moved-within-moved", "an object moves with its own members", `[{"z":[{"y":{"x":1,"w":2},"v":3}],"u":[]},{"t":1,"s":{"r":1,"q":2}}]`,
		`[{"u":[],"z":[{"v":3,"y":{"w":2,"x":1}}]},{"s":{"q":2,"r":1},"t":1}]`},

	{"name-prefix", "the shorter name comes first", `{"aa":1,"a":2,"":3}`, `{"":3,"a":2,"aa":1}`},
	{"name-digits", "names are no numbers", `{"10":1,"9":2,"1":3}`, `{"1":3,"10":1,"9":2}`},
	{"name-case", "no folding, no locale", `{"a":1,"B":2,"_":3}`, `{"B":2,"_":3,"a":1}`},
	{"name-escapes", "order is that of the characters, not of their escapes", `{"\\":1,"\"":2,"!":3,"a":4,"\u001f":5,"[":6,"]":7}`,
		`{"\u001f":5,"!":3,"\"":2,"[":6,"\\":1,"]":7,"a":4}`},
	{"name-controls", "short escapes sort by what they stand for", `{"\t":1,"\b":2,"\n":3,"\u000b":4,"\f":5,"\u0000":6}`,
		`{"\u0000":6,"\b":2,"\t":1,"\n":3,"\u000b":4,"\f":5}`},
	{"name-escape-within", "and what follows the escape counts", `{"a\nb\"c":1,"a\nb\"b":2,"a\nb":3,"a\u000ba":4}`,
		`{"a\nb":3,"a\nb\"b":2,"a\nb\"c":1,"a\u000ba":4}`},
	{"name-planes", "the ends of the ranges that UTF-16 orders otherwise than UTF-8",
		`{"` + "\uffff" + `":1,"` + "\U0010ffff" + `":2,"` + "\ue000" + `":3,"` + "\U00010000" + `":4,"` + "\ud7ff" + `":5,"` + "\U0003ffff" + `":6}`,
		`{"` + "\ud7ff" + `":5,"` + "\U00010000" + `":4,"` + "\U0003ffff" + `":6,"` + "\U0010ffff" + `":2,"` + "\ue000" + `":3,"` + "\uffff" + `":1}`},
	{"name-trailing-bytes", "the second byte decides alone", `{"` + "\ue100" + `":1,"` + "\ue080" + `":2,"` + "\U00020000" + `":3,"` + "\U00010400" + `":4}`,
		`{"` + "\U00010400" + `":4,"` + "\U00020000" + `":3,"` + "\ue080" + `":2,"` + "\ue100" + `":1}`},
	{"prototype", "no name is special", `{"constructor":1,"__proto__":2}`, `{"__proto__":2,"constructor":1}`},
	{"same-name-apart", "the same name in two objects is no duplicate", `[{"a":1},{"a":{"a":2}}]`, `[{"a":1},{"a":{"a":2}}]`},

	{"string-short-escapes", "two characters where JSON has them", `"\u0008\u0009\u000a\u000c\u000d\u0022\u005c"`, `"\b\t\n\f\r\"\\"`},
	{"string-controls", "others are \\u00xx in lower case", `"\u0000\u001F\u000B\u000e"`, `"\u0000\u001f\u000b\u000e"`},
	{"string-delete", "U+007F needs no escape", `"\u007f\u0080"`, "\"\u007f\u0080\""},
	{"string-solidus", "needs no escape", `"\/"`, `"/"`},
	{"string-html", "json.Marshal escapes these, canonical JSON does not", `"\u003cb\u003e\u0026"`, `"<b>&"`},
	{"string-line-separators", "U+2028 and U+2029 stand for themselves", `"\u2028\u2029"`, "\"\u2028\u2029\""},
	{"string-surrogate-pair", "becomes four bytes of UTF-8", `"\ud83d\ude00\uD800\uDC00\udbff\udfff"`, "\"😀\U00010000\U0010ffff\""},
	{"string-noncharacter", "allowed, as the package says", `"\uffff\ufdd0"`, "\"\uffff\ufdd0\""},
	{"string-replacement", "U+FFFD is a character", `"\ufffd` + "\ufffd" + `"`, "\"\ufffd\ufffd\""},
	{"string-byte-order-mark", "within a string it is a character", `"\ufeff"`, "\"\ufeff\""},
	{"string-not-normalized", "section 3.1: Unicode is kept as it is", `["\u00e9","e\u0301"]`, "[\"\u00e9\",\"e\u0301\"]"},
	{"string-block-edges", "stops at every place of an eight-byte block", `["","1","12","123\n","1234\n","12345\n","123456\n","1234567\n","12345678\n","123456789\n"]`,
		`["","1","12","123\n","1234\n","12345\n","123456\n","1234567\n","12345678\n","123456789\n"]`},

	{"zero", "one spelling", `[0,-0,0.0,-0.0,0e0,-0e-9,0.000]`, `[0,0,0,0,0,0,0]`},
	{"one", "one spelling", `[1,1.0,1e0,1E+0,10e-1,0.1e1,1.000]`, `[1,1,1,1,1,1,1]`},
	{"exponents", "from 1e21 up and below 1e-6", `[1e20,1e21,1e-6,1e-7,0.000001,0.0000001,-1.5E-10,1e100,123e-20]`,
		`[100000000000000000000,1e+21,0.000001,1e-7,0.000001,1e-7,-1.5e-10,1e+100,1.23e-18]`},
	{"fraction-digits", "fifteen digits stay, more are the shortest", `[0.123456789012345,123456.789012345,0.1234567890123456,0.12345678901234567890]`,
		`[0.123456789012345,123456.789012345,0.1234567890123456,0.12345678901234568]`},
	{"fraction-rounds", "ECMAScript", `[0.1000000000000000055,0.30000000000000004,2.50]`, `[0.1,0.30000000000000004,2.5]`},
	{"extremes", "the ends of the range", `[1.7976931348623157e308,-1.7976931348623157E+308,5e-324,2.2250738585072014e-308,4e-324]`,
		`[1.7976931348623157e+308,-1.7976931348623157e+308,5e-324,2.2250738585072014e-308,5e-324]`},
	{"underflow", "rounds to zero, which is in range", `[1e-400,-1e-400]`, `[0,0]`},
	{"integer-15-digits", "fits always", `[999999999999999,-999999999999999]`, `[999999999999999,-999999999999999]`},
	{"integer-2-53", "the last of the integers without gaps", `[9007199254740991,9007199254740992,-9007199254740992]`, `[9007199254740991,9007199254740992,-9007199254740992]`},
	{"integer-even", "beyond 2^53 some fit", `[9007199254740994,9007199254740996,-9007199254740994]`, `[9007199254740994,9007199254740996,-9007199254740994]`},
	{"integer-as-ecmascript", "appendix B: canonical forms are canonical", `295147905179352830000`, `295147905179352830000`},
	{"integer-gets-exponent", "the value is the same", `[1000000000000000000000,-1200000000000000000000000]`, `[1e+21,-1.2e+24]`},
	{"integer-with-fraction", "is no integer here, and rounds", `[9007199254740993.0,9007199254740993e0,9223372036854775807.0]`, `[9007199254740992,9007199254740992,9223372036854776000]`},
}

func TestJSON(t *testing.T) {
	for _, tt := range texts {
		t.Run(tt.name, func(t *testing.T) {
			src := []byte(tt.text)
			got, err := JSON(src)
			require.NoError(t, err, tt.why)
			require.Equal(t, tt.want, string(got), tt.why)
			require.Equal(t, tt.text, string(src), "the argument is not changed")

			require.True(t, Canonical(got), "the result is canonical")
			require.Equal(t, tt.text == tt.want, Canonical(src), "only canonical text is canonical")
			again, err := JSON(got)
			require.NoError(t, err)
			require.Equal(t, tt.want, string(again), "idempotent")
		})
	}
}

func TestJSONReturnsNewMemory(t *testing.T) {
	for _, text := range []string{`{"a":1}`, `{"a": 1}`, `{"b":1,"a":1}`} {
		src := []byte(text)
		got, err := JSON(src)
		require.NoError(t, err)
		want := string(got)
		clear(src)
		require.Equal(t, want, string(got))
	}
}

// TestJSONLarge has the shapes that cost other implementations dearly.
func TestJSONLarge(t *testing.T) {
	var falling, want strings.Builder
	const members = 20_000 // an insertion sort takes 0.7 s for them
	for i := range members {
		falling.WriteString(`,"` + strconv.Itoa(2*members-i) + `":0`)
		want.WriteString(`,"` + strconv.Itoa(members+1+i) + `":0`)
	}
	ones := strings.Repeat(",1", 100_000)
	deep := strings.Repeat(`{"b":0,"a":`, MaxDepth)
	tests := []struct {
		name string
		text string
		want string
	}{
		{"members-falling", "{" + falling.String()[1:] + "}", "{" + want.String()[1:] + "}"},
		{"elements", "[ " + ones[1:] + "]", "[" + ones[1:] + "]"},
		{"unsorted-and-deep", deep + "1" + strings.Repeat("}", MaxDepth),
			strings.Repeat(`{"a":`, MaxDepth) + "1" + strings.Repeat(`,"b":0}`, MaxDepth)},
		{"arrays-deep", strings.Repeat(" [", MaxDepth) + strings.Repeat("]", MaxDepth),
			strings.Repeat("[", MaxDepth) + strings.Repeat("]", MaxDepth)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := JSON([]byte(tt.text))
			require.NoError(t, err)
			require.True(t, tt.want == string(got))
		})
	}
}

func TestMarshal(t *testing.T) {
	type request struct {
		Model       string          `json:"model"`
		Messages    []string        `json:"messages"`
		Temperature float64         `json:"temperature"`
		Options     json.RawMessage `json:"options,omitempty"`
	}
	got, err := Marshal(request{"m", []string{"a <b> & c\u2028"}, 0.5, json.RawMessage(`{"b": 1.0, "a": 2}`)})
	require.NoError(t, err)
	require.Equal(t, "{\"messages\":[\"a <b> & c\u2028\"],\"model\":\"m\",\"options\":{\"a\":2,\"b\":1},\"temperature\":0.5}", string(got))

	h, err := SumJSON(map[string]any{"b": 1, "a": 2})
	require.NoError(t, err)
	require.Equal(t, Sum([]byte(`{"a":2,"b":1}`)), h)
}

func TestMarshalErrors(t *testing.T) {
	_, err := Marshal(func() {})
	var unsupported *json.UnsupportedTypeError
	require.ErrorAs(t, err, &unsupported)
	require.ErrorContains(t, err, "canonical JSON of func(): ")

	_, err = Marshal(map[string]int64{"seed": 1<<53 + 1})
	require.ErrorIs(t, err, ErrNumber)
	require.EqualError(t, err, "canonical JSON of map[string]int64: /seed: offset 8: "+
		"number does not fit a float64: integer 9007199254740993 would become 9007199254740992")

	h, err := SumJSON(json.RawMessage(`{"a":1,"a":2}`))
	require.ErrorIs(t, err, ErrDuplicate)
	require.Empty(t, h)
}

// TestReference compares with what the reference implementation of model_io answered. It is
// more lenient: it is JSON.parse and JSON.stringify of JavaScript.
func TestReference(t *testing.T) {
	data := vector.Text(t, "model-io/canonical_oracle.json")
	var cases []struct {
		Text      string `json:"json_text"`
		Canonical string `json:"canonical"`
		Sum       Hash   `json:"sha256_no_lf"`
		SumWithLF Hash   `json:"canonicalHash_with_lf"`
	}
	require.NoError(t, json.Unmarshal(data, &cases))
	require.Len(t, cases, 50)

	rejected := map[string]error{
		`123456789012345678901234567890`: ErrNumber,
		`9007199254740993`:               ErrNumber,
		`"\ud800"`:                       ErrEncoding,
		`"x\udc00y"`:                     ErrEncoding,
		`{"a":1,"a":2}`:                  ErrDuplicate,
	}
	for _, tt := range cases {
		require.Equal(t, tt.Sum, Sum([]byte(tt.Canonical)), tt.Text)
		require.Equal(t, tt.SumWithLF, Sum([]byte(tt.Canonical+"\n")), tt.Text)

		got, err := JSON([]byte(tt.Text))
		if want := rejected[tt.Text]; want != nil {
			require.ErrorIs(t, err, want, tt.Text)
			delete(rejected, tt.Text)
			continue
		}
		require.NoError(t, err, tt.Text)
		require.Equal(t, tt.Canonical, string(got))
		require.Equal(t, tt.Sum, Sum(got))
		require.Equal(t, tt.SumWithLF, Sum(append(got, '\n')))
	}
	require.Empty(t, rejected)
}

// TestCorpus runs recorded provider traffic through the package.
func TestCorpus(t *testing.T) {
	data, err := os.ReadFile(vector.Corpus(t, "corpus.jsonl"))
	require.NoError(t, err)
	bodies := 0
	for line := range bytes.Lines(data) {
		var call struct {
			Origin   string `json:"origin"`
			Request  string `json:"request_body"`
			Response string `json:"response_body"`
		}
		require.NoError(t, json.Unmarshal(line, &call))
		for _, body := range []string{call.Request, call.Response} {
			if !json.Valid([]byte(body)) {
				continue // a stream, a form, binary
			}
			bodies++
			kept, err := KeepNumbers([]byte(body))
			require.NoError(t, err, call.Origin)
			require.True(t, Canonical(kept), call.Origin)
			if len(body) > 16<<10 {
				continue // few, and most of the bytes; the plain walk is slow
			}
			checkKept(t, []byte(body))
		}
	}
	require.Greater(t, bodies, 2000)
}
