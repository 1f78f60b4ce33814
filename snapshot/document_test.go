package snapshot_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/internal/spelling"
	"github.com/traceforge/traceforge-go/internal/tbtest"
	"github.com/traceforge/traceforge-go/modelio"
	"github.com/traceforge/traceforge-go/snapshot"
)

// TestExample checks that the agent in docs/format.md is a document in canonical form.
func TestExample(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("testdata/example-com-shop-testagent-3cfacb63af18.json")
	require.NoError(t, err)
	doc, found := spelling.Examine(data)
	require.Empty(t, found)
	require.Len(t, doc.Snapshots, 4)
	require.Len(t, doc.Snapshots[3].Request.Messages, 8)
	require.Equal(t, "TestAgent", doc.Snapshots[3].Source.Test)
	require.Equal(t, "gpt-4o-mini-2024-07-18", doc.Snapshots[3].Response.Model)
	for i := range doc.Snapshots {
		doc.Snapshots[i].Continues = nil
	}
	require.NoError(t, doc.Seal())
	require.Equal(t, string(data), string(encode(t, doc)))
}

// TestEveryAlteredByteIsFound checks that Examine reports a change of any byte of a document.
func TestEveryAlteredByteIsFound(t *testing.T) {
	t.Parallel()
	records, _ := agent("Be brief.\nAlways.", 2)
	data := encode(t, document(t, records...))
	for i := 0; i < len(data); i += tbtest.Sampled(5, 1) {
		for _, flip := range []byte{1, 2, 32, 128} {
			altered := bytes.Clone(data)
			altered[i] ^= flip
			_, found := spelling.Examine(altered)
			require.NotEmpty(t, found, "byte %d of %q", i, altered[max(0, i-20):min(len(data), i+20)])
		}
	}
}

// TestEveryStructuralChangeIsFound checks that Examine reports any member or element that is missing, duplicated, or
// moved.
func TestEveryStructuralChangeIsFound(t *testing.T) {
	t.Parallel()
	records, _ := agent("Be brief.\nAlways.", 2)
	data := encode(t, document(t, records...))
	lines := strings.SplitAfter(string(data), "\n")
	n := 0
	check := func(edited []string) {
		n++
		text := strings.ReplaceAll(strings.Join(edited, ""), ",\n}", "\n}")
		_, found := spelling.Examine([]byte(text))
		require.NotEmpty(t, found, "%s", text)
	}
	for i := range lines[:len(lines)-1] {
		check(append(append([]string{}, lines[:i]...), lines[i+1:]...))
		check(append(append(append([]string{}, lines[:i]...), lines[i]), lines[i:]...))
		if i > 0 && lines[i] != lines[i-1] {
			check(append(append(append([]string{}, lines[:i-1]...), lines[i], lines[i-1]), lines[i+1:]...))
		}
	}
	require.Greater(t, n, 500)
}

func TestExamineSaysWhatIsSpelledOtherwise(t *testing.T) {
	t.Parallel()
	data := encode(t, document(t, record("TestX", 1)))
	var compact bytes.Buffer
	require.NoError(t, json.Compact(&compact, data))
	for _, c := range []struct {
		name, why string
		text      []byte
		want      string
	}{
		{"compact", "layout", compact.Bytes(), "canonical: differs from what traceforge writes in white space, order or spelling"},
		{"crlf", "line ends", bytes.ReplaceAll(data, []byte("\n"), []byte("\r\n")),
			"canonical: has CRLF line ends: git must not change them, as .gitattributes says"},
	} {
		t.Run(c.name, func(t *testing.T) {
			doc, found := spelling.Examine(c.text)
			require.NotNil(t, doc, c.why)
			require.Len(t, found, 1)
			require.Equal(t, c.want, found[0].String())
		})
	}
}

// TestLayout checks that files have the layout of JSON.stringify, which json.Indent has too.
func TestLayout(t *testing.T) {
	t.Parallel()
	s := record("TestX", 1)
	s.Request.Options = modelio.Object{"a": json.RawMessage(awkward), "b": json.RawMessage(strings.Repeat(`[`, 90) + strings.Repeat(`]`, 90))}
	data := encode(t, document(t, s))
	var compact bytes.Buffer
	require.NoError(t, json.Compact(&compact, data))
	require.Equal(t, string(indented(t, compact.Bytes())), string(data))
}

func TestErrors(t *testing.T) {
	t.Parallel()
	data := string(encode(t, document(t, record("TestX", 1))))
	for _, c := range []struct {
		name, why, text string
		is              error
		want            string
	}{
		{"version", "SF's words", strings.Replace(data, "1.1.0", "0.9.0", 1), snapshot.ErrVersion,
			"/version: version: Snapshot version 0.9.0 is no longer supported\n   Current version: 1.1.0\n   Re-record all snapshots"},
		{"newer", "recording again would take a team's store back", strings.Replace(data, "1.1.0", "2.0.0", 1), snapshot.ErrNewer,
			"/version: newer: Snapshot version 2.0.0 was written by a newer traceforge, and this one reads 1.1.0: " +
				"upgrade (go get -u github.com/traceforge/traceforge-go)"},
		{"signed", "no version", strings.Replace(data, "1.1.0", "+2.0.0", 1), snapshot.ErrVersion,
			"/version: version: Snapshot version +2.0.0 is no longer supported"},
		{"pre-release", "is newer too", strings.Replace(data, "1.1.0", "2.0.0-rc1", 1), snapshot.ErrNewer, "newer"},
		{"newer-too", "a newer version is another version", strings.Replace(data, "1.1.0", "1.1.1", 1), snapshot.ErrVersion, "newer"},
		{"seal", "altered", strings.Replace(data, "Hello!", "Hullo!", 1), snapshot.ErrSeal, "/snapshots/0/hash: seal: says sha256:"},
		{"conflict", "a merge", "{\n<<<<<<< HEAD\n", snapshot.ErrConflict, "conflict: line 2 is a conflict marker of a merge"},
		{"syntax", "an offset", data[:100], canon.ErrSyntax, "json: offset 100: invalid JSON: unexpected end"},
		{"duplicate", "two of a name", strings.Replace(data, `"line": 12`, `"line": 12, "line": 12`, 1), canon.ErrDuplicate,
			`/snapshots/0/source/line: duplicate: offset `},
		{"unicode", "no text", strings.Replace(data, "Hello!", `\ud800`, 1), canon.ErrEncoding, "unicode: offset "},
		{"depth", "too deep", strings.Repeat("[", 2000), canon.ErrDepth, "depth: offset 1000: "},
	} {
		t.Run(c.name, func(t *testing.T) {
			doc, err := snapshot.Parse([]byte(c.text))
			require.Nil(t, doc)
			require.ErrorIs(t, err, c.is, c.why)
			require.ErrorContains(t, err, c.want)
		})
	}
	missing := &snapshot.Error{Violations: []snapshot.Violation{{Rule: snapshot.RuleRaw}}, Err: fs.ErrNotExist}
	require.ErrorIs(t, missing, snapshot.ErrRaw)
	require.ErrorIs(t, missing, fs.ErrNotExist)
	require.NotErrorIs(t, missing, snapshot.ErrSeal)
	require.ErrorIs(t, &snapshot.Error{Violations: []snapshot.Violation{{Rule: snapshot.RuleManifest}}}, snapshot.ErrManifest)
}

// TestErrorsSayTheWayOut checks that an error about a file contains its remedy.
func TestErrorsSayTheWayOut(t *testing.T) {
	t.Parallel()
	for rule, want := range map[string]string{
		snapshot.RuleSeal:     "openai/x.json: /a: seal: x\nway out: restore it with git, or record it again",
		snapshot.RuleManifest: "openai/x.json: /a: manifest: x\nway out: run traceforge repair --manifest",
		snapshot.RuleConflict: "openai/x.json: /a: conflict: x\nway out: run traceforge repair, which merges the records of both sides",
		snapshot.RuleVersion:  "openai/x.json: /a: version: x",
		snapshot.RuleNewer:    "openai/x.json: /a: newer: x",
	} {
		err := &snapshot.Error{File: "openai/x.json", Violations: []snapshot.Violation{{Pointer: "/a", Rule: rule, Message: "x"}}}
		require.EqualError(t, err, want)
	}
	many := &snapshot.Error{Violations: make([]snapshot.Violation, 30)}
	require.True(t, strings.HasSuffix(many.Error(), "and 10 more"))
}

// TestWhatCannotBeWritten checks that errors of Seal and Write name the place in the file.
func TestWhatCannotBeWritten(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, why string
		change    func(*snapshot.Snapshot)
		want      string
	}{
		{"raw", "no JSON", func(s *snapshot.Snapshot) { s.Request.Options = modelio.Object{"a": json.RawMessage("{")} },
			"/snapshots/0/request/provider_options/a: json: offset 1: "},
		{"number", "no number", func(s *snapshot.Snapshot) { s.Request.Seed = number("x") },
			"/snapshots/0/request/seed: type: must be a number, is \"x\""},
		{"message", "a member that a message has not", func(s *snapshot.Snapshot) {
			s.Request.Messages[0].Unknown = modelio.Object{"name": json.RawMessage("1")}
		}, "/snapshots/0/request/messages/0/name: unknown: a message has content, metadata and role"},
		{"encoding", "no text", func(s *snapshot.Snapshot) { s.Request.Messages[0].Content[0].Text = ptr("\xff") },
			"/snapshots/0/request/messages/0/content: unicode: must be valid UTF-8"},
		{"two-kinds", "a part of two kinds", func(s *snapshot.Snapshot) {
			s.Request.Messages[0].Content[0].Reasoning = ptr("x")
		}, "/snapshots/0/request/messages/0/content/0: value: must be a part of one kind"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := record("TestX", 1)
			c.change(&s)
			doc := &snapshot.Document{Version: snapshot.Version, Snapshots: []snapshot.Snapshot{s}}
			require.ErrorContains(t, doc.Seal(), c.want, c.why)
		})
	}
	t.Run("other-test", func(t *testing.T) {
		one, two := record("TestX", 1), record("TestX", 2)
		two.Source.Test = "TestY"
		doc := &snapshot.Document{Version: snapshot.Version, Snapshots: []snapshot.Snapshot{one, two}}
		require.ErrorContains(t, doc.Seal(), "/snapshots/1/source: value: must be of the package and the test of the document's first record")
	})
	t.Run("write", func(t *testing.T) {
		doc := document(t, record("TestX", 1))
		doc.Snapshots[0].Source.Line = 0
		_, err := doc.Write(nil)
		var e *snapshot.Error
		require.True(t, errors.As(err, &e))
		require.Equal(t, []place{{"/snapshots/0/source/line", "value"}}, places(e.Violations))
	})
}

func TestRequestCore(t *testing.T) {
	t.Parallel()
	request := record("TestX", 1).Request
	request.Messages = []modelio.Message{text(modelio.RoleUser, "a\nb"), {Role: modelio.RoleUser, Content: []modelio.Part{
		{Text: ptr("x"), Metadata: modelio.Object{"id": json.RawMessage(`1`)}}, {Text: ptr("y"), Metadata: modelio.Object{"id": json.RawMessage(`2`)}},
	}}}
	request.Options = modelio.Object{"n": json.RawMessage("9007199254740993"), "10": json.RawMessage(`{"b":1, "a":"c\nd"}`), "9": json.RawMessage("1.0")}
	for _, c := range []struct {
		name, why string
		ignored   []string
		want      string
	}{
		{"whole", "texts joined, numbers kept, names in canonical order", nil,
			`{"max_tokens":100,"messages":[{"content":"a\nb","role":"user"},{"content":[{"metadata":{"id":1},"text":"x"},{"metadata":{"id":2},"text":"y"}],"role":"user"}],` +
				`"model":"gpt-4-turbo","provider_options":{"10":{"a":"c\nd","b":1},"9":1,"n":{"$number":"9007199254740993"}},"temperature":0}`},
		{"ignored", "members and elements", []string{"/messages/1", "/provider_options/10/a", "/provider_options/n", "/nothing", "/model/x"},
			`{"max_tokens":100,"messages":[{"content":"a\nb","role":"user"}],"model":"gpt-4-turbo","provider_options":{"10":{"b":1},"9":1},"temperature":0}`},
		{"element", "* is every element", []string{"/messages/*/content/*/metadata", "/provider_options", "/messages/0"},
			`{"max_tokens":100,"messages":[{"content":[{"text":"x"},{"text":"y"}],"role":"user"}],"model":"gpt-4-turbo","temperature":0}`},
		{"members", "* names a member only if that is its name", []string{"/provider_options/*", "/*", "/messages/0", "/messages/0/content"},
			`{"max_tokens":100,"messages":[{"content":[{"metadata":{"id":1},"text":"x"},{"metadata":{"id":2},"text":"y"}],"role":"user"}],` +
				`"model":"gpt-4-turbo","provider_options":{"10":{"a":"c\nd","b":1},"9":1,"n":{"$number":"9007199254740993"}},"temperature":0}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := snapshot.RequestCore(&request, c.ignored)
			require.NoError(t, err)
			require.Equal(t, c.want, string(got), c.why)
		})
	}
	_, err := snapshot.RequestCore(&request, []string{""})
	require.ErrorContains(t, err, "the empty pointer names the whole request")
	_, err = snapshot.RequestCore(&request, []string{"x"})
	require.ErrorContains(t, err, "does not begin with a slash")
}

func TestResponseCore(t *testing.T) {
	t.Parallel()
	r := answered(modelio.TextPart("a\nb"))
	r.Candidates[0].FinishReasonRaw = "end_turn"
	r.Model = "m"
	got, err := snapshot.ResponseCore(&r)
	require.NoError(t, err)
	require.Equal(t, `{"content":"a\nb","finish_reason":"stop"}`, string(got))
	failed := snapshot.Response{Status: 500}
	failed.Error = &modelio.ProviderError{Status: 500, Message: "no"}
	got, err = snapshot.ResponseCore(&failed)
	require.NoError(t, err)
	require.Equal(t, `{"content":"","error":{"message":"no","status":500},"finish_reason":"other"}`, string(got))
}

// TestCustomCall checks a document with a call in a custom part, whose input is written as it is read again.
func TestCustomCall(t *testing.T) {
	t.Parallel()
	call := modelio.Object{
		"type": json.RawMessage(`"computer_call"`), "call_id": json.RawMessage(`"call_1"`), "status": json.RawMessage(`"completed"`),
		"action": json.RawMessage(`{ "y" : 1.0, "x" : 12345678901234567890, "text" : "\u0061 \n" }`),
	}
	s := record("TestCustomCall", 1)
	s.Response = answered(modelio.Part{Custom: call})
	doc := document(t, s)
	require.Contains(t, string(encode(t, doc)), `"name": "computer_call"`)
	requireCanonical(t, doc)
}
