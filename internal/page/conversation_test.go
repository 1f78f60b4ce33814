package page

import (
	"bytes"
	"testing"
	"unicode/utf8"

	"github.com/sebdah/goldie/v2"
	"github.com/stretchr/testify/require"
)

func TestConversation(t *testing.T) {
	tests := []struct {
		name, why, recording string
		width                int
		color                bool
	}{
		{"plain", "the usual call", "plain", 100, false},
		{"tools", "tools that are offered, parallel calls of them, and options that do not fit a line", "turn1", 100, false},
		{"tool_results", "the second turn: calls in the history, results that are text and JSON", "turn2", 100, false},
		{"stream", "reasoning, its signature cut to a line, an answer that the caller ended", "stream", 100, false},
		{"error", "a refusal has no answer", "error", 100, false},
		{"media", "media by size or URL, and a part that is none of ours", "media", 100, false},
		{"prompt", "a legacy completion; white space of the text stays", "prompt", 100, false},
		{"choices", "more than one answer", "choices", 100, false},
		{"hostile", "nothing of a recording drives the terminal", "hostile", 100, false},
		{"narrow", "text is wrapped at spaces", "turn1", 40, false},
		{"color", "what people look for first stands out", "stream", 100, true},
	}
	g := goldie.New(t, goldie.WithFixtureDir("testdata/conversation"))
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := recorded()[tt.recording]
			var out bytes.Buffer
			p := page{out: &out, width: tt.width, color: tt.color}
			p.conversation(r.provider, &r.snapshot)
			g.Assert(t, tt.name, out.Bytes())
		})
	}
}

// Whatever was recorded, what is shown is safe and keeps to its place: only titles begin a line.
func FuzzConversation(f *testing.F) {
	f.Add("plain", "stop", `{"a":1}`)
	f.Add("\x1b[2J\u009b31m", "\u202e\u2028\r\n\r", `"\u001b"`)
	f.Add("\nanswer\n", "\n\n", `[]`)
	f.Fuzz(func(t *testing.T, text, word, raw string) {
		r := hostile()
		r.snapshot.Request.Model, r.snapshot.Response.Content = word, text
		r.snapshot.Source.Nondeterministic = text
		r.snapshot.Request.Messages[0] = said("user", text)
		r.snapshot.Request.Tools[0] = []byte(raw)
		r.snapshot.Response.ToolCalls[0].Name = word
		r.snapshot.Response.ToolCalls[0].Input = []byte(raw)
		var out bytes.Buffer
		p := page{out: &out, width: 80}
		p.conversation(r.provider, &r.snapshot)
		require.True(t, utf8.Valid(out.Bytes()))
		for _, c := range out.String() {
			require.True(t, c == '\n' || shown(c), "%q reaches the terminal", c)
		}
		require.Equal(t, 1, bytes.Count(out.Bytes(), []byte("\nanswer\n")), "a text that looks like a title")
	})
}
