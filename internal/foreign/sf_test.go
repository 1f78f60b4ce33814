package foreign_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/sebdah/goldie/v2"
	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/foreign"
	"github.com/traceforge/traceforge-go/modelio"
	"github.com/traceforge/traceforge-go/snapshot"
)

// text returns a file of testdata/sf, a store as SF lays it out. SF's own JavaScript computed its hashes.
func text(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata/sf", name))
	require.NoError(t, err)
	return string(data)
}

// TestSFExample: SF's own example becomes a document of ours, with all that it has and nothing else.
func TestSFExample(t *testing.T) {
	var calls []foreign.Call
	for _, name := range []string{"anthropic/xyz789abc123.json", "openai/def789ghi012.json", "openai/abc123def456.json"} {
		doc, err := foreign.ReadSF([]byte(text(t, name)))
		require.NoError(t, err)
		require.False(t, foreign.IsOurs(strings.TrimSuffix(filepath.Base(name), ".json"), doc))
		of, err := foreign.CallsOf(name, filepath.Dir(name), doc)
		require.NoError(t, err)
		calls = append(calls, of...)
	}
	documents := foreign.Documents(calls)
	require.Len(t, documents, 2, "one of each function")
	require.Equal(t, []string{"anthropic/xyz789abc123.json"}, documents[0].Files)
	d := documents[1]
	require.Equal(t, "openai/"+snapshot.DocumentName("src/agents/summarizer.py", "generate_summary")+".json", d.File())
	require.True(t, strings.HasPrefix(d.Name, "agents-summarizer-py-generate-summary-"))
	require.Equal(t, []string{"openai/abc123def456.json", "openai/def789ghi012.json"}, d.Files)
	require.NoError(t, d.Document.Seal())
	require.True(t, foreign.IsOurs(d.Name, d.Document))

	first, second := d.Document.Snapshots[0], d.Document.Snapshots[1]
	require.Equal(t, "gpt-4-turbo", first.Request.Model)
	require.Equal(t, "42", first.Request.Seed.String())
	require.Equal(t, "src/agents/summarizer.py", first.Source.File)
	require.Equal(t, 12, first.Source.Line)
	require.Equal(t, "migrated from openai/abc123def456.json, record abc123def456", first.Source.Origin)
	require.Equal(t, int64(450), first.Response.LatencyMS)
	require.Equal(t, int64(12), *first.Response.TokensUsed)
	require.Empty(t, first.Request.API, "SF does not say which API was called")
	require.Empty(t, first.Response.RawOutputRef)
	require.Equal(t, "2026-01-09T10:30:00Z", first.Timestamp.Format("2006-01-02T15:04:05Z07:00"))

	require.Equal(t, modelio.RoleModel, second.Request.Messages[1].Role, "OpenAI's word is assistant")
	require.Equal(t, modelio.FinishBlocked, second.Response.Candidates[0].FinishReason)
	require.Equal(t, "content_filter", second.Response.Candidates[0].FinishReasonRaw)
}

// TestReadSF: what SF would reject is rejected.
func TestReadSF(t *testing.T) {
	example, plain := text(t, "openai/abc123def456.json"), text(t, "openai/def789ghi012.json")
	cases := []struct{ name, reason, text, want string }{
		{"hash", "the content is not what was sealed", strings.Replace(example, "precise", "sloppy", 1), "/snapshots/0/hash: seal: says"},
		{"bare_hash", "nor is it where the hash has digits alone", strings.Replace(plain, "Hello", "Hullo", 1), "/snapshots/0/hash: seal: says"},
		{"empty_hash", "nothing seals it", regexp.MustCompile(`"hash": "[^"]+"`).ReplaceAllString(plain, `"hash": ""`), "/snapshots/0/hash: seal: says"},
		{"empty_combined", "nothing seals it whole", plain[:strings.LastIndex(plain, `"hash"`)] + `"hash": ""}`, "/hash: hash: says"},
		{"partial", "SF \"Partial capture\"", strings.Replace(example, `"max_tokens": 100,`, ``, 1), "/snapshots/0/request/max_tokens: missing"},
		{"types", "SF \"Invalid types\"", strings.Replace(example, `"temperature": 0.0`, `"temperature": "0.7"`, 1), "/snapshots/0/request/temperature: type"},
		{"older", "no version before the first", strings.Replace(example, "1.0.0", "0.9.0", 1), "Snapshot version 0.9.0 is no longer supported"},
		{"newer", "a newer traceforge wrote it", strings.Replace(example, "1.0.0", "2.0.0", 1), "was written by a newer traceforge"},
		{"role", "no word for a role that anybody knows", strings.Replace(plain, `"assistant"`, `"robot"`, 1), "/snapshots/0/hash: seal: says"},
		{"twice", "a member that is named twice says two things", strings.Replace(plain, `"role": "assistant"`, `"role": "user", "role": "assistant"`, 1), "duplicate"},
		{"cut", "no JSON", example[:100], "json: offset 100"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := foreign.ReadSF([]byte(c.text))
			require.ErrorContains(t, err, c.want, c.reason)
		})
	}
}

// TestOthers: what programs in Python, Node and Rust write as SF leaves it to them is read, in the words of the format. testdata/seal.js
// sealed it as SF's JavaScript does.
func TestOthers(t *testing.T) {
	files, err := filepath.Glob("testdata/others/*.json")
	require.NoError(t, err)
	require.Len(t, files, 21)
	var all bytes.Buffer
	for _, file := range files {
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		doc, err := foreign.ReadSF(data)
		require.NoError(t, err, file)
		read, err := doc.SF()
		require.NoError(t, err, file)
		fmt.Fprintf(&all, "== %s\n%s", filepath.Base(file), read)
		again, err := foreign.ReadSF(read)
		require.NoError(t, err, file)
		twice, err := again.SF()
		require.NoError(t, err, file)
		require.Equal(t, string(read), string(twice), "what is in the words of the format is left")
		for i := range bytes.Index(data, []byte(`"hash"`)) { // what is behind, SF's hash does not cover
			if data[i] >= '0' && data[i] <= '8' { // a digit, in whatever member
				altered := slices.Clone(data)
				altered[i]++
				_, err = foreign.ReadSF(altered)
				require.Error(t, err, "%s: byte %d is not as it was sealed", file, i)
			}
		}
	}
	goldie.New(t).Assert(t, "others", all.Bytes())
}

// TestMembersOfDocument: what is said of a document is kept beside its first record, also where a record has a member of
// that name.
func TestMembersOfDocument(t *testing.T) {
	said := strings.Replace(text(t, "openai/abc123def456.json"), `"version": "1.0.0"`, `"version": "1.0.0", "id": "all", "timestamp": "today"`, 1)
	doc, err := foreign.ReadSF([]byte(said))
	require.NoError(t, err)
	require.Equal(t, "abc123def456", doc.Snapshots[0].ID)
	require.JSONEq(t, `{"document":{"id":"all","timestamp":"today"}}`, string(doc.Snapshots[0].Request.Options["$sf"]))
}

// faults are documents with one fault each, and what says so.
var faults = map[string]string{
	"big_integer":        "/snapshots/0/request/user_id: number",
	"combined":           "/hash: hash",
	"content_number":     "/snapshots/0/request/messages/0/content: type",
	"file_absolute":      "/snapshots/0/source/file: value",
	"file_drive":         "/snapshots/0/source/file: value",
	"file_outside":       "/snapshots/0/source/file: value",
	"file_url":           "/snapshots/0/source/file: value",
	"hash":               "/snapshots/0/hash: seal",
	"ids_twice":          "/snapshots/1/id: duplicate",
	"latency_negative":   "/snapshots/0/response/latency_ms: value",
	"line_zero":          "/snapshots/0/source/line: value",
	"messages_text":      "/snapshots/0/request/messages: type",
	"no_hash":            "/snapshots/0/hash: missing",
	"no_id":              "/snapshots/0/id: missing",
	"no_max_tokens":      "/snapshots/0/request/max_tokens: missing",
	"no_messages":        "/snapshots/0/request/messages: missing",
	"no_reason":          "/snapshots/0/response/finish_reason: type",
	"no_source":          "/snapshots/0/source: missing",
	"prompt_too":         "/snapshots/0/request: value",
	"request_text":       "/snapshots/0/request: type",
	"role":               "/snapshots/0/request/messages/0/role: value",
	"source_text":        "/snapshots/0/source: type",
	"stop_text":          "/snapshots/0/request/stop: type",
	"temperature_range":  "/snapshots/0/request/temperature: value",
	"temperature_text":   "/snapshots/0/request/temperature: type",
	"timestamp_zoneless": "/snapshots/0/timestamp: value",
	"tokens_fraction":    "/snapshots/0/response/tokens_used: type",
	"tool_call_nameless": "/snapshots/0/response/tool_calls/0",
}

// TestFaults: what SF rules out is refused at its place, whoever sealed it.
func TestFaults(t *testing.T) {
	files, err := filepath.Glob("testdata/faults/*.json")
	require.NoError(t, err)
	require.Len(t, files, len(faults))
	for name, want := range faults {
		t.Run(name, func(t *testing.T) {
			_, err := foreign.ReadSF([]byte(text(t, "../faults/"+name+".json")))
			require.ErrorContains(t, err, want)
			var wrong *snapshot.Error
			require.ErrorAs(t, err, &wrong)
			place, rule, _ := strings.Cut(want, ": ")
			require.True(t, rule == "" || len(wrong.Violations) == 1, "one fault: %v", err)
			for _, v := range wrong.Violations {
				require.True(t, strings.HasPrefix(v.Pointer, place), "one place: %v", err)
			}
		})
	}
}

// TestOursIsLeftAlone: a document that a store has as we write it is none to migrate.
func TestOursIsLeftAlone(t *testing.T) {
	data, err := os.ReadFile("../../snapshot/testdata/example-com-shop-testagent-3cfacb63af18.json")
	require.NoError(t, err)
	doc, err := foreign.ReadSF(data)
	require.NoError(t, err)
	require.True(t, foreign.IsOurs("example-com-shop-testagent-3cfacb63af18", doc))
	require.False(t, foreign.IsOurs("testagent-5f0c3a9b1e78", doc))
}
