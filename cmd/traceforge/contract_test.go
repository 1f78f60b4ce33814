package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/internal/store"
	"github.com/traceforge/traceforge-go/snapshot"
)

// TestContractShow shows the run of a call, and no call that the contract has no words for, unless it is the one named.
func TestContractShow(t *testing.T) {
	put := refused(1, "dial tcp")
	call := put.Document.Snapshots[0]
	call.Source.Provenance = snapshot.Provenance{RunID: "run-1", StepID: "step-1", ConfigHash: canon.Sum(nil)}
	embeds := call
	embeds.ID, embeds.Request.API = snapshot.ID(put.Name, 2), "openai.embeddings"
	again := call
	again.ID = snapshot.ID(put.Name, 3)
	put.Document.Snapshots = []snapshot.Snapshot{call, embeds, again}
	dir := filepath.Join(t.TempDir(), ".ai-snapshots")
	s, err := store.Open(dir)
	require.NoError(t, err)
	require.NoError(t, s.Commit(store.Change{Put: []store.Put{put}}))
	tell := func(words ...string) (code int, out, said string) {
		var stdout, stderr bytes.Buffer
		code = traceforge(t.Context(), words, nil, &stdout, &stderr)
		return code, stdout.String(), stderr.String()
	}
	show := func(words ...string) (code int, out, said string) {
		return tell(append([]string{"contract", "show", "--dir", dir}, words...)...)
	}

	code, out, said := show("TestRefused")
	require.Equal(t, exitClean, code, said)
	require.Equal(t, 2, strings.Count(out, "run       run-1\nstep      step-1\nconfig    sha256:"))
	require.Contains(t, out, "\n\ncall      "+again.ID+"\n", "calls are apart")
	require.NotContains(t, out, embeds.ID)

	code, out, said = tell("show", "--receipt", "--dir", dir, "TestRefused")
	require.Equal(t, exitClean, code, said)
	require.Equal(t, 2, strings.Count(out, "\n"), "the same calls, a line each")
	require.NotContains(t, out, embeds.ID)

	code, _, said = show(embeds.ID)
	require.Equal(t, exitTrouble, code)
	require.Contains(t, said, "a call of openai.embeddings is no generation")
	code, out, _ = show("--json", "TestNone")
	require.Equal(t, exitTrouble, code)
	require.Empty(t, out)

	put.Document.Snapshots = []snapshot.Snapshot{embeds}
	require.NoError(t, s.Commit(store.Change{Put: []store.Put{put}}))
	code, out, said = show("TestRefused")
	require.Equal(t, exitClean, code)
	require.Empty(t, out)
	require.Contains(t, said, "no call of TestRefused is a generation: the call contract has no words for it")
}
