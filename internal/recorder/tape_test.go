package recorder

import (
	"encoding/json"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/scrub"
	"github.com/traceforge/traceforge-go/internal/store"
	"github.com/traceforge/traceforge-go/modelio"
	"github.com/traceforge/traceforge-go/snapshot"
)

// TestAwaitedIsFound holds that a call gets the record that its key finds, whether the key is computed or not: also where
// requests are repeated, differ in their spelling alone, look like placeholders, or are of other lanes.
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
		for range 8 {
			asked, source := request()
			if random.IntN(3) > 0 {
				s := &records[random.IntN(len(records))]
				asked, source = &s.Request, s.Source
			}
			k, _, _, err := keyed("p", "", asked, nil, rules.Live)
			k.lane = source.Lane
			require.NoError(t, err)
			want, how := slow.find(k)
			got, ok := fast.findAsSent(&call{key: key{provider: "p", lane: source.Lane}, request: asked})
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
