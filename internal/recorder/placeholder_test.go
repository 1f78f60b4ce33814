package recorder

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/scrub"
	"github.com/traceforge/traceforge-go/snapshot"
)

// TestPlaceholderInAToolCall shows the bounds of what docs/security.md says of a record that asks for a value of the test:
// it gets what the test's own rules name, and nothing else of the process.
func TestPlaceholderInAToolCall(t *testing.T) {
	const token, other = "tok-5b1f-9c2e-77aa", "env-41aa-0c9d-12ff"
	t.Setenv("OTHER_API_KEY", other)
	rules := func(o *Options) { o.Scrub = []scrub.Rule{scrub.Value("token", token)} }
	const asked = `{"model":"m","temperature":0,"seed":1,"messages":[{"role":"user","content":"use ` + token + `"}]}`
	s := newScene(t)
	var got string
	failures, _ := s.run(Update, posts(&got, chatURL, asked), rules, func(o *Options) { o.Upstream = &upstream{body: honestCall} })
	require.Empty(t, failures)

	replayOf := func(to string) (told []*Failure) {
		s.forge(func(_ int, record *snapshot.Snapshot, raw string) string {
			call := record.Response.Candidates[0].Message.Content[0].ToolRequest
			call.Input = []byte(`{"to":"` + to + `"}`)
			i := strings.Index(raw, `\"to\":\"`) + len(`\"to\":\"`)
			return raw[:i] + to + raw[i+strings.Index(raw[i:], `\"`):]
		})
		require.Empty(t, s.findings(), "the record says what it serves")
		_, doc := s.open()
		text, err := doc.Document.Write(nil)
		require.NoError(t, err)
		require.Contains(t, string(text), to, "and so its reviewer reads it")
		got = ""
		told, _ = s.run(Replay, posts(&got, chatURL, asked), rules)
		return told
	}
	require.Empty(t, replayOf("{{token:1}}"))
	require.Contains(t, got, `\"`+token+`\"`, "what the test's rule names is put in its place")
	for _, c := range []struct{ name, to, fails string }{
		{"a rule that the test does not have", "{{other:1}}", "no value is known for {{other:1}}"},
		{"a variable", "$OTHER_API_KEY", ""},
		{"a placeholder that is none", "{{}}{{token:1}}", ""},
	} {
		told := replayOf(c.to)
		require.Equal(t, c.fails != "", len(told) > 0, c.name)
		if len(told) > 0 {
			require.Contains(t, told[0].Text, c.fails)
		}
		require.NotContains(t, got, token, c.name)
		require.NotContains(t, got, other, c.name)
	}
}

// TestCheckedValues compares the values that a rule finds in two answers of a check. What one of them lacks has no value that
// others could correspond to.
func TestCheckedValues(t *testing.T) {
	rules, err := scrub.New(scrub.Volatile())
	require.NoError(t, err)
	k := &checks{run: &run{setup: setup{rules: rules}}}
	const a, b, c = "6ba7b810-9dad-41d1-80b4-00c04fd430c8", "0f8fad5b-d9cb-469f-a165-70867728950e", "7f3c9a52-1b64-4d0e-9a77-0c5d21e8b6f4"
	said := func(text string) *statement { return &statement{tiers: [][]byte{[]byte(text)}} }
	for _, tt := range []struct{ before, after, want string }{
		{`{"id":"` + a + `"}`, `{"id":"` + b + `"}`, ""},
		{`{"id":"` + a + `"}`, `{"also":"` + c + `","id":"` + b + `"}`, "/also"},
		{`{"also":"` + c + `","id":"` + a + `"}`, `{"id":"` + b + `"}`, "/also"},
		{`{"id":"` + a + `","in":"` + a + `"}`, `{"id":"` + b + `","in":"` + c + `"}`, "/in"},
	} {
		var found []string
		for _, d := range k.differences(said(tt.before), said(tt.after), 0) {
			found = append(found, d.Pointer)
		}
		require.Equal(t, tt.want, strings.Join(found, " "))
	}
}
