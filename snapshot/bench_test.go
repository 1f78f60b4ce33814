package snapshot_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/snapshot"
)

// benchStore makes a store with n records of a request of 2 KB and an answer of 1 KB, ten to a
// test.
func benchStore(tb testing.TB, n int) (*snapshot.Store, string) {
	tb.Helper()
	store, dir := newStore(tb)
	prompt, err := json.Marshal(strings.Repeat("Summarize: AI is transforming software development.\n", 32))
	require.NoError(tb, err)
	var change snapshot.Change
	for i := range n {
		body := []byte(fmt.Sprintf(`{"id":%d,"text":%q}`, i, strings.Repeat("answer ", 140)))
		snap := record(fmt.Sprintf("TestBench%05d", i/10), i%10+1)
		snap.Request.Messages = []snapshot.Message{
			{Role: "system", Content: json.RawMessage(`"You are a precise summarization assistant."`)},
			{Role: "user", Content: prompt},
		}
		snap.Response.Content = strings.Repeat("answer ", 30)
		snap.Response.RawOutputRef = canon.Sum(body)
		snap.Response.Status = 200
		snap.Response.Headers = map[string][]string{"content-type": {"application/json"}}
		change.Put = append(change.Put, snapshot.Record{Provider: "openai", Snapshot: snap})
		change.Blobs = append(change.Blobs, body)
	}
	require.NoError(tb, store.Commit(change))
	return store, dir
}

// BenchmarkReplay measures what a replayed call costs here: loading the record, with its
// seal checked, and its blob.
func BenchmarkReplay(b *testing.B) {
	for _, n := range []int{100, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			store, _ := benchStore(b, n)
			var entries []snapshot.Entry
			for e, err := range store.All() {
				require.NoError(b, err)
				entries = append(entries, e)
			}
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				sealed, err := store.Load(entries[i*7919%len(entries)])
				if err != nil {
					b.Fatal(err)
				}
				if _, err := store.Blob(sealed.RawOutputRef); err != nil {
					b.Fatal(err)
				}
				i++
			}
		})
	}
}

// BenchmarkTest measures finding the entries of one test.
func BenchmarkTest(b *testing.B) {
	for _, n := range []int{100, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			store, _ := benchStore(b, n)
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				entries, err := store.Test(testPackage, fmt.Sprintf("TestBench%05d", i*31%(n/10)))
				if err != nil || len(entries) != 10 {
					b.Fatal(err, len(entries))
				}
				i++
			}
		})
	}
}

// BenchmarkCommit measures committing one new record into a store of 3,000.
func BenchmarkCommit(b *testing.B) {
	store, _ := benchStore(b, 3000)
	i := 0
	b.ReportAllocs()
	for b.Loop() {
		snap := record("TestCommit", i+1)
		body := []byte(fmt.Sprint("body ", i))
		snap.Response.RawOutputRef = canon.Sum(body)
		if err := store.Commit(snapshot.Change{Put: []snapshot.Record{{Provider: "openai", Snapshot: snap}}, Blobs: [][]byte{body}}); err != nil {
			b.Fatal(err)
		}
		i++
	}
}

// BenchmarkReplace measures replacing one record, and its blob, in a store of 3,000.
func BenchmarkReplace(b *testing.B) {
	store, _ := benchStore(b, 3000)
	i := 0
	b.ReportAllocs()
	for b.Loop() {
		snap := record("TestBench00007", 1)
		snap.Timestamp = snap.Timestamp.Add(time.Duration(i) * time.Second)
		body := []byte(fmt.Sprint("body ", i))
		snap.Response.RawOutputRef = canon.Sum(body)
		if err := store.Commit(snapshot.Change{Put: []snapshot.Record{{Provider: "openai", Snapshot: snap}}, Blobs: [][]byte{body}}); err != nil {
			b.Fatal(err)
		}
		i++
	}
}

// BenchmarkVerify compares verifying a store with reading and hashing its files.
func BenchmarkVerify(b *testing.B) {
	store, dir := benchStore(b, 10_000)
	var files []string
	require.NoError(b, filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			files = append(files, path)
		}
		return err
	}))
	b.Run("verify", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if found, err := store.Verify(); err != nil || len(found) > 0 {
				b.Fatal(err, found)
			}
		}
	})
	b.Run("limit", func(b *testing.B) {
		for b.Loop() {
			next := make(chan string)
			done := make(chan bool)
			for range 2 {
				go func() {
					for file := range next {
						data, err := os.ReadFile(file)
						if err != nil {
							panic(err)
						}
						sha256.Sum256(data)
					}
					done <- true
				}()
			}
			for _, file := range files {
				next <- file
			}
			close(next)
			<-done
			<-done
		}
	})
}

// BenchmarkParse compares parsing a document with encoding/json validating it.
func BenchmarkParse(b *testing.B) {
	snap := record("TestParse", 1)
	snap.Response.Content = strings.Repeat("answer\n", 1000)
	doc := snapshot.Document{Version: snapshot.Version, Snapshots: []snapshot.Snapshot{*snap}}
	require.NoError(b, doc.Seal())
	data, err := doc.Encode()
	require.NoError(b, err)
	b.Run("parse", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		for b.Loop() {
			if _, err := snapshot.Parse(data); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("valid", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		for b.Loop() {
			if !json.Valid(bytes.TrimSpace(data)) {
				b.Fatal()
			}
		}
	})
}
