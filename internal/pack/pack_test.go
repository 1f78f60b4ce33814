package pack_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/internal/pack"
	"github.com/traceforge/traceforge-go/modelio"
	"github.com/traceforge/traceforge-go/modelio/session"
	"github.com/traceforge/traceforge-go/snapshot"
)

func ptr[T any](v T) *T { return &v }

// aSnapshot returns the n-th call of a test.
func aSnapshot(n int) *snapshot.Snapshot {
	document := snapshot.DocumentName("example.com/m/agents", "TestSummarize")
	snap := &snapshot.Snapshot{
		ID:        snapshot.ID(document, n),
		Timestamp: time.Date(2026, 1, 5, 0, 0, n, 0, time.UTC),
		Source: snapshot.Source{
			File: "agents/summarize_test.go", Line: 21, Function: "TestSummarize",
			Package: "example.com/m/agents", Test: "TestSummarize",
		},
		Request: modelio.Request{
			API: "openai.chat", Model: "gpt-4o", Temperature: ptr(json.Number("0")),
			Messages: []modelio.Message{{Role: "user", Content: []modelio.Part{modelio.TextPart(fmt.Sprintf("prompt %d", n))}}},
		},
		Response: snapshot.Response{LatencyMS: int64(100 * n)},
		Hash:     canon.Sum([]byte{byte(n)}), // as its document sealed it
	}
	snap.Response.Usage = &modelio.Usage{InputTokens: ptr[int64](10), OutputTokens: ptr(int64(n))}
	answer(snap, modelio.TextPart(fmt.Sprintf("answer %d", n)))
	return snap
}

func answer(snap *snapshot.Snapshot, parts ...modelio.Part) {
	message := modelio.Message{Role: "model", Content: parts}
	snap.Response.Candidates = []modelio.Candidate{{Message: message, FinishReason: "stop"}}
}

func aPack(t testing.TB) *pack.Pack {
	t.Helper()
	p, err := pack.New("example.com/m/agents", "TestSummarize", []*snapshot.Snapshot{aSnapshot(1), aSnapshot(2)})
	require.NoError(t, err)
	return p
}

func TestNew(t *testing.T) {
	p := aPack(t)
	first, second := aSnapshot(1), aSnapshot(2)
	hash, err := p.Session.Hash()
	require.NoError(t, err)
	require.Equal(t, pack.Run{
		ModelIOHash: hash, Package: "example.com/m/agents", Version: "1.0.0", Test: "TestSummarize",
		Snapshots: []pack.Reference{{Hash: first.Hash, ID: first.ID}, {Hash: second.Hash, ID: second.ID}},
	}, p.Run)

	s := p.Session
	require.Equal(t, session.ModeRecord, s.Mode)
	require.Equal(t, "traceforge", s.AdapterID)
	require.Equal(t, "openai.chat/gpt-4o", s.ModelID)
	require.Equal(t, "2026-01-05T00:00:01.000Z", s.CreatedAt)
	require.Equal(t, "2026-01-05T00:00:02.000Z", s.EndedAt)
	require.Equal(t, &session.Stats{TotalInteractions: 2, TotalTokensInput: 20, TotalTokensOutput: 3, TotalLatencyMS: 300}, s.Stats)
	request, err := snapshot.RequestCore(&first.Request, nil)
	require.NoError(t, err)
	response, err := snapshot.ResponseCore(&first.Response)
	require.NoError(t, err)
	require.Equal(t, session.Interaction{
		I: 0, PromptHash: canon.Sum(request), ResponseHash: canon.Sum(response), ResponseContent: string(response),
		TokensInput: ptr[int64](10), TokensOutput: ptr[int64](1), LatencyMS: ptr[int64](100),
	}, s.Interactions[0])
}

// Another writer need not name the API.
func TestNewOfAnotherWriter(t *testing.T) {
	snap := aSnapshot(1)
	snap.Request.API = ""
	got, err := pack.New("p", "TestX", []*snapshot.Snapshot{snap})
	require.NoError(t, err)
	require.Equal(t, "gpt-4o", got.Session.ModelID)
}

func TestNewErrors(t *testing.T) {
	_, err := pack.New("p", "TestX", nil)
	require.EqualError(t, err, "pack of TestX: no snapshots")

	snap := aSnapshot(1)
	snap.Request.Options = modelio.Object{"broken": json.RawMessage("{")}
	_, err = pack.New("p", "TestX", []*snapshot.Snapshot{snap})
	require.ErrorContains(t, err, "snapshot "+snap.ID)

	snap = aSnapshot(1)
	answer(snap, modelio.TextPart(strings.Repeat("x", session.MaxResponseBytes)))
	_, err = pack.New("p", "TestX", []*snapshot.Snapshot{snap})
	require.ErrorContains(t, err, "pack of TestX: the session is not valid: ")
	require.ErrorContains(t, err, "MI11: ")
}

func TestFromSnapshotsOfNone(t *testing.T) {
	s, err := pack.FromSnapshots("a", "m", nil)
	require.NoError(t, err)
	require.Equal(t, session.New("a", "m"), s)
}

// What a pack's session holds can be replayed: answers, tool calls and errors.
func TestSessionReplays(t *testing.T) {
	call, failure := aSnapshot(2), aSnapshot(3)
	answer(call, modelio.Part{ToolRequest: &modelio.ToolRequest{
		Ref: "call_1", Name: "weather", Input: json.RawMessage(`{"id":9223372036854775807}`),
	}})
	failure.Response.Candidates = nil
	failure.Response.Error = &modelio.ProviderError{Status: 400, Type: "invalid_request_error", Code: "c", Message: "no"}
	s, err := pack.FromSnapshots("a", "m", []*snapshot.Snapshot{aSnapshot(1), call, failure})
	require.NoError(t, err)

	model := session.Replay(s, session.ReplayOptions{Sequential: true})
	resp, err := model.Generate(t.Context(), &modelio.GenerateRequest{}, nil)
	require.NoError(t, err)
	require.Equal(t, []modelio.Part{modelio.TextPart("answer 1")}, resp.Message.Content)
	require.Equal(t, modelio.FinishStop, resp.FinishReason)

	resp, err = model.Generate(t.Context(), &modelio.GenerateRequest{}, nil)
	require.NoError(t, err)
	require.Equal(t, []modelio.Part{{ToolRequest: &modelio.ToolRequest{
		Ref: "call_1", Name: "weather", Input: json.RawMessage(`{"id":9223372036854775807}`),
	}}}, resp.Message.Content)

	_, err = model.Generate(t.Context(), &modelio.GenerateRequest{}, nil)
	require.Equal(t, &session.RecordedError{Status: 400, Type: "invalid_request_error", Code: "c", Message: "no"}, err)
}

// readDir returns the files of a directory by name.
func readDir(t testing.TB, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	files := map[string]string{}
	for _, entry := range entries {
		data, err := os.ReadFile(filepath.Join(dir, entry.Name()))
		require.NoError(t, err)
		files[entry.Name()] = string(data)
	}
	return files
}

func TestWriteTwice(t *testing.T) {
	one, two := filepath.Join(t.TempDir(), "new", "pack"), t.TempDir()
	require.NoError(t, aPack(t).Write(one))
	require.NoError(t, aPack(t).Write(two))
	files := readDir(t, one)
	require.Len(t, files, 2)
	require.Equal(t, files, readDir(t, two))

	past := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
	for name := range files {
		require.NoError(t, os.Chtimes(filepath.Join(one, name), past, past))
	}
	require.NoError(t, os.WriteFile(filepath.Join(one, "run.json.tmp"), nil, 0o600), "of a writer that was killed")
	require.NoError(t, aPack(t).Write(one))
	require.Equal(t, files, readDir(t, one))
	for name := range files {
		info, err := os.Stat(filepath.Join(one, name))
		require.NoError(t, err)
		require.True(t, info.ModTime().Equal(past), "%s was written again though nothing changed", name)
	}

	changed := aPack(t)
	changed.Run.Test = "TestOther"
	require.NoError(t, changed.Write(one))
	require.NotEqual(t, files, readDir(t, one))
}

func TestWriteSpares(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "notes.txt"), []byte("mine"), 0o600))
	err := aPack(t).Write(dir)
	require.EqualError(t, err, "write pack: "+dir+" holds notes.txt, which is of no pack: choose another directory")
	require.Equal(t, map[string]string{"notes.txt": "mine"}, readDir(t, dir))

	file := filepath.Join(dir, "notes.txt")
	require.EqualError(t, aPack(t).Write(file), "write pack: "+file+" is not a directory")

	dir = t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, pack.RunFile), 0o700))
	require.ErrorContains(t, aPack(t).Write(dir), "holds run.json, which is of no pack")
	require.Error(t, aPack(t).Write(filepath.Join(file, "below")))

	broken := aPack(t)
	broken.Session.AdapterID = "\xff"
	require.EqualError(t, broken.Write(filepath.Join(dir, "x")), "write pack: modelio: session: /adapter_id: string is not UTF-8")
}

func ExampleVerify() {
	dir, err := os.MkdirTemp("", "pack")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	s := session.New("mock", "mock")
	s.Append("Say hello", "Hello, World!")
	hash, err := s.Hash()
	if err != nil {
		panic(err)
	}
	p := pack.Pack{Session: s, Run: pack.Run{
		ModelIOHash: hash, Package: "example.com/m", Version: pack.RunVersion, Test: "TestHello",
		Snapshots: []pack.Reference{{Hash: canon.Sum(nil), ID: "testhello-1-3f9a0c41d2be"}},
	}}
	if err := p.Write(dir); err != nil {
		panic(err)
	}
	report, err := pack.Verify(dir)
	if err != nil {
		panic(err)
	}
	fmt.Println(report.OK(), report.Files)
	// Output: true [model_io.json run.json]
}

func TestWriteSparesOtherNames(t *testing.T) {
	file, dir := filepath.Join(t.TempDir(), "notes.txt"), t.TempDir()
	require.NoError(t, os.WriteFile(file, []byte("mine"), 0o600))
	if err := os.Link(file, filepath.Join(dir, "run.json.tmp")); err != nil {
		t.Skipf("no hard links here: %v", err)
	}
	require.NoError(t, aPack(t).Write(dir))
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, "mine", string(data))
	require.Len(t, readDir(t, dir), 2)
}
