package recorder

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/usage"
	"github.com/traceforge/traceforge-go/snapshot"
)

// TestDrifts says call by call what a test failed for, and each difference once in a process.
func TestDrifts(t *testing.T) {
	id := func(test string, n int) string { return snapshot.ID(snapshot.DocumentName("example.com/m", test), n) }
	s := newScene(t)
	named := func(name string) func(*Options) { return func(o *Options) { o.Test = name } }
	drifts := func(name string, prompts ...string) (found []usage.Drift, told []*Failure) {
		var r *Recorder
		told, _ = s.run(Replay, func(opened *Recorder) { r = opened; asks(prompts...)(r) }, named(name))
		return r.Receipt().Drifts, told
	}
	for _, name := range []string{"TestA", "TestB", "TestC"} {
		failures, _ := s.run(Update, asks("Say hello", "Say good bye", "Tell me more"), named(name))
		require.Empty(t, failures)
	}
	found, told := drifts("TestA", "Say hello", "Say good bye, kindly", "Tell me more, kindly")
	require.Len(t, told, 2)
	require.Len(t, found, 2)
	before, after := "Say good bye", "Say good bye, kindly"
	require.Equal(t, usage.Drift{Kind: usage.Drifted, Record: id("TestA", 2), Call: 2, Provider: "openai", File: "it.go", Line: 1,
		Changes: []usage.DriftChange{{
			Key: found[0].Changes[0].Key, Component: "message 1 (user)", Kind: "user message", Removed: 1, Added: 1,
			Before: &before, After: &after,
		}}, Tokens: 11}, found[0])
	require.Equal(t, 3, found[1].Call)
	require.NotEqual(t, found[0].Changes[0].Key, found[1].Changes[0].Key, "another line is another cause")

	again, told := drifts("TestB", "Say hello", "Say good bye, kindly", "Tell me more")
	require.Len(t, told, 1)
	require.True(t, told[0].Again)
	require.Equal(t, found[0].Changes[0].Key, again[0].Changes[0].Key)
	require.Nil(t, again[0].Changes[0].Before, "the first has them")

	same, told := drifts("TestA", "Say hello", "Say good bye, kindly", "Tell me more")
	require.Len(t, told, 1)
	require.False(t, told[0].Again, "a test that is run again tells its own once more")
	require.NotNil(t, same[0].Changes[0].Before)

	missing, _ := drifts("TestC", "Say hello", "Say good bye", "Tell me more", "Wozu brauchen wir das?")
	require.Equal(t, []usage.Drift{{Kind: usage.Missing, Provider: "openai", File: "it.go", Line: 1,
		Summary: []string{"  model: m", "  user: Wozu brauchen wir das?"}}}, missing)
	uncalled, _ := drifts("TestC", "Say hello", "Say good bye")
	require.Equal(t, []usage.Drift{{Kind: usage.Uncalled, Record: id("TestC", 3), Call: 3, Provider: "openai", File: "it.go", Line: 1,
		Summary: []string{"  model: m", "  user: Tell me more"}}}, uncalled)
	mistaken, told := drifts("TestC", "Say good bye, you", "Say hello", "Say good bye", "Tell me more")
	require.Equal(t, []usage.Drift{{Kind: usage.Missing, Provider: "openai", File: "it.go", Line: 1}}, mistaken)
	require.Contains(t, told[1].Text, "call 2 of STORE/openai/"+snapshot.DocumentName("example.com/m", "TestC")+".json came after all: the drifted request that was shown against it is a new call")
}

// TestDriftsHoldNoSecrets: a receipt is kept by CI.
func TestDriftsHoldNoSecrets(t *testing.T) {
	s := newScene(t)
	failures, _ := s.run(Update, asks("Say hello to Ann"))
	require.Empty(t, failures)
	const secret = "sk-proj-4f0c3a9b1e77aa4f0c3a9b1e77aa4f0c3a9b1e77aa4f0c3a9b1e77aa"
	t.Setenv("MY_API_KEY", secret)
	var r *Recorder
	failures, _ = s.run(Replay, func(opened *Recorder) { r = opened; asks("Say hello to " + secret)(r) })
	require.NotContains(t, failures[0].Text+failures[0].Error(), secret[10:])
	for _, d := range r.Receipt().Drifts {
		require.NotContains(t, *d.Changes[0].After, secret[10:])
		require.Contains(t, *d.Changes[0].After, "MY_API_KEY")
	}
}

// TestRequestWithoutModel: a call that names no model is told by its method and its path.
func TestRequestWithoutModel(t *testing.T) {
	s := newScene(t)
	told, _ := s.run(Replay, func(r *Recorder) {
		resp, err := (&http.Client{Transport: r}).Get("https://bedrock-runtime.us-east-1.amazonaws.com/async-invoke/abc")
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
	})
	require.Len(t, told, 1)
	require.Contains(t, told[0].Text, "\n  request: GET /async-invoke/abc\n")
	require.NotContains(t, told[0].Text, "model: ")
}
