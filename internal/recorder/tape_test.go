package recorder

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/scrub"
	"github.com/traceforge/traceforge-go/internal/store"
	"github.com/traceforge/traceforge-go/modelio"
	"github.com/traceforge/traceforge-go/snapshot"
)

// TestAwaitedIsFound holds that a call gets the record that its key finds, whether the key is computed or not: also where
// requests are repeated, differ in their spelling alone, look like placeholders, or are of other lanes, and where the
// record that a call was found to equal was played since.
func TestAwaitedIsFound(t *testing.T) {
	numbers := []json.Number{"1", "1.0", "10e-1", "2"}
	words := []string{"a", "b", "{{a:1}}"}
	random := rand.New(rand.NewPCG(1, 2))
	request := func() (*modelio.Request, snapshot.Source) {
		seed := numbers[random.IntN(len(numbers))]
		return &modelio.Request{API: "openai.chat", Model: "m", Seed: &seed, Messages: []modelio.Message{
			{Role: modelio.RoleUser, Content: []modelio.Part{modelio.TextPart(words[random.IntN(len(words))])}},
		}}, snapshot.Source{Lane: []string{"", "", "other"}[random.IntN(3)]}
	}
	rules, err := scrub.New()
	require.NoError(t, err)
	awaited := 0
	for range 300 {
		records := make([]snapshot.Snapshot, 6)
		for i := range records {
			asked, source := request()
			records[i] = snapshot.Snapshot{Provider: "p", Request: *asked, Source: source}
		}
		doc := &store.Doc{Document: &snapshot.Document{Snapshots: records}}
		fast, slow := newTape(doc, rules), newTape(doc, rules)
		var made []*call
		for range 8 {
			asked, source := request()
			if random.IntN(3) > 0 {
				s := &records[random.IntN(len(records))]
				asked, source = &s.Request, s.Source
			}
			c := &call{key: key{provider: "p", lane: source.Lane}, request: asked}
			if made = append(made, c); random.IntN(4) == 0 {
				c = made[random.IntN(len(made))]
			}
			k, _, _, err := keyed("p", "", c.request, nil, rules.Live)
			k.lane = c.lane
			require.NoError(t, err)
			want, how := slow.find(k)
			got, ok := fast.findAsSent(c)
			fits := found
			if ok {
				awaited++
			} else {
				got, fits = fast.find(k)
			}
			require.Equal(t, []any{want, how}, []any{got, fits})
			if how == found {
				slow.plays[want].played, fast.plays[got].played = true, true
			}
		}
	}
	require.Greater(t, awaited, 100)
}

// TestIDsOfAnotherRequest gives a call no record of another request, though that one names the same ids.
func TestIDsOfAnotherRequest(t *testing.T) {
	record := func(prompt, id string) snapshot.Snapshot {
		return snapshot.Snapshot{Provider: "p", Source: snapshot.Source{IDs: []string{id}}, Request: modelio.Request{
			API: "openai.chat", Model: "m", Messages: []modelio.Message{{Role: modelio.RoleUser, Content: []modelio.Part{modelio.TextPart(prompt)}}},
		}}
	}
	rules, err := scrub.New()
	require.NoError(t, err)
	doc := &store.Doc{Document: &snapshot.Document{Snapshots: []snapshot.Snapshot{record("a", "1"), record("b", "2"), record("a", "3")}}}
	tape := newTape(doc, rules)
	require.Equal(t, -1, tape.withJustIDs(0, []string{"2"}))
	require.Equal(t, 2, tape.withJustIDs(0, []string{"3"}))
}

// TestTurnsAreFoundOnce holds that a tape without turns is not searched for them again, for each of its records.
func TestTurnsAreFoundOnce(t *testing.T) {
	tape := newTape(nil, nil)
	tape.recordedTurns()
	require.NotNil(t, tape.turns)
}

// talk returns the tape of a conversation of n calls, and a function that returns its i-th request with another system
// prompt.
func talk(t *testing.T, n int) (tape *tape, changed func(i int) *modelio.Request) {
	said := []modelio.Message{{Role: modelio.RoleSystem, Content: []modelio.Part{modelio.TextPart("Be kind.")}}}
	var records []snapshot.Snapshot
	for i := range n {
		said = append(said, modelio.Message{Role: modelio.RoleUser, Content: []modelio.Part{modelio.TextPart(fmt.Sprint("turn ", i))}})
		request := modelio.Request{API: "openai.chat", Model: "m", Messages: said[:len(said):len(said)]}
		records = append(records, snapshot.Snapshot{Provider: "p", Request: request})
	}
	rules, err := scrub.New()
	require.NoError(t, err)
	return newTape(&store.Doc{Document: &snapshot.Document{Snapshots: records}}, rules), func(i int) *modelio.Request {
		other := records[i].Request
		other.Messages = nil
		for _, m := range records[i].Request.Messages { // in memory of their own, like those of a call
			other.Messages = append(other.Messages, modelio.Message{Role: m.Role, Content: slices.Clone(m.Content)})
		}
		other.Messages[0].Content = []modelio.Part{modelio.TextPart("Be short.")}
		return &other
	}
}

// TestCallWithoutItsRecord: what a call without a record costs grows with the conversation, not with its square, whether
// the record is looked for by the call's key or by its likeness.
func TestCallWithoutItsRecord(t *testing.T) {
	var allocated [2]uint64
	for i := range allocated {
		n := 1000 << i
		tape, changed := talk(t, n)
		r := &run{}
		r.tape, r.rules = tape, tape.rules
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		k, request, _, err := keyed("p", "", changed(n-1), nil, tape.rules.Live)
		require.NoError(t, err)
		_, how := tape.find(k)
		require.Equal(t, missing, how)
		best, _ := r.like(&call{key: k, request: request}, nil)
		require.Equal(t, n-1, best)
		runtime.ReadMemStats(&after)
		allocated[i] = after.TotalAlloc - before.TotalAlloc
	}
	require.Less(t, float64(allocated[1])/float64(allocated[0]), 3.0, "%v bytes", allocated)
}

// TestCallsWithoutTheirRecords: further calls that drifted in the same way cost what their new messages do.
func TestCallsWithoutTheirRecords(t *testing.T) {
	const n = 400
	tape, changed := talk(t, n)
	r := &run{}
	r.tape, r.rules = tape, tape.rules
	var allocated [2]uint64
	for i := range n {
		c := &call{key: key{provider: "p"}, request: changed(i)}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		best, got := r.like(c, nil)
		require.Equal(t, i, best)
		runtime.ReadMemStats(&after)
		allocated[2*i/n] += after.TotalAlloc - before.TotalAlloc
		if tape.plays[i].compared = true; i == 0 {
			allocated[0] = 0 // the records are taken apart
			r.causes = causes{{traces: r.compare.Traces(tape.plays[i].parts, got)}}
		}
	}
	require.Less(t, float64(allocated[1])/float64(allocated[0]), 2.0, "%v bytes", allocated)
}

// TestIgnoredMessagesAreNotCounted finds the record of a call with another number of messages, if the others are ignored.
func TestIgnoredMessagesAreNotCounted(t *testing.T) {
	rules, err := scrub.New()
	require.NoError(t, err)
	ignored := []string{"/messages/1"}
	request := func(texts ...string) *modelio.Request {
		asked := &modelio.Request{API: "openai.chat", Model: "m"}
		for _, text := range texts {
			asked.Messages = append(asked.Messages, modelio.Message{Role: modelio.RoleUser, Content: []modelio.Part{modelio.TextPart(text)}})
		}
		return asked
	}
	records := []snapshot.Snapshot{
		{Provider: "p", Request: *request("b"), Source: snapshot.Source{Ignored: ignored}},
		{Provider: "p", Request: *request("a", "now"), Source: snapshot.Source{Ignored: ignored}},
	}
	tape := newTape(&store.Doc{Document: &snapshot.Document{Snapshots: records}}, rules)
	k, _, _, err := keyed("p", "", request("a"), ignored, rules.Live)
	require.NoError(t, err)
	i, how := tape.find(k)
	require.Equal(t, []any{1, found}, []any{i, how})
}
