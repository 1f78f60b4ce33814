package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/store"
	"github.com/traceforge/traceforge-go/modelio"
	"github.com/traceforge/traceforge-go/snapshot"
)

// refused is the document of a call that a transport ended, on a day.
func refused(day int, message string) store.Put {
	name := snapshot.DocumentName("example.com/agents", "TestRefused")
	return store.Put{Provider: "openai", Name: name, Document: &snapshot.Document{Version: snapshot.Version, Snapshots: []snapshot.Snapshot{{
		ID: snapshot.ID(name, 1), Timestamp: time.Date(2026, 1, day, 10, 30, 0, 0, time.UTC),
		Source: snapshot.Source{File: "agent.go", Line: 1, Function: "ask", Package: "example.com/agents", Test: "TestRefused"},
		Request: modelio.Request{API: "openai.chat", Model: "m", Messages: []modelio.Message{
			{Role: modelio.RoleUser, Content: []modelio.Part{modelio.TextPart("hello")}}}},
		Response: snapshot.Response{Response: modelio.Response{Error: &modelio.ProviderError{Type: "transport", Code: "refused", Message: message}}},
	}}}}
}

// pendingStore returns a store with a pending answer, and what runs the command on it.
func pendingStore(t *testing.T, stored store.Put, pending ...store.Put) (id string, run func(words ...string) (code int, said string)) {
	dir := pendingDir(t, stored, pending...)
	return pending[0].Document.Snapshots[0].ID, func(words ...string) (int, string) {
		var out bytes.Buffer
		code := traceforge(t.Context(), append(words, "--dir", dir), nil, &out, &out)
		return code, out.String()
	}
}

// pendingDir returns the directory of such a store.
func pendingDir(t *testing.T, stored store.Put, pending ...store.Put) string {
	dir := filepath.Join(t.TempDir(), ".ai-snapshots")
	s, err := store.Open(dir)
	require.NoError(t, err)
	require.NoError(t, s.Commit(store.Change{Put: []store.Put{stored}}))
	require.NoError(t, s.Pending().Commit(store.Change{Put: pending}))
	return dir
}

// TestAcceptRefusesSecrets: what recording refuses is not accepted, as where shards were joined.
func TestAcceptRefusesSecrets(t *testing.T) {
	const token = "ghp_" + "a8Zk2Qx7Lm4Vt9Rb3Nc6Wd1Yf5Hg0Js8PqTu"
	id, run := pendingStore(t, refused(1, "dial tcp"), refused(2, "dial tcp: "+token))
	for _, words := range [][]string{{"accept", "--all"}, {"accept", id}} {
		code, said := run(words...)
		require.NotEqual(t, exitClean, code)
		require.Contains(t, said, "/snapshots/0/response/error/message: secret: a GitHub token")
		require.Contains(t, said, "reject it")
		require.NotContains(t, said, token)
	}
	code, said := run("reject", id)
	require.Equal(t, exitClean, code, said)
}

// TestAcceptShowsNoSecrets: values of this process's variables are not printed, and are no difference.
func TestAcceptShowsNoSecrets(t *testing.T) {
	const password = "pa55-0f-Th3-d4tabase"
	t.Setenv("DB_PASSWORD", password)
	_, run := pendingStore(t, refused(1, "dial "+password), refused(2, "dial "+password))
	code, said := run("accept", "--json")
	require.Equal(t, exitFindings, code)
	require.Contains(t, said, `"replaces":true,"answer":`, "nothing changed")
	require.NotContains(t, said, password)
}

// TestAcceptListsHiddenNames: two secrets of one kind as names of members are one name where they are hidden.
func TestAcceptListsHiddenNames(t *testing.T) {
	t.Parallel()
	stored, waits := refused(1, "old"), refused(2, "new")
	for _, p := range []store.Put{stored, waits} {
		p.Document.Snapshots[0].Request.Options = modelio.Object{"owners": []byte(`{"ghp_a8Zk2Qx7Lm4Vt9Rb3Nc6Wd1Yf5Hg0Js8PqTu":1,
			"ghp_b8Zk2Qx7Lm4Vt9Rb3Nc6Wd1Yf5Hg0Js8PqTv":2}`)}
	}
	id, run := pendingStore(t, stored, waits)
	code, said := run("accept")
	require.Equal(t, exitFindings, code)
	require.Contains(t, said, id+"  TestRefused in example.com/agents\n  changed: answer: error\n")
	require.NotContains(t, said, "ghp_")
}

// TestAcceptKeepsNewer: an older answer of the same call replaces a newer one only where the user names it.
func TestAcceptKeepsNewer(t *testing.T) {
	id, run := pendingStore(t, refused(2, "new"), refused(1, "old"))
	code, said := run("accept")
	require.Equal(t, exitFindings, code)
	require.Contains(t, said, "older than the record; changed: ")
	for _, words := range [][]string{{"accept", "--all"}, {"accept", "TestRefused"}} {
		code, said := run(words...)
		require.NotEqual(t, exitClean, code)
		require.Contains(t, said, "1 answer is older than what was recorded of the same call since: nothing was accepted")
		require.Regexp(t, `traceforge reject --dir .*[/\\]\.ai-snapshots'? `+id+"\n", said)
		require.Regexp(t, `traceforge accept --dir .*/\.ai-snapshots'? `+id+"\n", said)
	}
	_, said = run("show", "--json", id)
	require.Contains(t, said, `"new"`)
	code, said = run("accept", id)
	require.Equal(t, exitClean, code, said)
	_, said = run("show", "--json", id)
	require.Contains(t, said, `"old"`)

	_, run = pendingStore(t, refused(1, "old"), refused(2, "new"))
	code, said = run("accept", "--all")
	require.Equal(t, exitClean, code, said)

	_, run = pendingStore(t, refused(2, "same"), refused(1, "same"))
	code, said = run("accept")
	require.Equal(t, exitFindings, code)
	require.Contains(t, said, "bought again: nothing changed")
	code, said = run("accept", "--all")
	require.Equal(t, exitClean, code, said)

	changed := refused(1, "changed")
	changed.Document.Snapshots[0].Request.Messages[0].Content[0] = modelio.TextPart("hi")
	_, run = pendingStore(t, refused(2, "new"), changed)
	code, said = run("accept", "--all")
	require.Equal(t, exitClean, code, "it answers another request: %s", said)

	other := refused(1, "other") // of another test
	other.Name = snapshot.DocumentName("example.com/agents", "TestOther")
	call := &other.Document.Snapshots[0]
	call.ID, call.Source.Test = snapshot.ID(other.Name, 1), "TestOther"
	_, run = pendingStore(t, refused(2, "new"), refused(1, "old"), other)
	code, said = run("accept", other.Name)
	require.Equal(t, exitClean, code, said)
	require.Contains(t, said, "accepted "+call.ID)
}

// TestAcceptKeepsNewerBesideChanges: also where tests are named together of which only some have pending answers.
func TestAcceptKeepsNewerBesideChanges(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), ".ai-snapshots")
	s, err := store.Open(dir)
	require.NoError(t, err)
	require.NoError(t, s.Commit(store.Change{Put: []store.Put{refused(2, "new")}}))
	commitAll(t, filepath.Dir(dir))
	keepRaw(t, dir, "TestAdded", `{}`)
	require.NoError(t, s.Pending().Commit(store.Change{Put: []store.Put{refused(1, "old")}}))
	code, out, said := run("", "accept", "--dir", dir, "TestAdded", "TestRefused")
	require.Equal(t, exitTrouble, code, out)
	require.Contains(t, said, "1 answer is older than what was recorded of the same call since: nothing was accepted")
	code, out, said = run("", "accept", "--dir", dir, "TestAdded")
	require.Equal(t, exitClean, code, said)
	require.Contains(t, out, "TestAdded")
}

// TestAcceptKeepsNewerOfItsTest: also where another answer of the same test is named, beside a test whose record changed: such a
// test is accepted as a whole.
func TestAcceptKeepsNewerOfItsTest(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), ".ai-snapshots")
	s, err := store.Open(dir)
	require.NoError(t, err)
	two := func(day int, first, second string) store.Put {
		put, other := refused(day, first), refused(day, second)
		call := other.Document.Snapshots[0]
		call.ID = snapshot.ID(put.Name, 2)
		call.Request.Messages[0].Content[0] = modelio.TextPart("bye")
		put.Document.Snapshots = append(put.Document.Snapshots, call)
		return put
	}
	require.NoError(t, s.Commit(store.Change{Put: []store.Put{two(2, "same", "new")}}))
	commitAll(t, filepath.Dir(dir))
	keepRaw(t, dir, "TestAdded", `{}`)
	waits := two(1, "first", "old")
	waits.Document.Snapshots[0].Timestamp = waits.Document.Snapshots[0].Timestamp.AddDate(0, 1, 0)
	require.NoError(t, s.Pending().Commit(store.Change{Put: []store.Put{waits}}))
	first, second := waits.Document.Snapshots[0].ID, waits.Document.Snapshots[1].ID
	code, out, said := run("", "accept", "--dir", dir, "TestAdded", first)
	require.Equal(t, exitTrouble, code, out)
	require.Contains(t, said, "1 answer is older than what was recorded of the same call since: nothing was accepted")
	code, out, said = run("", "accept", "--dir", dir, "TestAdded", first, second)
	require.Equal(t, exitClean, code, said)
	require.Contains(t, out, "TestAdded")
}

// TestReviewKeepsNewer: review refuses it too, by name, by the key of a cause, and on the screen; accept does by a key.
func TestReviewKeepsNewer(t *testing.T) {
	t.Parallel()
	waits := refused(1, "old")
	dir := pendingDir(t, refused(2, "new"), waits)
	id := waits.Document.Snapshots[0].ID
	listed, _ := listReview(t, dir)
	key := listed.Causes[0].Key
	const older = "1 answer is older than what was recorded of the same call since: nothing was accepted"
	for _, words := range [][]string{{"review", "--accept", "TestRefused"}, {"review", "--accept", key}, {"accept", key}} {
		code, out, said := run("", append(words, "--dir", dir)...)
		require.Equal(t, exitTrouble, code, "%v: %s", words, out)
		require.Contains(t, said, older, words)
	}
	for _, keys := range [][]string{{"a"}, {"A"}, {"enter", "a"}} {
		shown := newTestScreen(t, dir, 100, 30)
		require.False(t, press(t, shown, keys...))
		require.Contains(t, strings.Join(shown.shown(), "\n"), older, keys)
	}
	_, out, _ := run("", "show", "--dir", dir, "--json", id)
	require.Contains(t, out, `"new"`)
	code, out, said := run("", "review", "--accept", id, "--dir", dir)
	require.Equal(t, exitClean, code, said)
	require.Contains(t, out, "accepted "+waits.Name)
	_, out, _ = run("", "show", "--dir", dir, "--json", id)
	require.Contains(t, out, `"old"`)
}
