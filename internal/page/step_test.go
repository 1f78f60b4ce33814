package page_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/sebdah/goldie/v2"

	"github.com/traceforge/traceforge-go/internal/page"
	"github.com/traceforge/traceforge-go/internal/page/pagetest"
	"github.com/traceforge/traceforge-go/modelio"
	"github.com/traceforge/traceforge-go/snapshot"
)

// stepped returns a call of a tool of an agent's document.
func stepped(n int, provider, name, input string, answer modelio.Part) snapshot.Snapshot {
	s := pagetest.Recordings()["plain"].Snapshot
	s.ID, s.Provider, s.Response.Model, s.Response.Usage = snapshot.ID("agent", n), provider, "", nil
	ask := modelio.Part{ToolRequest: &modelio.ToolRequest{Name: name, Input: json.RawMessage(input)}}
	s.Request = modelio.Request{API: modelio.ToolAPI, Model: name, Messages: []modelio.Message{{Role: "model", Content: []modelio.Part{ask}}}}
	if provider != "tool" {
		s.Request.API = "mcp"
	}
	s.Response.Candidates = []modelio.Candidate{{Message: modelio.Message{Role: "tool", Content: []modelio.Part{answer}}}}
	return s
}

func result(name, output string) modelio.Part {
	return modelio.Part{ToolResponse: &modelio.ToolResponse{Name: name, Output: json.RawMessage(output)}}
}

// An agent's document is one conversation: a call of a tool is a line of it.
func TestDocument_Agent(t *testing.T) {
	turns := func() *snapshot.Document {
		doc := pagetest.Document("turn1", "turn2")
		for i := range doc.Snapshots {
			doc.Snapshots[i].ID = snapshot.ID("agent", 1+3*i)
			doc.Snapshots[i].Provider = "openai"
		}
		doc.Snapshots[1].Continues = &snapshot.Continues{Call: 1, Messages: 2}
		return doc
	}
	between := func(steps ...snapshot.Snapshot) *snapshot.Document {
		doc := turns()
		doc.Snapshots = append(append(doc.Snapshots[:1:1], steps...), doc.Snapshots[1])
		return doc
	}
	paris := stepped(2, "tool", "get_weather", `{"city":"Paris"}`, result("get_weather", `"sunny, 21 degrees"`))
	rome := stepped(3, "tool", "get_weather", `{"city":"Rome"}`, result("get_weather",
		`{"degrees":24,"humidity":0.61,"sky":"cloudy","source":"station 7","wind":{"from":"north","speed":12.5}}`))
	broken := stepped(3, "tool", "get_weather", `{"city":"Rome"}`, modelio.Part{})
	broken.Response.Candidates, broken.Response.Error = nil, &modelio.ProviderError{Type: "tool", Message: "price service is down"}
	listed := stepped(2, "weather.example.com", "", "null", modelio.Part{})
	listed.Request.Messages, listed.Response.Candidates = nil, nil
	listed.Request.Options = modelio.Object{"method": json.RawMessage(`"tools/list"`), "params": json.RawMessage(`{}`)}
	mcp := stepped(3, "weather.example.com", "get_weather", `{"city":"Rome"}`, modelio.TextPart("cloudy, 24 degrees"))
	inner := pagetest.Recordings()["plain"].Snapshot
	inner.ID, inner.Provider = snapshot.ID("agent", 3), "openai"
	again := turns().Snapshots[0]
	again.ID, again.Continues = snapshot.ID("agent", 2), &snapshot.Continues{Call: 1, Messages: 1}
	first := turns().Snapshots[0]
	first.Response.Candidates = nil
	first.Response.Error = &modelio.ProviderError{Status: 429, Type: "rate_limit", Message: "too many requests"}

	g := goldie.New(t, goldie.WithFixtureDir("testdata/agent"))
	for _, tt := range []struct {
		name, why string
		width     int
		doc       *snapshot.Document
	}{
		{"tools", "two tools that ran at once, whose results the next turn has whole", 100, between(paris, rome)},
		{"narrow", "a line stays a line", 40, between(paris, rome)},
		{"failed", "a tool that failed says so", 100, between(paris, broken)},
		{"mcp", "messages to a server are lines too, with its name", 100, between(listed, mcp)},
		{"subagent", "a tool may ask a model: that is a conversation of its own", 100, between(paris, inner)},
		{"retry", "a call that was refused is made again", 100, &snapshot.Document{Snapshots: []snapshot.Snapshot{first, again}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var out bytes.Buffer
			(&page.Page{Out: &out, Width: tt.width}).Document("openai", tt.doc)
			g.Assert(t, tt.name, out.Bytes())
		})
	}
}
