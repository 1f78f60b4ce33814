package bench

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/internal/store"
	"github.com/traceforge/traceforge-go/snapshot"
)

// storeOf returns a directory with a store of tests of one call each, and the calls. It records the first ones and
// copies the others from them in few commits, since other benchmarks measure recording.
func storeOf(b *testing.B, n int) (string, []call) {
	b.Helper()
	dir := b.TempDir()
	calls := chats(n, 2<<10, 1<<10)
	recorded := min(n, 100)
	for i := range recorded {
		traceforge.record(b, dir, testName(i), calls[i:i+1])
	}
	s, err := store.Open(filepath.Join(dir, ".ai-snapshots"))
	if err != nil {
		b.Fatal(err)
	}
	files, err := s.List()
	if err != nil {
		b.Fatal(err)
	}
	var docs []*store.Doc
	for _, file := range files {
		doc, err := s.Load(strings.TrimSuffix(filepath.Base(file), ".json"), "openai")
		if err != nil {
			b.Fatal(err)
		}
		docs = append(docs, doc)
	}
	var change store.Change
	for i := recorded; i < n; i++ {
		change.Put = append(change.Put, copyOf(docs[i%recorded], i, calls[i]))
		if len(change.Put) == 1000 || i == n-1 {
			if err := s.Commit(change); err != nil {
				b.Fatal(err)
			}
			change.Put = nil
		}
	}
	if err := exec.Command("sync").Run(); err != nil { // else the kernel writes these files while they are measured
		b.Fatal(err)
	}
	return dir, calls
}

// copyOf returns the document of the n-th test, copied from another test's. Each message of its call begins with n.
func copyOf(doc *store.Doc, n int, c call) store.Put {
	record := doc.Document.Snapshots[0]
	record.Source.Test = testName(n)
	name := snapshot.DocumentName(record.Source.Package, record.Source.Test)
	record.ID = snapshot.ID(name, 1)
	record.Request.Messages = slices.Clone(record.Request.Messages)
	for i := range record.Request.Messages {
		m := &record.Request.Messages[i]
		m.Content = slices.Clone(m.Content)
		_, words, _ := strings.Cut(*m.Content[0].Text, " ")
		text := fmt.Sprint(n, " ", words)
		m.Content[0].Text = &text
	}
	record.Response.RawOutputRef = canon.Sum(c.answer)
	return store.Put{
		Provider: doc.Provider, Name: name, Beside: map[canon.Hash][]byte{record.Response.RawOutputRef: c.answer},
		Document: &snapshot.Document{Version: snapshot.Version, Snapshots: []snapshot.Snapshot{record}},
	}
}

// BenchmarkGrowth replays a call in a store of 100 tests and in a store of many.
func BenchmarkGrowth(b *testing.B) {
	few, calls := storeOf(b, 100)
	many, _ := storeOf(b, *tests)
	at := func(name, dir string) contestant {
		return contestant{name: name, run: func() time.Duration {
			start := time.Now()
			for i := range 100 {
				traceforge.play(b, dir, testName(i), nil, calls[i])
			}
			return time.Since(start)
		}}
	}
	add(compete(b, at("100 tests", few), at(ours, many)).row(fmt.Sprintf("replay of a test in a store of %d", *tests), 100, 1.05))
}

// BenchmarkOneChanged records one test again, with another answer, in a store of many tests.
func BenchmarkOneChanged(b *testing.B) {
	dir, calls := storeOf(b, *tests)
	n := 0
	c := compete(b, contestant{name: ours, run: func() time.Duration {
		n++
		changed := call{calls[7].body, answered(1_000_000+n, 1<<10+15*n), "application/json"}
		client, end, err := traceforge.open(dir, testName(7), newMemory([]call{changed}))
		if err != nil {
			b.Fatal(err)
		}
		start := time.Now()
		changed.send(b, client)
		if err := end(); err != nil {
			b.Fatal(err)
		}
		return time.Since(start)
	}})
	took := c.took[ours]
	add(row{work: fmt.Sprintf("one changed answer in a store of %d", *tests), limit: "–", ours: short(took), wanted: "at most 20 ms", met: took <= 20*time.Millisecond})
}

// command builds the command, and returns its path.
func command(b *testing.B) string {
	path := filepath.Join(b.TempDir(), "traceforge")
	if out, err := exec.Command("go", "-C", "../cmd/traceforge", "build", "-o", path, ".").CombinedOutput(); err != nil {
		b.Fatalf("%v: %s", err, out)
	}
	return path
}

// BenchmarkVerify runs the command on a whole store, next to reading and hashing its files with two workers.
func BenchmarkVerify(b *testing.B) {
	verify := command(b)
	dir, _ := storeOf(b, *tests)
	store := filepath.Join(dir, ".ai-snapshots")
	limit := contestant{name: "read and hash", run: func() time.Duration {
		start := time.Now()
		files := make(chan string)
		var all sync.WaitGroup
		for range 2 {
			all.Go(func() {
				var buffer []byte
				for file := range files {
					var err error
					if buffer, err = readInto(buffer, file); err != nil {
						b.Error(err)
					}
					sha256.Sum256(buffer)
				}
			})
		}
		err := filepath.WalkDir(store, func(file string, e fs.DirEntry, err error) error {
			if err == nil && !e.IsDir() {
				files <- file
			}
			return err
		})
		close(files)
		all.Wait()
		if err != nil {
			b.Fatal(err)
		}
		return time.Since(start)
	}}
	var peak int64
	us := contestant{name: ours, run: func() time.Duration {
		start := time.Now()
		most, err := watched(exec.Command(verify, "verify", "--dir", store))
		if err != nil {
			b.Fatal(err)
		}
		peak = max(peak, most)
		return time.Since(start)
	}}
	r := compete(b, limit, us).row(fmt.Sprintf("verify %d", *tests), 1, 1.3)
	add(r.also(float64(peak)/1e6, 100, "MB"))
}

// watched runs a command and returns its peak memory.
func watched(cmd *exec.Cmd) (peak int64, err error) {
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	ended := make(chan error)
	go func() { ended <- cmd.Wait() }()
	for {
		select {
		case err := <-ended:
			return peak, err
		case <-time.After(5 * time.Millisecond):
			peak = max(peak, peakOf(cmd.Process.Pid))
		}
	}
}

// peakOf returns the peak memory of a process in bytes, or 0 if the system does not report it. The resource usage of
// the process does not help: it starts with the memory of the parent process.
func peakOf(pid int) int64 {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	_, line, _ := strings.Cut(string(status), "VmHWM:")
	var kilobytes int64
	fmt.Sscan(line, &kilobytes)
	return kilobytes << 10
}

// BenchmarkCanonical measures the canonical form and the hash of a request of 2 KB.
func BenchmarkCanonical(b *testing.B) {
	const times = 1000
	body := encode(chat(1, 2<<10))
	limit := contestant{name: "sha256", run: func() time.Duration {
		start := time.Now()
		for range times {
			sha256.Sum256(body)
		}
		return time.Since(start)
	}}
	us := contestant{name: ours, run: func() time.Duration {
		start := time.Now()
		for range times {
			text, err := canon.JSON(body)
			if err != nil {
				b.Fatal(err)
			}
			canon.Sum(text)
		}
		return time.Since(start)
	}}
	c := compete(b, limit, us)
	speed := float64(len(body)*times) / 1e6 / c.took[ours].Seconds()
	r := c.row("canonical form and hash of 2 KB", times, 0)
	r.ours, r.wanted, r.met = fmt.Sprintf("%.0f MB/s", speed), "500 MB/s", speed >= 500
	add(r)
}

// BenchmarkProcess measures the memory of a process that replays many tests.
func BenchmarkProcess(b *testing.B) {
	dir, calls := storeOf(b, *tests)
	for b.Loop() {
		grew := grown(b, dir, calls)
		add(row{work: fmt.Sprintf("memory after %d tests in one process", *tests), limit: "after 100 tests", ours: fmt.Sprintf("%.1f MB more", grew), wanted: "at most 16 MB", met: grew <= 16})
	}
}

// grown returns the growth in MB of a process that replays all tests of a store, after the first 100.
func grown(b *testing.B, dir string, calls []call) float64 {
	heap := func() float64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return float64(m.HeapInuse)
	}
	run := func(from, to int) {
		for i := from; i < to; i++ {
			traceforge.play(b, dir, testName(i), nil, calls[i])
		}
	}
	run(0, 100)
	before := heap()
	run(100, len(calls))
	return (heap() - before) / 1e6
}
