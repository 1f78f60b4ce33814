package coverage

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/usage"
)

func TestReceiptRoundTrip(t *testing.T) {
	top, err := os.MkdirTemp("", "receipts")
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(top) }) // Windows keeps the file, which the writer leaves open
	dir := filepath.Join(top, "made", "when needed")
	var w usage.ReceiptWriter
	var all sync.WaitGroup
	for _, name := range []string{"TestA", "TestB", "TestC"} {
		all.Go(func() {
			require.NoError(t, w.Add(dir, usage.Receipt{Package: "example.com/p", Test: name, Outcome: "pass", Played: []string{"a"}}))
		})
	}
	all.Wait()

	files, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, files, 1, "a file for each process")
	require.True(t, strings.HasPrefix(files[0].Name(), "p-"))

	tests, cut, err := ReadReceipts(dir)
	require.NoError(t, err)
	require.Empty(t, cut)
	require.Len(t, tests, 3)
	require.Contains(t, tests, usage.Receipt{Version: usage.ReceiptVersion, Package: "example.com/p", Test: "TestB", Outcome: "pass", Played: []string{"a"}})
}

func TestReadReceipts(t *testing.T) {
	const line = `{"receipt":1,"package":"p","test":"TestA","outcome":"pass","mode":"replay","store":".ai-snapshots"}` + "\n"
	for _, tt := range []struct {
		name, why, text string
		tests           int
		cut             []string
		wrong           string
	}{
		{"empty", "a process that died at once", "", 0, nil, ""},
		{"whole", "what a process that ended left", line + line, 2, nil, ""},
		{"cut", "a process that was killed while it wrote", line + line[:20], 1, []string{"p"}, ""},
		{"first_cut", "of whose package nothing is known", line[:20], 0, nil, ""},
		{"newer", "written by a later harness", strings.Replace(line, "1", "2", 1), 0, nil, "line 1 is of version 2 of receipts, and this command reads 1: it was written by a newer traceforge: upgrade (go get -u "},
		{"broken", "no receipt", line + "text\n", 0, nil, "line 2: invalid character"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			require.NoError(t, os.WriteFile(filepath.Join(dir, "p-1"+usage.ReceiptExtension), []byte(tt.text), 0o666))
			require.NoError(t, os.WriteFile(filepath.Join(dir, "go-test.json"), []byte("is read by others"), 0o666))
			tests, cut, err := ReadReceipts(dir)
			if tt.wrong != "" {
				require.ErrorContains(t, err, tt.wrong, tt.why)
				return
			}
			require.NoError(t, err, tt.why)
			require.Len(t, tests, tt.tests, tt.why)
			require.Equal(t, tt.cut, cut, tt.why)
		})
	}
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "p-1"+usage.ReceiptExtension), []byte(line), 0o666))
	t.Setenv("TRACEFORGE_MAX_BYTES", "20")
	_, _, err := ReadReceipts(dir)
	require.ErrorContains(t, err, "p-1.receipt: has 100 bytes, and at most 20 are read: TRACEFORGE_MAX_BYTES raises the limit")
	_, _, err = ReadReceipts(filepath.Join(t.TempDir(), "nowhere"))
	require.ErrorIs(t, err, os.ErrNotExist)
}
