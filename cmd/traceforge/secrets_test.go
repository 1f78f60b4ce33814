package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/internal/store"
	"github.com/traceforge/traceforge-go/modelio"
	"github.com/traceforge/traceforge-go/snapshot"
)

// TestVerifySecretsLooksEverywhere: in media, in errors of the transport, which have no bytes of an answer, in readings, and in the
// words of a command, in which a quote may be escaped.
func TestVerifySecretsLooksEverywhere(t *testing.T) {
	dir := filepath.Join(t.TempDir(), ".ai-snapshots")
	name := snapshot.DocumentName("example.com/agents", "TestRefused")
	medium := []byte("\x89PNG hunter2-in-a-picture-9f")
	url := fmt.Sprintf("blob:%s;image/png;%d", canon.Sum(medium), len(medium))
	s, err := store.Open(dir)
	require.NoError(t, err)
	require.NoError(t, s.Commit(store.Change{Put: []store.Put{{
		Provider: "openai", Name: name, Beside: map[canon.Hash][]byte{canon.Sum(medium): medium},
		Document: &snapshot.Document{Version: snapshot.Version, Snapshots: []snapshot.Snapshot{{
			ID: snapshot.ID(name, 1), Timestamp: time.Date(2026, 1, 9, 10, 30, 0, 0, time.UTC),
			Source:  snapshot.Source{File: "agent.go", Line: 1, Function: `-- ask 'hunter2-it'\''s-a-command'`, Package: "example.com/agents", Test: "TestRefused"},
			Request: modelio.Request{API: "openai.chat", Model: "m", Messages: []modelio.Message{{Role: modelio.RoleUser, Content: []modelio.Part{modelio.MediaPart("image/png", url)}}}},
			Response: snapshot.Response{Response: modelio.Response{
				Error: &modelio.ProviderError{Type: "transport", Code: "refused", Message: "dial tcp: hunter2-in-an-error-9f"},
			}, Readings: []snapshot.Reading{
				{Kind: "text", Says: "hunter2-in-a-reading-9f"}, {Kind: "text", Says: strings.Repeat("A line.\n", 40) + "hunter2-in-a-line.\nnext-9f"},
			}},
		}}},
	}}}))
	verify := func() (int, string) {
		code, out, said := run("", "verify", "--secrets", "--dir", dir)
		return code, out + said
	}
	code, said := verify()
	require.Equal(t, exitClean, code, said)
	for _, tt := range []struct{ name, value, says string }{
		{"medium", "hunter2-in-a-picture-9f", ".png: secret: the value of DB_PASSWORD: revoke it"},
		{"transport error", "hunter2-in-an-error-9f", "/snapshots/0/response/error/message: secret: the value of DB_PASSWORD in the whole request or the answer"},
		{"reading", "hunter2-in-a-reading-9f", "/snapshots/0/response/readings/0/says: secret: the value of DB_PASSWORD in the whole request or the answer"},
		{"long reading", "hunter2-in-a-line.\nnext-9f", "/snapshots/0/response/readings/1/says: secret: the value of DB_PASSWORD in the whole request or the answer"},
		{"command", "hunter2-it's-a-command", ".json: /snapshots/0/source/function: secret: the value of DB_PASSWORD: revoke it"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Setenv("DB_PASSWORD", tt.value)
			code, said := verify()
			require.Equal(t, exitFindings, code)
			require.Contains(t, said, tt.says)
			require.NotContains(t, said, tt.value)
		})
	}

	// Bytes that a person names by their hash are written as they are, and not into a log.
	show := []string{"show", "--dir", dir, string(canon.Sum(medium))}
	t.Setenv("GITHUB_ACTIONS", "")
	code, shown, said := run("", show...)
	require.Equal(t, exitClean, code, said)
	require.Equal(t, string(medium), shown)
	t.Setenv("GITHUB_ACTIONS", "true")
	code, shown, said = run("", show...)
	require.Equal(t, exitTrouble, code)
	require.Empty(t, shown)
	require.Contains(t, said, fmt.Sprintf("%s is no text: write its %d bytes to a file with traceforge show ", canon.Sum(medium), len(medium)))
	_, shown, _ = run("", append(show, "--raw")...)
	require.Equal(t, string(medium), shown)
}
