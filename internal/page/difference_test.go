package page_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/page"
	"github.com/traceforge/traceforge-go/internal/page/pagetest"
	"github.com/traceforge/traceforge-go/snapshot"
)

func difference(t *testing.T, change string, calls page.Calls, from, to *snapshot.Document) *page.Difference {
	t.Helper()
	test := page.Test{Package: "example.com/agents", Test: "TestX"}
	c := page.Change{Change: change, File: change + ".json", Name: change, Test: test, Calls: calls}
	d, err := page.Explain(c, from, to)
	require.NoError(t, err)
	return d
}

func TestExplain(t *testing.T) {
	edited := func(edit func(s *snapshot.Snapshot)) *snapshot.Document {
		doc := pagetest.Document("plain")
		edit(&doc.Snapshots[0])
		return doc
	}
	one := page.Calls{"changed": []int{1}}
	tests := []struct {
		name, why string
		d         *page.Difference
		want      string
	}{
		{
			"prompt", "what was sent, and what depends on it",
			difference(t, "changed", one, pagetest.Document("plain"), edited(func(s *snapshot.Snapshot) {
				s.Request.Messages[0] = pagetest.Said("system", "You are kind.")
				s.Response.Candidates[0].Message = pagetest.Said("model", "Well.")
			})),
			"changed changed.json  TestX in example.com/agents, 1 call changed\n" +
				"  call 1\n    request: system\n      /messages/0/content\n" +
				"    - You are a precise summarization assistant.\n    + You are kind.\n" +
				"    response\n      /content\n" +
				"    - AI is revolutionizing software development through automation.\n    + Well.\n",
		},
		{
			"status", "what tells of how an answer came",
			difference(t, "changed", one, pagetest.Document("plain"), edited(func(s *snapshot.Snapshot) { s.Response.Status = 203 })),
			"changed changed.json  TestX in example.com/agents, 1 call changed\n" +
				"  call 1\n    response\n      /status\n    - 200\n    + 203\n",
		},
		{
			"again", "a time is no difference",
			difference(t, "changed", one, pagetest.Document("plain"), edited(func(s *snapshot.Snapshot) { s.Response.LatencyMS = 1 })),
			"changed changed.json  TestX in example.com/agents, 1 call changed\n" +
				"  call 1\n    recorded again, with the same request and the same answer\n",
		},
		{
			"bytes", "what is served is another, and nothing that is read",
			difference(t, "changed", one, pagetest.Document("plain"), edited(func(s *snapshot.Snapshot) { s.Response.RawOutputRef = s.Hash })),
			"changed changed.json  TestX in example.com/agents, 1 call changed\n" +
				"  call 1\n    the bytes of the raw answer differ, and what the record says of it is the same\n",
		},
		{
			"headers", "what tells programs how to read an answer",
			difference(t, "changed", one, pagetest.Document("plain"), edited(func(s *snapshot.Snapshot) {
				s.Response.Headers = map[string][]string{"content-type": {"text/event-stream"}}
			})),
			"changed changed.json  TestX in example.com/agents, 1 call changed\n" +
				"  call 1\n    response\n      /headers\n    - content-type: application/json\n    + content-type: text/event-stream\n",
		},
		{
			"call", "a call that was added",
			difference(t, "changed", page.Calls{"added": []int{2}}, pagetest.Document("turn1"), pagetest.Document("turn1", "turn2")),
			"changed changed.json  TestX in example.com/agents, 1 call added\n  call 2 added\n" +
				"    sent     get_weather returned {\"degrees\":24,\"humidity\":0.61,\"sky\":\"cloudy\",\"source\":\"station 7\",\"wind\":{\"fro…\n" +
				"    answered It is sunny in Paris and cloudy in Rome.\n",
		},
		{
			"order", "the same calls in another order",
			difference(t, "changed", page.Calls{}, pagetest.Document("turn1", "turn2"), pagetest.Document("turn2", "turn1")),
			"changed changed.json  TestX in example.com/agents\n  the same calls in another order, or under another provider\n",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			require.Equal(t, tt.want, tt.d.Text(), tt.why)
			text, err := json.Marshal(tt.d)
			require.NoError(t, err)
			require.True(t, json.Valid(text))
		})
	}
}

// A test that was renamed has the same calls in another document.
func TestJoinMoved(t *testing.T) {
	all := page.Calls{"added": []int{1}}
	added := difference(t, "added", all, nil, pagetest.Document("subtest"))
	other := difference(t, "added", all, nil, pagetest.Document("stream"))
	removed := difference(t, "removed", page.Calls{"removed": []int{1}}, pagetest.Document("plain"), nil)
	joined, err := page.JoinMoved([]*page.Difference{added, other, removed})
	require.NoError(t, err)
	require.Len(t, joined, 2)
	require.Equal(t, "moved added.json  TestX in example.com/agents\n  from removed.json\n", joined[0].Text())
	require.Contains(t, joined[1].Text(), "added added.json")
}
