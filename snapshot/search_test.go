package snapshot

import (
	"fmt"
	"io"
	"math/bits"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/canon"
)

// manyEntries returns the manifest of n records, two to a test.
func manyEntries(n int) *Manifest {
	m := &Manifest{Version: Version}
	for i := range n {
		id := ID("p", fmt.Sprintf("Test%d", i/2), i%2+1)
		m.Snapshots = append(m.Snapshots, Entry{id, "openai", entryFileOf("openai", id), canon.Sum([]byte(id))})
	}
	slices.SortFunc(m.Snapshots, compareEntries)
	m.Hash = m.combinedHash()
	return m
}

// TestSearchOfADamagedManifest damages a large manifest somewhere: a look-up finds what is listed
// or fails, and never finds anything else.
func TestSearchOfADamagedManifest(t *testing.T) {
	m := manyEntries(600)
	whole := string(m.encode())
	listed := map[string]Entry{}
	for _, e := range m.Snapshots {
		listed[e.File] = e
	}
	dir := t.TempDir()
	file := filepath.Join(dir, manifestName)
	rng := rand.New(rand.NewPCG(5, 6))
	failed := 0
	for name, damage := range map[string]func(lines []string) []string{
		"none": func(lines []string) []string { return lines },
		"swap": func(lines []string) []string {
			i, j := 5+rng.IntN(len(lines)-10), 5+rng.IntN(len(lines)-10)
			lines[i], lines[j] = lines[j], lines[i]
			return lines
		},
		"cut-line": func(lines []string) []string {
			i := rng.IntN(len(lines) - 1)
			lines[i] = lines[i][:rng.IntN(len(lines[i]))]
			return lines
		},
		"long-line": func(lines []string) []string {
			i := rng.IntN(len(lines) - 1)
			lines[i] = strings.Repeat("x", 3*blockSize) + lines[i]
			return lines
		},
		"conflict": func(lines []string) []string {
			i := 5 + rng.IntN(len(lines)-10)
			lines[i] = "<<<<<<< HEAD\n" + lines[i] + "=======\n" + lines[i] + ">>>>>>> theirs\n"
			return lines
		},
		"no-breaks": func(lines []string) []string {
			return append(lines[:5], strings.ReplaceAll(strings.Join(lines[5:], ""), "\n", " "))
		},
	} {
		for range 40 {
			lines := damage(strings.SplitAfter(whole, "\n"))
			require.NoError(t, os.WriteFile(file, []byte(strings.Join(lines, "")), 0o666))
			store := openAt(t, dir)
			for range 10 {
				test := fmt.Sprintf("Test%d", rng.IntN(300))
				entries, err := store.Test("p", test)
				if err != nil {
					failed++
					require.NotEqual(t, "none", name)
					require.NotErrorIs(t, err, errMalformed, "%s: the error says what is wrong", name)
					continue
				}
				for _, e := range entries {
					require.Equal(t, listed[e.File], e)
				}
				if name == "none" {
					require.Len(t, entries, 2)
				}
			}
			require.NoError(t, store.Close())
		}
	}
	require.NotZero(t, failed)
}

// A countedFile counts what is read of a text.
type countedFile struct {
	io.ReaderAt
	reads, bytes int
}

func (f *countedFile) ReadAt(p []byte, off int64) (int, error) {
	f.reads++
	f.bytes += len(p)
	return f.ReaderAt.ReadAt(p, off)
}

func (f *countedFile) Close() error { return nil }

// TestSearchReadsLittle: what a look-up reads grows with the logarithm of the manifest.
func TestSearchReadsLittle(t *testing.T) {
	for _, n := range []int{1000, 100_000} {
		text := string(manyEntries(n).encode())
		for i := range 50 {
			file := &countedFile{ReaderAt: strings.NewReader(text)}
			s := &search{file: file, end: int64(len(text)), buf: make([]byte, blockSize)}
			require.NoError(t, s.open())
			found := 0
			prefix := fmt.Sprintf("openai/test%d-", i*n/100)
			require.NoError(t, s.between(prefix+"1", prefix+":", func(Entry) { found++ }))
			require.Equal(t, 2, found)
			steps := bits.Len(uint(len(text) / blockSize))
			require.LessOrEqual(t, file.reads, 2*steps+5, "of %d entries", n)
			require.LessOrEqual(t, file.bytes, 2*steps*1000+4*blockSize)
		}
	}
}

func TestDiagnoseReplacedManifest(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, manifestName), manyEntries(2).encode(), 0o666))
	root, err := os.OpenRoot(dir)
	require.NoError(t, err)
	require.ErrorContains(t, diagnose(root, errMalformed), "manifest: changed while it was read")
	require.NoError(t, root.Close())
	require.ErrorIs(t, diagnose(root, errMalformed), os.ErrClosed)
}
