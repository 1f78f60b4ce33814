package main

import (
	"bytes"
	"fmt"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/internal/page/pagetest"
	"github.com/traceforge/traceforge-go/internal/store"
	"github.com/traceforge/traceforge-go/snapshot"
)

// On a terminal ls is for people: columns with names, that fit.
func TestListOnTerminal(t *testing.T) {
	dir := filepath.Join(t.TempDir(), ".ai-snapshots")
	require.NoError(t, pagetest.MakeStore(dir, "plain", "other", "turn1", "turn2"))
	listing := func(columns string, args ...string) []string {
		t.Setenv("COLUMNS", columns)
		var stdout bytes.Buffer
		con := newConsole(nil, &stdout, &bytes.Buffer{})
		con.terminal = true
		root := rootCommand(con)
		root.SetArgs(append([]string{"ls", "--dir", dir}, args...))
		require.NoError(t, root.Execute())
		require.NoError(t, con.stdout.Flush())
		return strings.Split(strings.TrimSpace(stdout.String()), "\n")
	}
	lines := listing("200", "--sort", "tokens")
	require.Equal(t, []string{"TEST", "PACKAGE", "CALLS", "MODEL", "IN", "OUT", "AGE", "SIZE"}, strings.Fields(lines[0]), "nothing is stale or pending")
	require.Regexp(t, `^TestPlain +example.com/agents +1  gpt-4o-mini → gpt-4o-mini-2024-07-18 +30 +12 +\d+d +2 kB$`, lines[1])
	require.Regexp(t, `^TestAgent .* 2  gpt-4o-mini → gpt-4o-mini-2024-07-18 +\d+d +5 kB$`, lines[3], "what was not reported is no number")

	for _, line := range listing("72") {
		require.LessOrEqual(t, utf8.RuneCountInString(line), 72, line)
	}
	require.Regexp(t, `(?m)^TestPlain .* gpt-4o.*…`, strings.Join(listing("72"), "\n"))
	require.Regexp(t, `^TEST +PACKAGE +CALL +MODEL`, listing("", "--calls")[0])
}

// TestEntries: the age of a test is that of its oldest call, wherever that stands, and what has no age comes last. A call
// without a model is listed unless a model is asked for.
func TestEntries(t *testing.T) {
	put := refused(2, "dial tcp")
	older := put.Document.Snapshots[0]
	older.ID, older.Timestamp, older.Request.Model = snapshot.ID(put.Name, 2), older.Timestamp.AddDate(0, 0, -1), ""
	put.Document.Snapshots = append(put.Document.Snapshots, older)
	s, err := store.Open(filepath.Join(t.TempDir(), ".ai-snapshots"))
	require.NoError(t, err)
	require.NoError(t, s.Commit(store.Change{Put: []store.Put{put}}))
	rows, err := rowsOf(s, false, func(*entry) bool { return true })
	require.NoError(t, err)
	require.Equal(t, older.Timestamp, *rows[0].Recorded)
	require.Negative(t, orders["age"](rows[0], entry{}))
	require.Positive(t, orders["age"](entry{}, rows[0]))
	for model, want := range map[string]int{"": 2, "m": 1} {
		f := filter{model: regexp.MustCompile(model)}
		rows, err := rowsOf(s, true, f.holds)
		require.NoError(t, err)
		require.Len(t, rows, want, model)
	}
}

// A listing holds nothing of the documents but its lines: here 40 of 100 kB each.
func TestListHoldsNoDocuments(t *testing.T) {
	s, err := store.Open(filepath.Join(t.TempDir(), ".ai-snapshots"))
	require.NoError(t, err)
	var c store.Change
	for i := range 40 {
		doc := pagetest.Document("plain")
		record := &doc.Snapshots[0]
		record.Source.Test = fmt.Sprintf("Test%d", i)
		name := snapshot.DocumentName(record.Source.Package, record.Source.Test)
		record.ID = snapshot.ID(name, 1)
		record.Request.Messages[0] = pagetest.Said("system", strings.Repeat("Be brief. ", 10_000))
		raw := []byte(pagetest.Recordings()["plain"].Body)
		c.Put = append(c.Put, store.Put{Provider: "openai", Name: name, Document: doc, Beside: map[canon.Hash][]byte{canon.Sum(raw): raw}})
	}
	require.NoError(t, s.Commit(c))
	c = store.Change{}
	before := heap()
	rows, err := rowsOf(s, false, func(*entry) bool { return true })
	require.NoError(t, err)
	require.Less(t, heap()-before, int64(500_000))
	require.Len(t, rows, 40)
	require.Greater(t, rows[39].Size.Document, int64(100_000))
}

// heap returns how many bytes are in use.
func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC() // pools keep for one collection what they hold
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
