package session

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/modelio"
	"github.com/traceforge/traceforge-go/snapshot"
)

// answers is a model that answers with a text, and counts its tokens.
type answers string

func (a answers) Generate(context.Context, *modelio.GenerateRequest, modelio.StreamFunc) (*modelio.GenerateResponse, error) {
	in, out := int64(3), int64(5)
	return &modelio.GenerateResponse{
		Message:      &modelio.Message{Role: modelio.RoleModel, Content: []modelio.Part{modelio.TextPart(string(a))}},
		FinishReason: modelio.FinishStop, Usage: &modelio.Usage{InputTokens: &in, OutputTokens: &out},
	}, nil
}

// TestRecordTimes checks that a recording has times, latency, tokens and totals, and that its hash does not cover them
// (MI12).
func TestRecordTimes(t *testing.T) {
	record := func(step time.Duration) *Session {
		r := Record(answers("hello"), "a", "m")
		now := time.Date(2026, 1, 5, 5, 45, 0, 0, time.FixedZone("", 20_700)) // midnight in UTC
		r.now = func() time.Time { now = now.Add(step); return now }
		for range 2 {
			_, err := r.Generate(t.Context(), &modelio.GenerateRequest{}, nil)
			require.NoError(t, err)
		}
		return r.Session()
	}
	s := record(250 * time.Millisecond)
	require.Equal(t, "2026-01-05T00:00:00.250Z", s.CreatedAt)
	require.Equal(t, "2026-01-05T00:00:01.000Z", s.EndedAt, "the end of the last answer")
	require.Equal(t, &Stats{TotalInteractions: 2, TotalTokensInput: 6, TotalTokensOutput: 10, TotalLatencyMS: 500}, s.Stats)
	require.Equal(t, int64(250), *s.Interactions[1].LatencyMS)
	prompt, err := RequestCore(&modelio.GenerateRequest{})
	require.NoError(t, err)
	require.Equal(t, canon.Sum(prompt), s.Interactions[1].PromptHash)
	first, err := s.Hash()
	require.NoError(t, err)
	second, err := record(time.Hour).Hash()
	require.NoError(t, err)
	require.Equal(t, first, second)
	data, err := s.Encode()
	require.NoError(t, err)
	require.Empty(t, Verify(data))

	in, out, began := int64(3), int64(5), time.Date(2026, 1, 5, 0, 0, 0, 0, time.UTC)
	s, err = OfRecords("a", "m", []snapshot.Snapshot{
		{Timestamp: began.Add(time.Second), Response: snapshot.Response{LatencyMS: 250}},
		{Timestamp: began, Response: snapshot.Response{LatencyMS: 1500, Response: modelio.Response{Usage: &modelio.Usage{InputTokens: &in, OutputTokens: &out}}}},
	})
	require.NoError(t, err)
	require.Equal(t, "2026-01-05T00:00:00.000Z", s.CreatedAt, "of records: the first call's timestamp")
	require.Equal(t, "2026-01-05T00:00:01.500Z", s.EndedAt, "of records: the latest timestamp and latency")
	require.Equal(t, &Stats{TotalInteractions: 2, TotalTokensInput: 3, TotalTokensOutput: 5, TotalLatencyMS: 1750}, s.Stats)
	require.Equal(t, []*int64{&in, &out}, []*int64{s.Interactions[1].TokensInput, s.Interactions[1].TokensOutput})
	require.Nil(t, s.Interactions[0].TokensInput, "what was not reported is absent")
	prompt, err = snapshot.RequestCore(&modelio.Request{}, nil)
	require.NoError(t, err)
	require.Equal(t, canon.Sum(prompt), s.Interactions[0].PromptHash)

	askedBy := func(user string) snapshot.Snapshot {
		return snapshot.Snapshot{
			Source:  snapshot.Source{Ignored: []string{"/provider_options/user"}},
			Request: modelio.Request{Options: modelio.Object{"user": jsontext.Text(user)}},
		}
	}
	s, err = OfRecords("a", "m", []snapshot.Snapshot{askedBy("one"), askedBy("two")})
	require.NoError(t, err)
	require.Equal(t, s.Interactions[0].PromptHash, s.Interactions[1].PromptHash, "what a record ignores is not in its prompt")

	none := Record(answers(""), "a", "m").Session()
	require.Empty(t, none.CreatedAt+none.EndedAt, "no call has a time")
	require.Nil(t, none.Stats)
}

// TestRecordLimits checks that a recorder names the rule for content that its session cannot hold, and goes on with
// other content.
func TestRecordLimits(t *testing.T) {
	large := Record(answers(strings.Repeat("x", MaxResponseBytes)), "a", "m")
	_, err := large.Generate(t.Context(), &modelio.GenerateRequest{}, nil)
	require.ErrorIs(t, err, ErrLimit)
	require.ErrorContains(t, err, "record session: $.interactions[0].response_content: MI11: response_content size (10000")
	require.Empty(t, large.Session().Interactions)

	full := Record(answers("x"), "a", "m")
	_, err = full.Generate(t.Context(), &modelio.GenerateRequest{}, nil)
	require.NoError(t, err)
	full.bytes = MaxTotalBytes - int64(len(full.Session().Interactions[0].ResponseContent))
	_, err = full.Generate(t.Context(), &modelio.GenerateRequest{}, nil)
	require.NoError(t, err, "the last one that there is room for")
	_, err = full.Generate(t.Context(), &modelio.GenerateRequest{}, nil)
	require.ErrorIs(t, err, ErrLimit)
	require.ErrorContains(t, err, "record session: $.interactions: MI11: total response bytes (10000")
	require.Len(t, full.Session().Interactions, 2)

	many := Record(answers("x"), "a", "m")
	for range MaxInteractions {
		_, err := many.Generate(t.Context(), &modelio.GenerateRequest{}, nil)
		require.NoError(t, err)
	}
	_, err = many.Generate(t.Context(), &modelio.GenerateRequest{}, nil)
	require.EqualError(t, err, "record session: $.interactions: MI4: interactions length (10001) exceeds limit (10000)")
	require.NoError(t, many.Session().CheckLimits())
}

// TestCheckLimits checks that the limits are those of Verify, and that a session at the limits is valid.
func TestCheckLimits(t *testing.T) {
	largest := strings.Repeat("é", MaxResponseBytes/2)
	cases := []struct {
		name, why string
		calls     int
		response  string
		rule      string
	}{
		{"most_calls", "at the limit", MaxInteractions, "", ""},
		{"more_calls", "MI4", MaxInteractions + 1, "", "MI4"},
		{"largest", "limits are of UTF-8 bytes", 1, largest, ""},
		{"larger", "one byte more", 1, largest + "x", "MI11"},
		{"most_bytes", "at the limit of all responses", MaxTotalBytes / MaxResponseBytes, largest, ""},
		{"more_bytes", "beyond it, with responses that each are at theirs", MaxTotalBytes/MaxResponseBytes + 1, largest, "MI11"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := New("a", "m")
			in := newInteraction("p", c.response)
			for i := range c.calls {
				in.I = i
				s.Interactions = append(s.Interactions, in)
			}
			err := s.CheckLimits()
			data, encodeErr := s.Encode()
			require.NoError(t, encodeErr)
			found := Verify(data)
			if c.rule == "" {
				require.NoError(t, err, c.why)
				require.Empty(t, found)
				return
			}
			var limit *LimitError
			require.ErrorAs(t, err, &limit, c.why)
			require.Equal(t, c.rule, limit.Violation.Rule)
			require.Contains(t, found, limit.Violation, "as Verify words it")
		})
	}
}

// TestBackwardsCompatibility checks that a file of MIO 1.0.0 is valid under each later version of its major number,
// even one that adds optional members, which do not change the hash (MIO §6.2).
func TestBackwardsCompatibility(t *testing.T) {
	const file = `{"model_io_schema_version":"1.0.0","adapter_id":"a","model_id":"m","mode":"record","interactions":[` +
		`{"i":0,"prompt_hash":"sha256:0000000000000000000000000000000000000000000000000000000000000000",` +
		`"response_hash":"sha256:2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824","response_content":"hello"}]}`
	core := func(text string) string {
		report, err := VerifyReader(strings.NewReader(text), VerifyOptions{})
		require.NoError(t, err)
		require.Empty(t, report.Violations, text)
		return string(report.Hash)
	}
	require.Equal(t, "1.0.0", New("a", "m").SchemaVersion, "the version that sessions are written as")
	want := core(file)
	added := strings.NewReplacer(`"mode"`, `"region":{"name":"eu"},"mode"`, `"i":0`, `"i":0,"cost_usd":0.1`).Replace(file)
	require.Equal(t, want, core(added), "optional members of a minor version are outside the core")
	for _, version := range []string{"1.0.1", "1.1.0", "1.12.3"} {
		later := strings.Replace(added, "1.0.0", version, 1)
		core(later)
		var s Session
		require.NoError(t, s.UnmarshalJSON([]byte(later)))
		again, err := s.Encode()
		require.NoError(t, err)
		require.Equal(t, core(later), core(string(again)), "what this version does not know is written again")
		require.Contains(t, string(again), `"cost_usd":0.1`)
	}
}
