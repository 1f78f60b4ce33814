package pack_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/internal/fakeprovider"
	"github.com/traceforge/traceforge-go/internal/pack"
	"github.com/traceforge/traceforge-go/internal/recorder"
	"github.com/traceforge/traceforge-go/internal/store"
	"github.com/traceforge/traceforge-go/internal/store/audit"
	"github.com/traceforge/traceforge-go/internal/usage"
	"github.com/traceforge/traceforge-go/modelio/session"
	"github.com/traceforge/traceforge-go/snapshot"
)

// aRun records the calls of two tests, of which one has no call, and returns the run: a text, a medium, a tool call, a
// stream, and an error.
func aRun(t *testing.T) pack.Source {
	t.Helper()
	return aRunOf(t, "TestIt")
}

// aRunOf is aRun with the name of the test that has calls.
func aRunOf(t *testing.T, test string) pack.Source {
	t.Helper()
	dir := t.TempDir()
	provider := fakeprovider.New(t)
	provider.Reply(fakeprovider.Text("a picture"), fakeprovider.CallTools(fakeprovider.ToolCall{Name: "look", Arguments: `{"at":"it"}`}),
		fakeprovider.Text("one two three"), fakeprovider.Error(400, "invalid_request_error", "no"))
	r, err := recorder.Open(recorder.Options{
		Dir: dir, Shown: "STORE", Package: "example.com/m", Test: test, Mode: recorder.Update, Upstream: provider.Transport(),
		Source: func() snapshot.Source { return snapshot.Source{File: "it.go", Line: 1, Function: "ask"} },
		Fail:   func() {}, Tell: func(f *recorder.Failure) { t.Error(f.Text) },
	})
	require.NoError(t, err)
	ask := func(content any, more string) {
		text, err := json.Marshal(content)
		require.NoError(t, err)
		body := fmt.Sprintf(`{"model":"gpt-4o","temperature":0,"seed":1,"messages":[{"role":"user","content":%s}]%s}`, text, more)
		resp, err := (&http.Client{Transport: r}).Post("https://api.openai.com/v1/chat/completions", "application/json", strings.NewReader(body))
		require.NoError(t, err)
		_, err = io.Copy(io.Discard, resp.Body)
		require.NoError(t, err)
		resp.Body.Close()
	}
	image := "data:image/png;base64," + base64.StdEncoding.EncodeToString(bytes.Repeat([]byte("\x89PNG"), 999))
	ask([]any{map[string]any{"type": "image_url", "image_url": map[string]any{"url": image}}}, "")
	ask("look", `,"tools":[{"type":"function","function":{"name":"look","parameters":{"type":"object"}}}]`)
	ask("count", `,"stream":true`)
	ask("fail", "")
	r.Finish(recorder.TestEnd{})
	s, err := store.Open(dir)
	require.NoError(t, err)
	left := r.Receipt()
	left.Version, left.Store = usage.ReceiptVersion, ".ai-snapshots"
	require.Len(t, left.Recorded, 4)
	return pack.Source{Store: pack.In(s), Receipts: []usage.Receipt{
		{Version: usage.ReceiptVersion, Package: "example.com/m", Test: "TestNone", Outcome: "skip", Mode: "update", Store: ".ai-snapshots"},
		left,
	}}
}

func aPack(t *testing.T) (dir string, from pack.Source) {
	t.Helper()
	dir, from = filepath.Join(t.TempDir(), "new", "pack"), aRun(t)
	_, err := pack.Write(dir, from)
	require.NoError(t, err)
	return dir, from
}

func verify(t *testing.T, dir string) pack.Report {
	t.Helper()
	report, err := pack.Verify(dir, t.TempDir(), func(s *store.Store) (*audit.Result, error) { return audit.Verify(s, recorder.Proven) })
	require.NoError(t, err)
	return report
}

// files returns the files of a directory by path.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	require.NoError(t, fs.WalkDir(os.DirFS(dir), ".", func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := os.ReadFile(filepath.Join(dir, file))
		all[file] = string(data)
		return err
	}))
	return all
}

func readRun(t *testing.T, dir string) (run pack.Run) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, pack.RunFile))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(data, &run))
	return run
}

func TestPack(t *testing.T) {
	dir, from := aPack(t)
	run := readRun(t, dir)
	require.Equal(t, "pass", run.Outcome)
	require.Len(t, run.Tests, 2)
	it, none := run.Tests[0], run.Tests[1]
	require.Equal(t, pack.Test{Outcome: "skip", Package: "example.com/m", Test: "TestNone"}, none)
	require.Len(t, it.Session.Calls, 4)

	data, err := os.ReadFile(filepath.Join(dir, it.Session.File))
	require.NoError(t, err)
	require.Empty(t, session.Verify(data), "MI1 to MI12 hold in a pack")
	var s session.Session
	require.NoError(t, json.Unmarshal(data, &s))
	require.Equal(t, session.ModeRecord, s.Mode)
	require.Equal(t, "openai.chat/gpt-4o", s.ModelID)
	require.Equal(t, int64(4), s.Stats.TotalInteractions)

	refs := 0
	for file, text := range files(t, dir) {
		if hex, ok := strings.CutPrefix(file, "refs/"); ok {
			require.Equal(t, hex, canon.Sum([]byte(text)).Hex())
			refs++
		}
	}
	require.Equal(t, 4+1+4+2, refs, "raw answers, a medium, envelopes, and a list of tool calls with its arguments")
	require.True(t, verify(t, dir).OK(), verify(t, dir).Findings)

	other := filepath.Join(t.TempDir(), "other")
	from.Receipts[0], from.Receipts[1] = from.Receipts[1], from.Receipts[0]
	_, err = pack.Write(other, from)
	require.NoError(t, err)
	require.Equal(t, files(t, dir), files(t, other), "equal runs make equal bytes, whichever process ended first")
	_, err = pack.Write(dir+"/", from)
	require.NoError(t, err, "a pack is replaced")
	require.Equal(t, files(t, other), files(t, dir))
	require.Equal(t, "pass", verify(t, dir).Answer().Outcome)

	slices.Reverse(from.Receipts[0].Recorded)
	_, err = pack.Write(other, from)
	require.NoError(t, err)
	require.Equal(t, files(t, dir), files(t, other), "whichever call was answered first")
}

// TestOutcome: of a test that ran several times the worst counts, and a process that was killed is a failure.
func TestOutcome(t *testing.T) {
	from := aRun(t)
	again := from.Receipts[1]
	again.Outcome, again.Mode, again.Played, again.Recorded, again.Missing = "fail", "replay", again.Recorded, nil, 2
	from.Receipts = append(from.Receipts, again)
	dir := filepath.Join(t.TempDir(), "pack")
	run, err := pack.Write(dir, from)
	require.NoError(t, err)
	require.Equal(t, "fail", run.Outcome)
	require.Len(t, run.Failed(), 1)
	require.Equal(t, 2, run.Tests[0].Missing)
	require.True(t, verify(t, dir).OK())

	from.Receipts[2].Outcome, from.Receipts[1].Outcome = "pass", "skip"
	run, err = pack.Write(dir, from)
	require.NoError(t, err)
	require.Equal(t, "pass", run.Tests[0].Outcome, "a run that was not skipped counts")
	from.Receipts[1].Outcome = "pass"

	from.Receipts, from.Killed = from.Receipts[:2], []string{"example.com/m"}
	run, err = pack.Write(dir, from)
	require.NoError(t, err)
	require.Equal(t, "fail", run.Outcome)
	require.Equal(t, []string{"example.com/m"}, run.Killed)
	require.True(t, verify(t, dir).OK())
}

func TestWriteErrors(t *testing.T) {
	dir, from := aPack(t)
	mine := filepath.Join(t.TempDir(), "mine")
	require.NoError(t, os.MkdirAll(mine, 0o777))
	require.NoError(t, os.WriteFile(filepath.Join(mine, "config.json"), nil, 0o666))
	_, err := pack.Write(mine, from)
	require.EqualError(t, err, "write pack: "+mine+" holds files and no run.json, so it is no pack: choose another directory")
	notes := filepath.Join(dir, "notes.txt")
	require.NoError(t, os.WriteFile(notes, nil, 0o666))
	_, err = pack.Write(dir, from)
	require.EqualError(t, err, "write pack: "+dir+" holds notes.txt, which is of no pack: choose another directory")
	require.NoError(t, os.Remove(notes))
	before := files(t, dir)
	from.Receipts[1].Recorded = append(from.Receipts[1].Recorded, strings.TrimSuffix(from.Receipts[1].Recorded[0], "-1")+"-9")
	_, err = pack.Write(dir, from)
	require.ErrorContains(t, err, "write pack: TestIt in example.com/m: openai/example-com-m-testit-")
	require.ErrorContains(t, err, "which its receipt names: it was recorded again since: run the tests again")
	require.Equal(t, before, files(t, dir), "the pack that was there stays")
	entries, err := os.ReadDir(filepath.Dir(dir))
	require.NoError(t, err)
	require.Len(t, entries, 1, "nothing half-written stays")
}

// reader runs the reader of packs that is written in another language and shares no code with this one.
func reader(t *testing.T, dir string) (string, error) {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("no Node.js, which .ci/run installs")
	}
	out, err := exec.Command(node, filepath.Join("testdata", "verify.mjs"), dir).CombinedOutput()
	return string(out), err
}

// TestJavaScript: a reader by the specifications alone agrees, and finds each file that was altered, removed or added.
func TestJavaScript(t *testing.T) {
	dir, _ := aPack(t)
	all := files(t, dir)
	out, err := reader(t, dir)
	require.NoError(t, err, out)
	require.Equal(t, fmt.Sprintf("2 tests, %d files, 0 breaches\n", len(all)), out)
	for _, file := range []string{"tests.receipt", readRun(t, dir).Tests[0].Session.File, readRun(t, dir).Tests[0].Document.File} {
		path := filepath.Join(dir, file)
		for _, harmed := range []string{strings.Replace(all[file], "1", "2", 1), all[file] + "\n"} {
			require.NoError(t, os.WriteFile(path, []byte(harmed), 0o666))
			out, err := reader(t, dir)
			require.Error(t, err, file)
			require.Contains(t, out, file+": has another hash than run.json says")
		}
		require.NoError(t, os.WriteFile(path, []byte(all[file]), 0o666))
	}
	unnamed := "refs/" + canon.Sum(nil).Hex()
	require.NoError(t, os.WriteFile(filepath.Join(dir, unnamed), nil, 0o666))
	out, err = reader(t, dir)
	require.Error(t, err)
	require.Contains(t, out, "run.json: names other files than there are")
	for _, harm := range []struct{ file, old, new, want string }{ // sealed again, as somebody would who hides it
		{unnamed, "", "", unnamed + ": is named by nothing"},
		{readRun(t, dir).Tests[0].Document.File, "gpt-4o", "gpt-4x", "-1 has another seal"},
		{readRun(t, dir).Tests[0].Session.File, `"mode":"record"`, `"mode":"replay"`, "has another ModelIOHash"},
		{"tests.receipt", `"document":"sha256:`, `"document":"sha256:0`, "tests.receipt: names another document of example.com/m.TestIt"},
		{"tests.receipt", `"outcome":"pass"`, `"outcome":"fail"`, "run.json: example.com/m.TestIt has another outcome in its receipt"},
	} {
		altered := filepath.Join(t.TempDir(), "altered")
		require.NoError(t, os.CopyFS(altered, os.DirFS(dir)))
		require.NoError(t, os.WriteFile(filepath.Join(altered, harm.file), []byte(strings.Replace(files(t, dir)[harm.file], harm.old, harm.new, 1)), 0o666))
		reseal(t, altered, nil)
		out, err := reader(t, altered)
		require.Error(t, err, harm.want)
		require.Contains(t, out, harm.want)
	}
}
