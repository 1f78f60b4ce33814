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
	"github.com/traceforge/traceforge-go/snapshot"
)

func ptr[T any](v T) *T { return &v }

// aSnapshot returns the n-th call of a test, sealed.
func aSnapshot(t testing.TB, n int) *snapshot.Snapshot {
	t.Helper()
	snap := &snapshot.Snapshot{
		ID:        snapshot.ID("example.com/m/agents", "TestSummarize", n),
		Timestamp: time.Date(2026, 1, 5, 0, 0, n, 0, time.UTC),
		Source: snapshot.Source{
			File: "agents/summarize_test.go", Line: 21, Function: "TestSummarize",
			Package: "example.com/m/agents", Test: "TestSummarize", Ordinal: n,
		},
		Request: snapshot.Request{
			API: "openai.chat", Model: "gpt-4o",
			Messages:    []snapshot.Message{{Role: "user", Content: json.RawMessage(fmt.Sprintf(`"prompt %d"`, n))}},
			Temperature: ptr(snapshot.Number("0")),
		},
		Response: snapshot.Response{
			Content: fmt.Sprintf("answer %d", n), FinishReason: "stop", LatencyMS: int64(100 * n),
			Usage: &snapshot.Usage{Input: ptr[int64](10), Output: ptr(int64(n))},
		},
	}
	require.NoError(t, snap.Seal())
	return snap
}

func aPack(t testing.TB) *pack.Pack {
	t.Helper()
	p, err := pack.New("example.com/m/agents", "TestSummarize", []*snapshot.Snapshot{aSnapshot(t, 2), aSnapshot(t, 1)})
	require.NoError(t, err)
	return p
}

func TestNew(t *testing.T) {
	p := aPack(t)
	first, second := aSnapshot(t, 1), aSnapshot(t, 2)
	hash, err := p.Session.Hash()
	require.NoError(t, err)
	require.Equal(t, pack.Run{
		ModelIOHash: hash, Package: "example.com/m/agents", Version: "1.0.0", Test: "TestSummarize",
		Snapshots: []pack.Reference{{Hash: first.Hash, ID: first.ID}, {Hash: second.Hash, ID: second.ID}},
	}, p.Run)

	s := p.Session
	require.Equal(t, modelio.ModeRecord, s.Mode)
	require.Equal(t, "traceforge", s.AdapterID)
	require.Equal(t, "openai.chat/gpt-4o", s.ModelID)
	require.Equal(t, "2026-01-05T00:00:01.000Z", s.CreatedAt)
	require.Equal(t, "2026-01-05T00:00:02.000Z", s.EndedAt)
	require.Equal(t, &modelio.SessionStats{TotalInteractions: 2, TotalTokensInput: 20, TotalTokensOutput: 3, TotalLatencyMS: 300}, s.Stats)
	require.Equal(t, modelio.Interaction{
		I: 0, PromptHash: first.Request.PromptHash, ResponseHash: first.Response.ResponseHash,
		ResponseContent: `{"content":"answer 1","finish_reason":"stop"}`,
		TokensInput:     ptr[int64](10), TokensOutput: ptr[int64](1), LatencyMS: ptr[int64](100),
	}, s.Interactions[0])
}

// What the snapshot format says is optional need not be there.
func TestNewOfAnotherWriter(t *testing.T) {
	snap := aSnapshot(t, 1)
	want, err := pack.New("p", "TestX", []*snapshot.Snapshot{snap})
	require.NoError(t, err)
	snap.Request.PromptHash, snap.Response.ResponseHash = "", ""
	got, err := pack.New("p", "TestX", []*snapshot.Snapshot{snap})
	require.NoError(t, err)
	require.Equal(t, want, got)

	snap.Request.API = ""
	got, err = pack.New("p", "TestX", []*snapshot.Snapshot{snap})
	require.NoError(t, err)
	require.Equal(t, "gpt-4o", got.Session.ModelID)
}

func TestNewErrors(t *testing.T) {
	_, err := pack.New("p", "TestX", nil)
	require.EqualError(t, err, "pack of TestX: no snapshots")

	snap := aSnapshot(t, 1)
	snap.Request.Model = "other"
	_, err = pack.New("p", "TestX", []*snapshot.Snapshot{snap})
	require.ErrorContains(t, err, "pack of TestX: snapshot "+snap.ID+": prompt_hash is sha256:")

	snap = aSnapshot(t, 1)
	snap.Response.Content = "other"
	_, err = pack.New("p", "TestX", []*snapshot.Snapshot{snap})
	require.ErrorContains(t, err, "response_hash is sha256:")

	snap = aSnapshot(t, 1)
	snap.Request.Tools = []json.RawMessage{json.RawMessage("{")}
	_, err = pack.New("p", "TestX", []*snapshot.Snapshot{snap})
	require.ErrorContains(t, err, "snapshot "+snap.ID)

	snap = aSnapshot(t, 1)
	snap.Response.Parts = []json.RawMessage{json.RawMessage("{")}
	_, err = pack.New("p", "TestX", []*snapshot.Snapshot{snap})
	require.ErrorContains(t, err, "snapshot "+snap.ID)

	snap = aSnapshot(t, 1)
	snap.Response.Content = strings.Repeat("x", modelio.MaxResponseBytes)
	require.NoError(t, snap.Seal())
	_, err = pack.New("p", "TestX", []*snapshot.Snapshot{snap})
	require.ErrorContains(t, err, "pack of TestX: the session is not valid: $.interactions[0].response_content: MI11: ")
}

func TestFromSnapshotsOfNone(t *testing.T) {
	s, err := pack.FromSnapshots("a", "m", nil)
	require.NoError(t, err)
	require.Equal(t, modelio.NewSession("a", "m"), s)
}

// What a pack's session holds can be replayed: answers, tool calls and errors.
func TestSessionReplays(t *testing.T) {
	call, failure := aSnapshot(t, 2), aSnapshot(t, 3)
	call.Response.Content = ""
	call.Response.ToolCalls = []snapshot.ToolCall{{Ref: "call_1", Name: "weather", Input: json.RawMessage(`{"id":9223372036854775807}`)}}
	failure.Response.Error = &snapshot.ProviderError{Status: 400, Type: "invalid_request_error", Code: "c", Message: "no"}
	require.NoError(t, call.Seal())
	require.NoError(t, failure.Seal())
	s, err := pack.FromSnapshots("a", "m", []*snapshot.Snapshot{aSnapshot(t, 1), call, failure})
	require.NoError(t, err)

	model := modelio.ReplaySession(s, modelio.ReplayOptions{Sequential: true})
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
	require.Equal(t, &modelio.RecordedError{Status: 400, Type: "invalid_request_error", Code: "c", Message: "no"}, err)
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
	s := modelio.NewSession("mock", "mock")
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
