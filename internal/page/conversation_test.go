package page_test

import (
	"bytes"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/sebdah/goldie/v2"
	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/page"
	"github.com/traceforge/traceforge-go/internal/page/pagetest"
	"github.com/traceforge/traceforge-go/internal/tbtest/mutation"
	"github.com/traceforge/traceforge-go/modelio"
	"github.com/traceforge/traceforge-go/snapshot"
)

func TestConversation(t *testing.T) {
	tests := []struct {
		name, why, recording string
		width                int
		color                bool
	}{
		{"plain", "the usual call", "plain", 100, false},
		{"tools", "tools that are offered, parallel calls of them, and options that do not fit a line", "turn1", 100, false},
		{"tool_results", "the second turn, whole: calls in the history, results that are text and JSON", "turn2", 100, false},
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
			r := pagetest.Recordings()[tt.recording]
			var out bytes.Buffer
			p := page.Page{Out: &out, Width: tt.width, Color: tt.color}
			p.Call(r.Provider, &r.Snapshot)
			g.Assert(t, tt.name, out.Bytes())
		})
	}
}

// A test's document is one conversation: each turn is shown once.
func TestDocument(t *testing.T) {
	tests := []struct {
		name, why string
		continues *snapshot.Continues
	}{
		{"continued", "the second call shows what it adds", &snapshot.Continues{Call: 1, Messages: 2}},
		{"forked", "it may begin like another one, and go on without its answer", &snapshot.Continues{Call: 1, Messages: 1}},
		{"unrelated", "or have nothing in common with it", nil},
	}
	g := goldie.New(t, goldie.WithFixtureDir("testdata/conversation"))
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			doc := pagetest.Document("turn1", "turn2")
			doc.Snapshots[1].Continues = tt.continues
			var out bytes.Buffer
			p := page.Page{Out: &out, Width: 100}
			p.Document("openai", doc)
			g.Assert(t, tt.name, out.Bytes())
		})
	}
}

// TestModelThatAnsweredAlone: a request that names no model, such as one to an agent, has only the model that answered.
func TestModelThatAnsweredAlone(t *testing.T) {
	doc := pagetest.Document("plain")
	doc.Snapshots[0].Request.Model, doc.Snapshots[0].Response.Model = "", "gpt-4o"
	var out bytes.Buffer
	(&page.Page{Out: &out, Width: 100}).Document("openai", doc)
	require.Contains(t, out.String(), "\n  model     answered by gpt-4o\n")
}

// What a call does not send is told as unlike the call before it: nobody has changed the test.
func TestDocument_Unlike(t *testing.T) {
	doc := pagetest.Document("turn1", "turn2")
	asked := &doc.Snapshots[1].Request
	asked.Tools, asked.Temperature, asked.Seed, asked.Options = nil, nil, nil, nil
	var out bytes.Buffer
	(&page.Page{Out: &out, Width: 100}).Document("openai", doc)
	require.Contains(t, out.String(), "\ntools not offered, unlike call 1\n  get_weather\n")
	require.Contains(t, out.String(), "response_format not sent, unlike call 1\n")
}

// Whatever was recorded, what is shown is safe and keeps to its place: only titles begin a line.
func FuzzConversation(t *testing.F) {
	f := mutation.New(t)
	f.Add("plain", "stop", `{"a":1}`)
	f.Add("\x1b[2J\u009b31m", "\u202e\u2028\r\n\r", `"\u001b"`)
	f.Add("\nanswer\n", "\n\n", `[]`)
	f.Fuzz(func(t *testing.T, text, word, raw string) {
		r := pagetest.Hostile()
		s := &r.Snapshot
		s.Request.Model, s.Response.Candidates[0].Message.Content[0].Text = word, &text
		s.Source.Nondeterministic = text
		s.Request.Messages[0] = pagetest.Said("user", text)
		s.Request.Tools[0].InputSchema = []byte(raw)
		call := s.Response.Candidates[0].Message.Content[1].ToolRequest
		call.Name, call.Input = word, []byte(raw)
		var out bytes.Buffer
		p := page.Page{Out: &out, Width: 80}
		p.Call(r.Provider, s)
		require.True(t, utf8.Valid(out.Bytes()))
		for _, c := range out.String() {
			joiner := c == '\u200c' || c == '\u200d'
			require.True(t, c == '\n' || joiner || unicode.IsGraphic(c), "%q reaches the terminal", c)
		}
		require.Equal(t, 1, bytes.Count(out.Bytes(), []byte("\nanswer\n")), "a text that looks like a title")
	})
}

// TestMediaOfStore: media beside the document are named by type and size, also where the type has parameters.
func TestMediaOfStore(t *testing.T) {
	r := pagetest.Recordings()["plain"].Snapshot
	r.Request.Messages = []modelio.Message{{Role: modelio.RoleUser, Content: []modelio.Part{
		modelio.MediaPart("", "blob:sha256:0a;image/png;a=b;2000"), modelio.MediaPart("audio/wav", "blob:sha256:0a;;3"), modelio.MediaPart("", "blob:sha256:0a"),
	}}}
	var out bytes.Buffer
	(&page.Page{Out: &out, Width: 100}).Call("openai", &r)
	require.Contains(t, out.String(), "  [image/png;a=b, 2 kB]\n  [audio/wav, 3 B]\n  [media, blob:sha256:0a]\n")
}
