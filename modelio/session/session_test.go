package session_test

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/modelio"
	"github.com/traceforge/traceforge-go/modelio/session"
)

func TestSessionAppend(t *testing.T) {
	s := session.New("a", "m")
	s.Append("hi", "hi")
	s.Append("hi", "")
	s.Append("\xff", "a\xffb")
	s.Append("hi", " h\u00e9\u2028\"\n")
	require.Equal(t, session.Interaction{PromptHash: hashOfHi, ResponseHash: hashOfHi, ResponseContent: "hi"}, s.Interactions[0])
	require.Equal(t, session.Interaction{I: 1, PromptHash: hashOfHi, ResponseHash: hashOfNothing}, s.Interactions[1])
	require.Equal(t, "a\uFFFDb", s.Interactions[2].ResponseContent, "a session is JSON, so it holds characters")
	for _, in := range s.Interactions {
		require.Equal(t, fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(in.ResponseContent))), string(in.ResponseHash), "of the content's UTF-8 and nothing else")
	}
	data, err := s.Encode()
	require.NoError(t, err)
	require.Empty(t, session.Verify(data))
}

func TestSessionHashSortsByIndex(t *testing.T) {
	s := session.New("a", "m")
	s.Append("1", "1")
	s.Append("2", "2")
	want, err := s.Hash()
	require.NoError(t, err)
	s.Interactions[0], s.Interactions[1] = s.Interactions[1], s.Interactions[0]
	got, err := s.Hash()
	require.NoError(t, err)
	require.Equal(t, want, got, "MIO 4.3")
}

func TestSessionEncode(t *testing.T) {
	seven := int64(7)
	s := session.New("a\u2028<", "m")
	s.Append("p", "\"\\\b\f\n\r\t\x01\x7f/é😀")
	s.Append("p", "")
	s.Interactions[0].TokensInput, s.Interactions[0].TokensOutput, s.Interactions[0].LatencyMS = &seven, &seven, &seven
	s.Interactions[1].Unknown = modelio.Object{"note": json.RawMessage(`1e2`), "i": json.RawMessage(`9`)}
	s.CreatedAt, s.EndedAt = "2026-01-05T00:00:00.000Z", "2026-01-05T00:00:01.000Z"
	s.Stats = &session.Stats{TotalInteractions: 2, TotalTokensInput: 7, TotalTokensOutput: 7, TotalLatencyMS: 7}
	data, err := s.Encode()
	require.NoError(t, err)
	require.Equal(t, `{"adapter_id":"a`+"\u2028"+`<","created_at_utc":"2026-01-05T00:00:00.000Z","ended_at_utc":"2026-01-05T00:00:01.000Z","interactions":[
{"i":0,"latency_ms":7,"prompt_hash":"`+string(s.Interactions[0].PromptHash)+`","response_content":"\"\\\b\f\n\r\t\u0001`+"\x7f"+`/é😀","response_hash":"`+string(s.Interactions[0].ResponseHash)+`","tokens_input":7,"tokens_output":7},
{"i":1,"note":1e2,"prompt_hash":"`+string(s.Interactions[1].PromptHash)+`","response_content":"","response_hash":"`+hashOfNothing+`"}
],"mode":"record","model_id":"m","model_io_schema_version":"1.0.0","stats":{"total_interactions":2,"total_tokens_input":7,"total_tokens_output":7,"total_latency_ms":7}}
`, string(data))
	require.Empty(t, session.Verify(data))

	var read session.Session
	require.NoError(t, json.Unmarshal(data, &read))
	delete(s.Interactions[1].Unknown, "i") // a field wins over an unknown member of its name
	require.Equal(t, *s, read)
}

// TestSessionKeepsWhatItDoesNotKnow checks that ephemeral members of any kind come back as they were.
func TestSessionKeepsWhatItDoesNotKnow(t *testing.T) {
	for _, tt := range []struct{ name, created, stats string }{
		{"other_types", `5`, `{"total_interactions":1,"other":2}`},
		{"empty", `""`, `{}`},
		{"lone_surrogate", `"\ud800"`, `null`},
		{"some_totals", `null`, `{"total_interactions":1}`},
		{"names_of_other_case", `[]`, `{"Total_Interactions":1,"total_latency_ms":0,"total_tokens_input":0,"total_tokens_output":0}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			text := `{"adapter_id":"a","created_at_utc":` + tt.created + `,"interactions":[
{"i":0,"latency_ms":1.5,"prompt_hash":"","response_content":"\ud800","response_hash":"","tokens_input":null,"tokens_output":"2"}
],"mode":"","model_id":"x\udc00y","model_io_schema_version":"","note":{"a":9007199254740993},"stats":` + tt.stats + `}
`
			var s session.Session
			require.NoError(t, json.Unmarshal([]byte(text), &s))
			got, err := s.Encode()
			require.NoError(t, err)
			require.Equal(t, text, string(got))
		})
	}
}

func TestInteractionJSON(t *testing.T) {
	in := session.Interaction{I: 3, PromptHash: hashOfHi, ResponseHash: hashOfNothing}
	data, err := json.Marshal(in)
	require.NoError(t, err)
	require.Equal(t, `{"i":3,"prompt_hash":"`+hashOfHi+`","response_content":"","response_hash":"`+hashOfNothing+`"}`, string(data))
	var read session.Interaction
	require.NoError(t, json.Unmarshal(data, &read))
	require.Equal(t, in, read)

	require.EqualError(t, read.UnmarshalJSON([]byte(`{"i":3}`)), "modelio: interaction: /prompt_hash: required member is missing")
	require.Equal(t, in, read)
	_, err = session.Interaction{PromptHash: "\xff"}.MarshalJSON()
	require.EqualError(t, err, "modelio: interaction: /prompt_hash: string is not UTF-8")

	data, err = json.Marshal(session.Session{Interactions: []session.Interaction{in}})
	require.NoError(t, err)
	require.Contains(t, string(data), `"interactions":[{"i":3,`, "a session is the same by value and by pointer")
}

func TestSessionErrors(t *testing.T) {
	decode := []struct{ name, text, want string }{
		{"no_object", `[]`, "modelio: session: not a JSON object"},
		{"null", `null`, "modelio: session: not a JSON object"},
		{"missing", string(changed(t, `"mode": "record",`, "")), "modelio: session: /mode: required member is missing"},
		{"wrong_type", string(changed(t, `"a"`, "1")), "modelio: session: /adapter_id: want a string"},
		{"no_list", string(changed(t, "[\n", `{}, "x": [`)), "modelio: session: /interactions: want a list"},
		{"no_interaction", string(changed(t, "[\n", `[7,`)), "modelio: session: /interactions/0: not a JSON object"},
		{"no_index", string(changed(t, `"i": 0`, `"i": "0"`)), "modelio: session: /interactions/0/i: want a number"},
		{"half_index", string(changed(t, `"i": 0`, `"i": 0.5`)), "modelio: session: /interactions/0/i: want an index, got 0.5"},
		{"huge_index", string(changed(t, `"i": 0`, `"i": 1e400`)), "modelio: session: /interactions/0/i: want an index, got 1e400"},
		{"large_index", string(changed(t, `"i": 0`, `"i": 1e10`)), "modelio: session: /interactions/0/i: want an index, got 1e10"},
		{"not_utf8", string(changed(t, `"hi"`, "\"\xff\"")), "modelio: session: /interactions/0/response_content: invalid Unicode: byte 0xff is not UTF-8 here"},
	}
	for _, tt := range decode {
		t.Run(tt.name, func(t *testing.T) {
			s := session.Session{AdapterID: "before"}
			err := s.UnmarshalJSON([]byte(tt.text))
			require.EqualError(t, err, tt.want)
			require.ErrorAs(t, err, new(*modelio.FormatError))
			require.Equal(t, session.Session{AdapterID: "before"}, s, "a session that cannot be read is not touched")
		})
	}

	for _, name := range []string{"model_io_schema_version", "adapter_id", "model_id", "mode", "interactions"} {
		text := changed(t, `"`+name+`"`, `"another"`)
		require.EqualError(t, new(session.Session).UnmarshalJSON(text), "modelio: session: /"+name+": required member is missing")
	}

	s := session.New("a", "m")
	s.Append("p", "r")
	s.Unknown = modelio.Object{"x/y": json.RawMessage("{")}
	_, err := s.Encode()
	require.EqualError(t, err, "modelio: session: /x~1y: not JSON")
	s.Unknown = modelio.Object{"\xff": json.RawMessage("1")}
	_, err = s.Encode()
	require.EqualError(t, err, "modelio: session: /\xff: not JSON")
	s.Unknown, s.Interactions[0].Unknown = nil, modelio.Object{"x": nil}
	_, err = s.Encode()
	require.EqualError(t, err, "modelio: session: /interactions/0/x: not JSON")

	s.Interactions[0].Unknown = modelio.Object{"x": json.RawMessage("\"\xff\"")}
	_, err = s.Encode()
	require.EqualError(t, err, "modelio: session: /interactions/0/x: not JSON")
	s.Interactions[0].Unknown, s.EndedAt = nil, "\xff"
	_, err = s.Encode()
	require.EqualError(t, err, "modelio: session: /ended_at_utc: string is not UTF-8")
	s.EndedAt = ""

	for _, content := range []string{"\xed\xa0\x80 \xff", "\xed\xa0A", "\xed\xff\xbf", "\xed\xa0"} {
		s.Interactions[0].ResponseContent = content
		_, err = s.Encode()
		require.EqualError(t, err, "modelio: session: /interactions/0/response_content: string is not UTF-8")
		_, err = s.Hash()
		require.EqualError(t, err, "modelio: session: /interactions/0/response_content: string is not UTF-8")
	}
}

// TestSessionHashProperty checks that the hash covers the whole core and nothing else, in any spelling (MIO §4).
func TestSessionHashProperty(t *testing.T) {
	rnd := rand.New(rand.NewPCG(4, 4))
	for range 200 {
		s := randomSession(rnd)
		want, err := s.Hash()
		require.NoError(t, err)
		require.Equal(t, want, hashByCanon(t, s), "canon makes the same core")

		for range 5 {
			text := respell(rnd, s)
			require.Equal(t, session.Report{Interactions: len(s.Interactions), Hash: want}, verify(t, text, session.VerifyOptions{}), "%s", text)
		}

		timed := *s
		timed.Interactions = append([]session.Interaction(nil), s.Interactions...)
		n := int64(7)
		timed.Interactions[0].LatencyMS, timed.Interactions[0].TokensInput, timed.Interactions[0].TokensOutput = &n, &n, &n
		timed.Summarize(time.UnixMilli(1), time.UnixMilli(2))
		got, err := timed.Hash()
		require.NoError(t, err)
		require.Equal(t, want, got, "no time and no metric is in the core")

		for name, change := range coreChanges(rnd) {
			other := *s
			other.Interactions = append([]session.Interaction(nil), s.Interactions...)
			change(&other)
			got, err := other.Hash()
			require.NoError(t, err)
			require.NotEqual(t, want, got, name)
		}
	}
}

func randomSession(rnd *rand.Rand) *session.Session {
	s := session.New(randomText(rnd)+"a", randomText(rnd)+"m")
	for range 1 + rnd.IntN(4) {
		s.Append(randomText(rnd), randomText(rnd))
	}
	return s
}

func randomText(rnd *rand.Rand) string {
	alphabet := []rune("ab \"\\/\b\f\n\r\t\x00\x1f\x7f<é\u2028\uFFFD힣日😀")
	text := make([]rune, rnd.IntN(20))
	for i := range text {
		text[i] = alphabet[rnd.IntN(len(alphabet))]
	}
	return string(text)
}

// hashByCanon computes the hash of a session from the definition in MIO §4.
func hashByCanon(t testing.TB, s *session.Session) canon.Hash {
	t.Helper()
	interactions := []any{}
	for _, in := range s.Interactions {
		interactions = append(interactions, map[string]any{
			"i": in.I, "prompt_hash": in.PromptHash, "response_hash": in.ResponseHash, "response_content": in.ResponseContent,
		})
	}
	hash, err := canon.SumJSON(map[string]any{
		"model_io_schema_version": s.SchemaVersion, "adapter_id": s.AdapterID, "model_id": s.ModelID, "mode": s.Mode,
		"interactions": interactions,
	})
	require.NoError(t, err)
	return hash
}

// respell writes s with any order of members, any white space and escapes, and any ephemeral members.
func respell(rnd *rand.Rand, s *session.Session) []byte {
	space := func() string { return strings.Repeat([]string{" ", "\n", "\t", "\r"}[rnd.IntN(4)], rnd.IntN(3)) }
	quote := func(text string) string {
		var b strings.Builder
		for _, r := range text {
			switch quoted, _ := json.Marshal(string(r)); {
			case r > 0xFFFF || rnd.IntN(3) > 0:
				b.Write(quoted[1 : len(quoted)-1])
			default:
				fmt.Fprintf(&b, "\\u%04X", r)
			}
		}
		return `"` + b.String() + `"`
	}
	object := func(members map[string]string) string {
		for range rnd.IntN(3) {
			members["x"+randomText(rnd)] = []string{"null", "1E+2", `["\ud800"]`, `{"":{}}`}[rnd.IntN(4)]
		}
		var texts []string
		for name, value := range members {
			texts = append(texts, space()+quote(name)+space()+":"+space()+value+space())
		}
		return "{" + strings.Join(texts, ",") + "}"
	}
	number := func() string { return fmt.Sprint(rnd.IntN(1000)) }
	var interactions []string
	for _, in := range s.Interactions {
		interactions = append(interactions, space()+object(map[string]string{
			"i":           fmt.Sprintf("%d%s", in.I, []string{"", ".0", "e0", ".00E+0"}[rnd.IntN(4)]),
			"prompt_hash": quote(string(in.PromptHash)), "response_hash": quote(string(in.ResponseHash)),
			"response_content": quote(in.ResponseContent),
			"tokens_input":     number(), "tokens_output": number(), "latency_ms": number(),
		}))
	}
	return []byte(space() + object(map[string]string{
		"model_io_schema_version": quote(s.SchemaVersion), "adapter_id": quote(s.AdapterID),
		"model_id": quote(s.ModelID), "mode": quote(string(s.Mode)),
		"interactions":   "[" + strings.Join(interactions, ",") + space() + "]",
		"created_at_utc": quote(number()), "stats": "{}",
	}) + space())
}

func coreChanges(rnd *rand.Rand) map[string]func(*session.Session) {
	one := func(s *session.Session) *session.Interaction { return &s.Interactions[rnd.IntN(len(s.Interactions))] }
	return map[string]func(*session.Session){
		"version":          func(s *session.Session) { s.SchemaVersion = "1.0.1" },
		"adapter_id":       func(s *session.Session) { s.AdapterID += "x" },
		"model_id":         func(s *session.Session) { s.ModelID += "x" },
		"mode":             func(s *session.Session) { s.Mode = session.ModeReplay },
		"i":                func(s *session.Session) { one(s).I += 100 },
		"prompt_hash":      func(s *session.Session) { one(s).PromptHash += "0" },
		"response_hash":    func(s *session.Session) { one(s).ResponseHash += "0" },
		"response_content": func(s *session.Session) { one(s).ResponseContent += "x" },
		"more":             func(s *session.Session) { s.Append("p", "r") },
		"less":             func(s *session.Session) { s.Interactions = s.Interactions[1:] },
	}
}
