package snapshot_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/snapshot"
)

// completeExample is SF "Complete Snapshot Structure", with hashes in place of SF's, which are
// examples of spelling.
const completeExample = `{
  "version": "1.0.0",
  "snapshots": [
    {
      "id": "abc123def456",
      "timestamp": "2026-01-09T10:30:00Z",
      "source": {
        "file": "src/agents/summarizer.py",
        "line": 12,
        "function": "generate_summary"
      },
      "request": {
        "model": "gpt-4-turbo",
        "messages": [
          {
            "role": "system",
            "content": "You are a precise summarization assistant."
          },
          {
            "role": "user",
            "content": "Summarize: AI is transforming software development"
          }
        ],
        "temperature": 0.0,
        "max_tokens": 100,
        "top_p": 1.0,
        "frequency_penalty": 0.0,
        "presence_penalty": 0.0,
        "seed": 42
      },
      "response": {
        "content": "AI is revolutionizing software development through automation.",
        "tokens_used": 12,
        "latency_ms": 450,
        "finish_reason": "stop"
      },
      "hash": "sha256:8ed57ff1fee2f4b09a7e2d78f4d3fd29baf3d59a2ba04f1e0b4adba74e7be4d0"
    }
  ],
  "hash": "sha256:1dbb8c27a2a6b5a9a8f0a1de4c6a9f6aa6b6f2d5a4e4d8c1a8a0b0e7d6c5b4a3"
}`

// validExample is the record of SF "Valid Snapshots" in a document.
const validExample = `{"version": "1.0.0", "snapshots": [{
  "id": "abc123def456",
  "timestamp": "2026-01-09T10:30:00Z",
  "source": {
    "file": "src/agents/summarizer.py",
    "line": 12,
    "function": "generate_summary"
  },
  "request": {
    "model": "gpt-4-turbo",
    "messages": [
      {"role": "user", "content": "Hello"}
    ],
    "temperature": 0.0,
    "max_tokens": 100
  },
  "response": {
    "content": "Hello! How can I help you?",
    "tokens_used": 10,
    "latency_ms": 450,
    "finish_reason": "stop"
  },
  "hash": "sha256:8ed57ff1fee2f4b09a7e2d78f4d3fd29baf3d59a2ba04f1e0b4adba74e7be4d0"
}], "hash": "sha256:1dbb8c27a2a6b5a9a8f0a1de4c6a9f6aa6b6f2d5a4e4d8c1a8a0b0e7d6c5b4a3"}`

// TestExamplesOfSF parses SF's own examples once their hashes are those of their content. They
// are not in canonical order, and spell 0 as 0.0: for parsing that does not matter.
func TestExamplesOfSF(t *testing.T) {
	for name, example := range map[string]string{"complete": completeExample, "valid": validExample} {
		t.Run(name, func(t *testing.T) {
			_, err := snapshot.Parse([]byte(example))
			require.ErrorIs(t, err, snapshot.ErrSeal)

			text := correctHashes(t, example)
			doc, err := snapshot.Parse([]byte(text))
			require.NoError(t, err)
			snap := doc.Snapshots[0]
			require.Equal(t, "abc123def456", snap.ID)
			require.Equal(t, recordedAt, snap.Timestamp)
			require.Equal(t, snapshot.Source{File: "src/agents/summarizer.py", Line: 12, Function: "generate_summary"}, snap.Source)
			require.Equal(t, snapshot.Number("0"), *snap.Request.Temperature)
			require.Equal(t, snapshot.Number("100"), *snap.Request.MaxTokens)
			require.Equal(t, int64(450), snap.Response.LatencyMS)
			require.JSONEq(t, text, string(encode(t, doc)))
		})
	}
}

// correctHashes replaces the hashes of a text with one record by those that Parse asks for.
func correctHashes(t *testing.T, text string) string {
	t.Helper()
	for range 2 {
		_, err := snapshot.Parse([]byte(text))
		var e *snapshot.Error
		if !errors.As(err, &e) {
			break
		}
		for _, v := range e.Violations {
			var stated, computed string
			_, err := fmt.Sscanf(v.Message, "says %s but the content has %s", &stated, &computed)
			require.NoError(t, err, "%v", v)
			text = strings.Replace(text, strings.TrimSuffix(stated, ","), computed, 1)
		}
	}
	return text
}

func TestParseRejectsWithEveryViolation(t *testing.T) {
	text := `{"version":"1.0.0","extra":true,"snapshots":[{"id":7,"timestamp":"now","source":{"line":"12"},
		"request":{"messages":"hi","temperature":"0","seed":null},"response":{"content":null,"usage":{"input":-1}},"hash":"x"}]}`
	_, err := snapshot.Parse([]byte(text))
	require.EqualError(t, err, strings.Join([]string{
		`/extra: unknown: is no member of the format`,
		`/hash: missing: is required`,
		`/snapshots/0/hash: value: must be sha256: and 64 lower-case hexadecimal digits`,
		`/snapshots/0/id: type: must be a string, is a number`,
		`/snapshots/0/request/max_tokens: missing: is required`,
		`/snapshots/0/request/messages: type: must be an array, is a string`,
		`/snapshots/0/request/model: missing: is required`,
		`/snapshots/0/request/seed: type: must be a number, is null`,
		`/snapshots/0/request/temperature: type: must be a number, is a string`,
		`/snapshots/0/response/content: type: must be a string, is null`,
		`/snapshots/0/response/finish_reason: missing: is required`,
		`/snapshots/0/response/latency_ms: missing: is required`,
		`/snapshots/0/response/tokens_used: missing: is required`,
		`/snapshots/0/response/usage/input: value: must be 0 or more, is -1`,
		`/snapshots/0/source/file: missing: is required`,
		`/snapshots/0/source/function: missing: is required`,
		`/snapshots/0/source/line: type: must be an integer, is a string`,
		`/snapshots/0/timestamp: value: must be a time in UTC such as 2026-01-09T10:30:00Z or 2026-01-09T10:30:00.250Z, is "now"`,
	}, "\n"))
}

func TestErrorStaysShort(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"version":"1.0.0","hash":"x","snapshots":[`)
	for range 2_000 {
		b.WriteString(`{"` + strings.Repeat("long", 1000) + `":1},`)
	}
	b.WriteString(`[]]}`)
	_, err := snapshot.Parse([]byte(b.String()))
	var e *snapshot.Error
	require.ErrorAs(t, err, &e)
	require.Greater(t, len(e.Violations), 12_000)
	require.Less(t, len(err.Error()), 10_000)
	require.Contains(t, err.Error(), "more")
}

func TestParseOtherVersion(t *testing.T) {
	for _, version := range []string{"0.9.0", "1.0.1", "2.0.0", "", "1.0.0 "} {
		_, err := snapshot.Parse([]byte(`{"version":"` + version + `","whatever":[]}`))
		require.ErrorIs(t, err, snapshot.ErrVersion)
		require.EqualError(t, err, "/version: version: Snapshot version "+version+" is no longer supported\n   Current version: 1.0.0\n   Re-record all snapshots",
			"SF \"Migration Path\" words it so")
	}
}

func TestParseErrors(t *testing.T) {
	valid := string(encode(t, document(t, record("TestX", 1))))
	for name, c := range map[string]struct {
		why  string
		text string
		is   error
		says string
	}{
		"conflict": {"a merge that was not finished is named as such",
			"{\n" + strings.Replace(valid[2:], "      \"id\"", "<<<<<<< HEAD\n      \"id\"", 1), snapshot.ErrConflict, "conflict: line 5 is a conflict marker of a merge"},
		"crlf-conflict": {"git on Windows writes them so",
			"{\r\n=======\r\n", snapshot.ErrConflict, "line 2"},
		"no-conflict": {"a marker in a string is no line",
			`{"a":"` + "=======" + `"`, nil, "json: offset 14"},
		"seal": {"an altered record",
			strings.Replace(valid, "Hello!", "Hallo!", 1), snapshot.ErrSeal, "/snapshots/0/hash: seal: says sha256:"},
		"response-core": {"an altered answer breaks its own hash too",
			strings.Replace(valid, "Hello!", "Hallo!", 1), snapshot.ErrSeal, "/snapshots/0/response/response_hash: hash: says sha256:"},
		"document-hash": {"an altered document hash",
			valid[:len(valid)-5] + map[bool]string{true: "1", false: "0"}[valid[len(valid)-5] == '0'] + valid[len(valid)-4:], snapshot.ErrSeal, "/hash: hash: says sha256:"},
		"utf-8": {"every reader must take it alike",
			strings.Replace(valid, "Hello!", "Hello\xff", 1), nil, "unicode: offset "},
		"nul":   {"no JSON", "\x00", nil, "json: offset 0"},
		"empty": {"no JSON", "", nil, "json: offset 0"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := snapshot.Parse([]byte(c.text))
			require.ErrorContains(t, err, c.says, c.why)
			for _, sentinel := range []error{snapshot.ErrVersion, snapshot.ErrConflict, snapshot.ErrSeal, snapshot.ErrManifest, snapshot.ErrBlob} {
				require.Equal(t, sentinel == c.is, errors.Is(err, sentinel), "%v: %v", err, sentinel)
			}
		})
	}
	_, err := snapshot.Parse([]byte("{"))
	require.ErrorIs(t, err, canon.ErrSyntax, "the error of canon is wrapped")
}

// TestParseRestoresNumbers holds numbers that a float64 does not hold against what was sent
// (design R1).
func TestParseRestoresNumbers(t *testing.T) {
	snap := record("TestNumbers", 1)
	snap.Request.Seed = number("9223372036854775807")
	snap.Request.TopP = number("1.0")
	snap.Request.MaxTokens = number("1e2")
	snap.Request.Tools = []json.RawMessage{json.RawMessage(`{"maximum": 9223372036854775807, "literal": {"$number": "9223372036854775807"}}`)}
	snap.Request.Messages[0].Content = json.RawMessage(`[{"data": 12345678901234567890}]`)
	snap.Request.ProviderOptions = map[string]json.RawMessage{"id": json.RawMessage(`18446744073709551615`)}
	data := encode(t, document(t, snap))
	for _, want := range []string{
		`"seed": {
          "$number": "9223372036854775807"
        }`,
		`"maximum": {
              "$number": "9223372036854775807"
            }`,
		`"literal": {
              "$$number": "9223372036854775807"
            }`,
		`"top_p": 1`, `"max_tokens": 100`,
	} {
		require.Contains(t, string(data), want)
	}
	doc, err := snapshot.Parse(data)
	require.NoError(t, err)
	got := doc.Snapshots[0].Request
	require.Equal(t, "9223372036854775807", string(*got.Seed))
	require.Equal(t, "1", string(*got.TopP))
	require.Equal(t, "100", string(*got.MaxTokens))
	require.Equal(t, `{"literal":{"$number":"9223372036854775807"},"maximum":9223372036854775807}`, string(got.Tools[0]))
	require.Equal(t, `[{"data":12345678901234567890}]`, string(got.Messages[0].Content))
	require.Equal(t, `18446744073709551615`, string(got.ProviderOptions["id"]))
	require.Equal(t, data, encode(t, doc))
}
