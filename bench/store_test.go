package bench

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/traceforge/traceforge-go/canon"
)

// storeOf records tests of one call each, and returns the directory with the store, and the calls.
func storeOf(b *testing.B, n int) (string, []call) {
	b.Helper()
	dir := b.TempDir()
	calls := chats(n, 2<<10, 1<<10)
	for i := range calls {
		traceforge.record(b, dir, fmt.Sprint("Test", i), calls[i:i+1])
	}
	return dir, calls
}

// BenchmarkCompare is 10,000 tests that replay a call, beside reading a file each and comparing it.
func BenchmarkCompare(b *testing.B) {
	dir, calls := storeOf(b, *tests)
	files := b.TempDir()
	for i, c := range calls {
		if err := os.WriteFile(filepath.Join(files, fmt.Sprint(i)), append(c.body, c.answer...), 0o666); err != nil {
			b.Fatal(err)
		}
	}
	limit := contestant{"read and compare", func() time.Duration {
		start := time.Now()
		for i, c := range calls {
			got, err := os.ReadFile(filepath.Join(files, fmt.Sprint(i)))
			if err != nil || !bytes.Equal(got, append(c.body, c.answer...)) {
				b.Fatal(i, err)
			}
		}
		return time.Since(start)
	}}
	us := contestant{ours, func() time.Duration {
		start := time.Now()
		for i := range calls {
			traceforge.play(b, dir, fmt.Sprint("Test", i), nil, calls[i])
		}
		return time.Since(start)
	}}
	add(compete(b, limit, us).row(fmt.Sprintf("compare %d, in one process", len(calls)), len(calls), 2.2))
}

// BenchmarkGrowth is one replayed call in a store of 100 tests, and in one of many.
func BenchmarkGrowth(b *testing.B) {
	few, calls := storeOf(b, 100)
	many, _ := storeOf(b, *tests)
	at := func(name, dir string) contestant {
		return contestant{name, func() time.Duration {
			start := time.Now()
			for i := range 100 {
				traceforge.play(b, dir, fmt.Sprint("Test", i), nil, calls[i])
			}
			return time.Since(start)
		}}
	}
	add(compete(b, at("100 tests", few), at(ours, many)).row(fmt.Sprintf("replay of a test in a store of %d", *tests), 100, 1.05))
}

// BenchmarkOneChanged records one test again, with another answer, in a store of many.
func BenchmarkOneChanged(b *testing.B) {
	dir, calls := storeOf(b, *tests)
	n := 0
	c := compete(b, contestant{ours, func() time.Duration {
		n++
		changed := call{calls[7].body, answered(1_000_000+n, 1<<10+15*n), "application/json"}
		client, end, err := traceforge.open(dir, "Test7", newMemory([]call{changed}))
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

// BenchmarkVerify is the command over a whole store, beside reading and hashing its files with two workers.
func BenchmarkVerify(b *testing.B) {
	verify := command(b)
	dir, _ := storeOf(b, *tests)
	store := filepath.Join(dir, ".ai-snapshots")
	limit := contestant{"read and hash", func() time.Duration {
		start := time.Now()
		files := make(chan string)
		var all sync.WaitGroup
		for range 2 {
			all.Go(func() {
				for file := range files {
					data, err := os.ReadFile(file)
					if err != nil {
						b.Error(err)
					}
					sha256.Sum256(data)
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
	us := contestant{ours, func() time.Duration {
		start := time.Now()
		cmd := exec.Command(verify, "verify", store)
		if out, err := cmd.CombinedOutput(); err != nil {
			b.Fatalf("%v: %s", err, out)
		}
		peak = max(peak, cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss*1024)
		return time.Since(start)
	}}
	r := compete(b, limit, us).row(fmt.Sprintf("verify %d", *tests), 1, 1.3)
	add(r.also(float64(peak)/1e6, 100, "MB"))
}

// BenchmarkCanonical is the canonical form and the hash of a request of 2 KB.
func BenchmarkCanonical(b *testing.B) {
	const times = 1000
	body := encode(chat(1, 2<<10))
	limit := contestant{"sha256", func() time.Duration {
		start := time.Now()
		for range times {
			sha256.Sum256(body)
		}
		return time.Since(start)
	}}
	us := contestant{ours, func() time.Duration {
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

// BenchmarkProcess is how much memory a process has that replays many tests.
func BenchmarkProcess(b *testing.B) {
	dir, calls := storeOf(b, *tests)
	heap := func() float64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return float64(m.HeapInuse)
	}
	run := func(from, to int) {
		for i := from; i < to; i++ {
			traceforge.play(b, dir, fmt.Sprint("Test", i), nil, calls[i])
		}
	}
	for b.Loop() {
		run(0, 100)
		before := heap()
		run(100, *tests)
		grew := (heap() - before) / 1e6
		add(row{work: fmt.Sprintf("memory after %d tests in one process", *tests), limit: "after 100 tests", ours: fmt.Sprintf("%.1f MB more", grew), wanted: "at most 16 MB", met: grew <= 16})
	}
}
