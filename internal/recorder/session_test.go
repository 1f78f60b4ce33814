package recorder

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/modelio"
	"github.com/traceforge/traceforge-go/snapshot"
)

// TestRepliesWithin: a call that began at 7.9 ms and took 30.9 is recorded as one from 7 that took 30, and a reply at 38.1 as one
// at 38. It came before the call's end.
func TestRepliesWithin(t *testing.T) {
	at := func(ms int, number int, options modelio.Object) *snapshot.Snapshot {
		return &snapshot.Snapshot{ID: snapshot.ID("test", number), Timestamp: time.UnixMilli(int64(ms)),
			Request: modelio.Request{API: "mcp", Options: options}}
	}
	call := at(7, 3, modelio.Object{"method": []byte(`"tools/call"`)})
	call.Response.LatencyMS = 30
	reply := modelio.Object{"result": []byte(`{}`)}
	cancelled := at(20, 2, reply)
	cancelled.Response.Error = &modelio.ProviderError{Type: transportType, Code: "canceled"}
	for _, c := range []struct {
		reason string
		made   *snapshot.Snapshot
		owed   bool
	}{
		{"in the middle", at(20, 2, reply), true},
		{"in the middle, answered late", at(20, 4, reply), true},
		{"in the last millisecond, answered before", at(38, 2, reply), true},
		{"in the last millisecond, of the next call", at(38, 4, reply), false},
		{"after the end", at(39, 2, reply), false},
		{"before", at(6, 1, reply), false},
		{"cancelled, so chance decides whether it is made again", cancelled, false},
		{"no reply", at(20, 2, modelio.Object{"method": []byte(`"tools/list"`)}), false},
	} {
		r := &run{tape: &tape{records: []snapshot.Snapshot{*c.made, *call}}}
		r.tape.plays = []play{{}, {played: true}}
		require.Equal(t, c.owed, r.owes(r.tape, true, call.Timestamp, endOf(call).Add(time.Millisecond), repliesWithin(call)), c.reason)
		r.tape.plays[0].played = true
		require.False(t, r.owes(r.tape, true, call.Timestamp, endOf(call).Add(time.Millisecond), repliesWithin(call)), c.reason)
		r.tape.plays[0].played = false
		require.False(t, r.owes(r.tape, false, call.Timestamp, endOf(call).Add(time.Millisecond), repliesWithin(call)), "it gives up")
		require.False(t, r.owes(r.tape, true, call.Timestamp, endOf(call).Add(time.Millisecond), repliesWithin(call)), "it has given up")
	}
}

// TestNeedsNoCall: a client may listen any number of times. A request that creates a session, and listens to it at once, is
// made once.
func TestNeedsNoCall(t *testing.T) {
	for _, c := range []struct {
		api, url, stream string
		want             bool
	}{
		{"openai.agents", `{"path":"/v1/agents/sessions/item_1/events"}`, "", true},
		{"openai.agents", `{"method":"POST","path":"/v1/agents/sessions"}`, "true", false},
		{"anthropic.agents", `{"path":"/v1/sessions/item_1/events/stream"}`, "", true},
		{"anthropic.agents", `{"method":"POST","path":"/v1/sessions/item_1/events"}`, "", false},
		{"mcp", `{"method":"GET"}`, "", true},
	} {
		s := &snapshot.Snapshot{Request: modelio.Request{API: c.api, Options: modelio.Object{"$url": []byte(c.url)}}}
		if c.stream != "" {
			s.Request.Options["stream"] = []byte(c.stream)
		}
		require.Equal(t, c.want, needsNoCall(s), "%s %s", c.api, c.url)
	}
}

// TestIsUnheard: of the streams of an agent's session the first one is needed. Its client opens another one after the server has
// closed it, as it does not in replay.
func TestIsUnheard(t *testing.T) {
	stream := func(n int, api, session string) snapshot.Snapshot {
		return snapshot.Snapshot{ID: snapshot.ID("test", n), Source: snapshot.Source{IDs: []string{session}},
			Request: modelio.Request{API: api, Options: modelio.Object{"$url": []byte(`{"path":"/v1/sessions/item_1/events/stream"}`)}}}
	}
	gone := stream(5, "anthropic.agents", "sess_3")
	gone.Response.Error = &modelio.ProviderError{Type: transportType, Code: "canceled"}
	optional := stream(4, "mcp", "sess_1")
	optional.Request.Options["$url"] = []byte(`{"method":"GET"}`)
	tape := &tape{records: []snapshot.Snapshot{
		stream(1, "anthropic.agents", "sess_1"), stream(2, "anthropic.agents", "sess_1"), stream(3, "anthropic.agents", "sess_2"),
		optional, gone,
	}}
	tape.plays = make([]play, len(tape.records))
	for i, want := range []bool{true, false, true, false, false} {
		require.Equal(t, want, tape.isUncalled(i), i)
		tape.plays[i].played = true
		require.False(t, tape.isUncalled(i), i)
	}
}

// TestUnheardAmongMany: whether a stream is needed is asked of each record for each live call of a session. It hardly costs memory,
// however many other records there are.
func TestUnheardAmongMany(t *testing.T) {
	tape := &tape{}
	for session := range 20 {
		for n := range 10 {
			path := `{"path":"/v1/sessions/item_1/events"}`
			if n == 9 {
				path = `{"path":"/v1/sessions/item_1/events/stream"}`
			}
			tape.records = append(tape.records, snapshot.Snapshot{
				Source:  snapshot.Source{IDs: []string{fmt.Sprint("sess_", session)}},
				Request: modelio.Request{API: "anthropic.agents", Options: modelio.Object{"$url": []byte(path)}},
			})
		}
	}
	tape.plays = make([]play, len(tape.records))
	last := len(tape.records) - 1
	require.True(t, tape.isUnheard(last))
	require.Less(t, testing.AllocsPerRun(1, func() { tape.isUnheard(last) }), 200.0)
}

// TestIsKept: a record may stay unplayed only if its client asked again because the time was over for which MCP's server
// allowed it to keep the answer.
func TestIsKept(t *testing.T) {
	for _, c := range []struct {
		name, api, allowed string
		after              time.Duration
		want               bool
	}{
		{"over", "mcp", "300", 300 * time.Millisecond, true},
		{"not yet over", "mcp", "300", 299 * time.Millisecond, false},
		{"made again", "mcp", "300", -time.Hour, true},
		{"not allowed", "mcp", "0", time.Hour, false},
		{"not known", "mcp", "null", time.Hour, false},
		{"for ever", "mcp", "9223372036854775807", time.Hour, false},
		{"a member of another API", "http.json", "300", time.Hour, false},
	} {
		request := modelio.Request{API: c.api, Options: modelio.Object{"method": []byte(`"tools/list"`)}}
		first := snapshot.Snapshot{Timestamp: time.Date(2026, 1, 9, 10, 30, 0, 0, time.UTC), Request: request}
		again := first
		again.Timestamp = first.Timestamp.Add(c.after)
		said := modelio.Part{Custom: modelio.Object{"ttlMs": []byte(c.allowed)}}
		first.Response.Candidates = []modelio.Candidate{{Message: modelio.Message{Content: []modelio.Part{said}}}}
		tape := &tape{records: []snapshot.Snapshot{first, again}, progress: progress{plays: make([]play, 2)}}
		require.Equal(t, !c.want, tape.isUncalled(1), c.name)
		require.True(t, tape.isUncalled(0))
	}
}
