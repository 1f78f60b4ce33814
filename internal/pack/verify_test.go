package pack_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/internal/pack"
	"github.com/traceforge/traceforge-go/internal/store"
	"github.com/traceforge/traceforge-go/internal/usage"
	"github.com/traceforge/traceforge-go/modelio/session"
	"github.com/traceforge/traceforge-go/snapshot"
)

// reseal makes run.json name what a pack holds now, as somebody would who hides an alteration.
func reseal(t *testing.T, dir string, edit func(run map[string]any)) {
	t.Helper()
	run := map[string]any{}
	all := files(t, dir)
	require.NoError(t, json.Unmarshal([]byte(all[pack.RunFile]), &run))
	named := map[string]any{}
	for file, text := range all {
		if file != pack.RunFile {
			named[file] = canon.Sum([]byte(text))
		}
	}
	run["files"] = named
	if edit != nil {
		edit(run)
	}
	text, err := json.Marshal(run)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, pack.RunFile), text, 0o666))
}

func TestVerifyHostile(t *testing.T) {
	original, _ := aPack(t)
	it := readRun(t, original).Tests[0]
	write := func(name, text string) func(*testing.T, string) {
		return func(t *testing.T, dir string) {
			require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o777))
			require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666))
		}
	}
	edit := func(name, old, new string) func(*testing.T, string) {
		return func(t *testing.T, dir string) {
			text := files(t, dir)[name]
			require.Contains(t, text, old)
			write(name, strings.Replace(text, old, new, 1))(t, dir)
		}
	}
	resealed := func(harm func(*testing.T, string), change func(run map[string]any)) func(*testing.T, string) {
		return func(t *testing.T, dir string) {
			if harm != nil {
				harm(t, dir)
			}
			reseal(t, dir, change)
		}
	}
	first := func(run map[string]any) map[string]any { return run["tests"].([]any)[0].(map[string]any) }
	tests := []struct {
		name, why string
		harm      func(t *testing.T, dir string)
		want      string // of the first finding
	}{
		{"no_run", "nothing says what it is", func(t *testing.T, dir string) { require.NoError(t, os.Remove(filepath.Join(dir, "run.json"))) },
			"run.json: PK1: is missing: "},
		{"link", "a link can lead anywhere", func(t *testing.T, dir string) {
			path := filepath.Join(dir, it.Session.File)
			require.NoError(t, os.Remove(path))
			require.NoError(t, os.Symlink(filepath.Join(original, it.Session.File), path))
		}, it.Session.File + ": PK6: is a symbolic link, which could lead anywhere: "},
		{"linked_directory", "so can a directory", func(t *testing.T, dir string) {
			require.NoError(t, os.Rename(filepath.Join(dir, "refs"), filepath.Join(filepath.Dir(dir), "away")))
			require.NoError(t, os.Symlink(filepath.Join(filepath.Dir(dir), "away"), filepath.Join(dir, "refs")))
		}, "refs: PK6: is a symbolic link"},
		{"unknown", "a pack has no other files", write("notes.txt", ""), "notes.txt: PK2: a pack has no such file: remove it"},
		{"other_case", "nor another name of one", write("Run.json", "{}"), "Run.json: PK2: a pack has no such file"},
		{"unknown_directory", "nor other directories", write("documents/openai/more/x.json", ""), "documents/openai/more: PK2: a pack has no such directory"},
		{"unnamed", "a ref that nothing names", write("refs/"+canon.Sum(nil).Hex(), ""), "refs/" + canon.Sum(nil).Hex() + ": PK2: is not named by run.json"},
		{"unnamed_ref", "also where run.json names it", resealed(write("refs/"+canon.Sum(nil).Hex(), ""), nil),
			"refs/" + canon.Sum(nil).Hex() + ": PK5: is not what the documents and the receipts of the pack make"},
		{"misnamed_ref", "a ref is what its name says", resealed(write("refs/"+strings.Repeat("0", 64), "x"), nil),
			"refs/" + strings.Repeat("0", 64) + ": PK5: has the hash "},
		{"missing", "run.json names it", func(t *testing.T, dir string) { require.NoError(t, os.Remove(filepath.Join(dir, it.Session.File))) },
			it.Session.File + ": PK1: is missing, and run.json names it"},
		{"other", "nor is it one of another system for a file of theirs", write("model_io.json", "{}"), "tests.receipt: PK2: unknown file in pack"},
		{"hash", "a hash is one", resealed(nil, func(run map[string]any) { run["files"].(map[string]any)["tests.receipt"] = "x" }),
			"tests.receipt: PK5: has the hash "},
		{"altered", "each file is what run.json says to the byte", edit(it.Session.File, "{", "{ "), it.Session.File + ": PK5: has the hash "},
		{"altered_receipts", "those of runs too", edit("tests.receipt", `"outcome":"pass"`, `"outcome":"fail"`), "it was altered: get the pack again"},
		{"huge", "nobody makes us read without end", func(t *testing.T, dir string) {
			require.NoError(t, os.Truncate(filepath.Join(dir, "run.json"), 1<<30))
		}, "run.json: size: has 1073741824 bytes, more than 67108864: "},
		{"version", "another version may mean another thing", edit("run.json", `"1.0.0"`, `"2.0.0"`), `run.json: /run_schema_version: PK3: is "2.0.0", and this command reads 1.0.0: `},
		{"twice", "a member has one value", edit("run.json", `"outcome": "pass"`, `"outcome": "fail", "outcome": "pass"`), "run.json: /"},
		{"member", "an unknown member says what we do not know", resealed(nil, func(run map[string]any) { run["signed"] = true }),
			`run.json: PK3: unknown field "signed": `},
		{"type", "a list is no object", resealed(nil, func(run map[string]any) { run["tests"] = map[string]any{} }), "run.json: /tests: PK3: "},
		{"path", "no name leads out of a pack", resealed(nil, func(run map[string]any) { run["files"].(map[string]any)["refs/../../x"] = canon.Sum(nil) }),
			"run.json: /files/refs~1..~1..~1x: PK3: a pack has no such file"},
		{"session_path", "nor the place of a session", resealed(nil, func(run map[string]any) { first(run)["session"].(map[string]any)["file"] = "../x" }),
			`run.json: /tests/0/session/file: PK5: names "../x", which is not there`},
		{"session", "MI1 to MI12 hold", resealed(edit(it.Session.File, `"mode":"record"`, `"mode":"RECORD"`), nil),
			it.Session.File + ": /mode: PK8: MI3: mode must be one of [record, replay], got RECORD"},
		{"other_session", "a valid session is that of its records", resealed(edit(it.Session.File, `"latency_ms":`, `"latency_ms":9`), nil),
			it.Session.File + ": PK5: is not what the documents and the receipts of the pack make"},
		{"seal", "the seals of documents hold", resealed(edit(it.Document.File, "gpt-4o", "gpt-4x"), nil), it.Document.File + ": /"},
		{"outcome", "a failed test cannot be made to pass", resealed(edit("tests.receipt", `"outcome":"pass"`, `"outcome":"fail"`), nil),
			"run.json: PK5: is not what the documents and the receipts of the pack make"},
		{"no_receipt", "a test cannot be left out", resealed(write("tests.receipt", ""), nil), it.Document.File + ": PK5: is not what the documents and the receipts of the pack make"},
		{"cut_receipt", "a receipt ends with a line", resealed(edit("tests.receipt", `"mode":"update","store":".ai-snapshots"}`, ""), nil), "tests.receipt: receipts: cannot be read: "},
		{"other_document", "a receipt names what was played", resealed(edit("tests.receipt", `"document":"sha256:`, `"document":"sha256:0`), nil),
			`tests.receipt: receipts: does not agree with the documents: TestIt in example.com/m: openai/example-com-m-testit-`},
		{"output_ref", "a call has its own envelope", resealed(nil, func(run map[string]any) {
			calls := first(run)["session"].(map[string]any)["calls"].([]any)
			calls[0].(map[string]any)["output_ref"] = calls[1].(map[string]any)["output_ref"]
		}), "run.json: PK5: is not what the documents and the receipts of the pack make"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "pack")
			require.NoError(t, os.CopyFS(dir, os.DirFS(original)))
			if _, err := os.Stat(filepath.Join(dir, "Run.json")); err == nil && tt.name == "other_case" {
				t.Skip("this file system takes both names for one")
			}
			tt.harm(t, dir)
			report := verify(t, dir)
			require.False(t, report.OK(), tt.why)
			var found []string
			for _, f := range report.Findings {
				found = append(found, f.String())
			}
			require.Contains(t, strings.Join(found, "\n"), tt.want, tt.why)
			require.False(t, report.Answer().OK)
			require.Len(t, report.Answer().Violations, len(report.Findings))
		})
	}
}

// say makes the first call of the test of a run say a text, sealed again; raw answer and session are what they were.
func say(t *testing.T, from pack.Source, text string) (file string) {
	t.Helper()
	name, _, _ := snapshot.ParseID(from.Receipts[1].Recorded[0])
	s, err := from.Store(from.Receipts[1])
	require.NoError(t, err)
	doc, err := s.Load(name, "openai")
	require.NoError(t, err)
	doc.Document.Snapshots[0].Response.Candidates[0].Message.Content[0].Text = &text
	data, err := doc.Document.Write(nil)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(s.Dir(), doc.File()), data, 0o666))
	from.Receipts[1].Document = string(doc.Document.Hash)
	return doc.File()
}

// TestVerifyAnswers: a document that is sealed again, with another text than the raw answer has, is found (design R16).
func TestVerifyAnswers(t *testing.T) {
	from := aRun(t)
	file := say(t, from, "a forgery")
	dir := filepath.Join(t.TempDir(), "pack")
	_, err := pack.Write(dir, from)
	require.NoError(t, err)
	report := verify(t, dir)
	require.False(t, report.OK())
	require.Equal(t, snapshot.RuleAnswer, report.Findings[0].Rule)
	require.Equal(t, "documents/"+file, report.Findings[0].File)
}

// TestReceiptOfDocument: a receipt names what was played, so it does not pass for one of a document that was written since.
func TestReceiptOfDocument(t *testing.T) {
	from := aRun(t)
	was := from.Receipts[1]
	file := say(t, from, "something else")
	from.Receipts[1].Document = was.Document
	_, err := pack.Write(filepath.Join(t.TempDir(), "pack"), from)
	require.ErrorContains(t, err, file+" has the hash sha256:")
	require.ErrorContains(t, err, `, but its receipt names "`+was.Document+`": it was written again since: run the tests again`)

	from = aRun(t)
	last := from.Receipts[1]
	from.Receipts[1].Document = "sha256:of an earlier run of the test, which the last one wrote again"
	from.Receipts = append(from.Receipts, last)
	dir := filepath.Join(t.TempDir(), "pack")
	_, err = pack.Write(dir, from)
	require.NoError(t, err)
	require.Empty(t, verify(t, dir).Findings)
}

// TestStores: tests of several modules are one run, and one pack where their stores say the same of all tests.
func TestStores(t *testing.T) {
	from, other := aRun(t), aRunOf(t, "TestOther")
	one, err := from.Store(from.Receipts[1])
	require.NoError(t, err)
	two, err := other.Store(other.Receipts[1])
	require.NoError(t, err)
	from.Receipts = append(from.Receipts, other.Receipts[1])
	from.Store = func(r usage.Receipt) (*store.Store, error) {
		if r.Test == "TestOther" {
			return two, nil
		}
		return one, nil
	}
	dir := filepath.Join(t.TempDir(), "pack")
	run, err := pack.Write(dir, from)
	require.NoError(t, err)
	require.Len(t, run.Tests, 3)
	require.Empty(t, verify(t, dir).Findings)

	config := `{"budgets":{}}`
	require.NoError(t, os.WriteFile(filepath.Join(two.Dir(), "config.json"), []byte(config), 0o666))
	_, err = pack.Write(dir, from)
	require.ErrorContains(t, err, "the config.json of "+two.Dir()+" is not that of "+one.Dir()+", and a pack has one: make a pack of the tests of each")
	require.NoError(t, os.WriteFile(filepath.Join(one.Dir(), "config.json"), []byte(config), 0o666))
	run, err = pack.Write(dir, from)
	require.NoError(t, err)
	require.Contains(t, run.Files, "config.json")
}

// TestLimits: a snapshot may be larger than a session can hold; run.json names the rule, and the rest is packed.
func TestLimits(t *testing.T) {
	from := aRun(t)
	say(t, from, strings.Repeat("x", session.MaxResponseBytes))
	run, err := pack.Write(filepath.Join(t.TempDir(), "pack"), from)
	require.NoError(t, err)
	require.Nil(t, run.Tests[0].Session)
	require.NotNil(t, run.Tests[0].Document)
	require.Contains(t, run.Tests[0].NoSession, "$.interactions[0].response_content: MI11: response_content size (10000")
}
