package bench

import (
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// recording returns a contestant that records calls as a new test in each run. The recordings stay until the end.
func (t tool) recording(b *testing.B, calls []call) contestant {
	dir, n := b.TempDir(), 0
	live := newMemory(calls)
	return contestant{name: t.name, run: func() time.Duration {
		n++
		start := time.Now()
		t.play(b, dir, testName(n), live, calls...)
		return time.Since(start)
	}}
}

// plain makes calls without a tool.
func plain(b *testing.B, calls []call) contestant {
	c := limitOf(b, calls)
	c.name = "plain call"
	return c
}

func BenchmarkRecord2KB(b *testing.B) {
	calls := chats(1, 2<<10, 1<<10)
	c := compete(b, httprr.recording(b, calls), govcr.recording(b, calls), traceforge.recording(b, calls))
	add(c.row("record a test of 2 KB", 1, 20))
}

func BenchmarkRecord100KB(b *testing.B) {
	calls := chats(1, 100<<10, 1<<10)
	c := compete(b, plain(b, calls), httprr.recording(b, calls), govcr.recording(b, calls), traceforge.recording(b, calls))
	add(row{
		work: "record a call of 100 KB", limit: "plain call " + short(c.took["plain call"]), wanted: "at most go-vcr's",
		peers: fmt.Sprintf("httprr %s, go-vcr %s", short(c.took["httprr"]), short(c.took["go-vcr"])),
		ours:  short(c.took[ours]), met: c.took[ours] <= c.took["go-vcr"],
		each: c.took["plain call"], kind: "100 KB",
	})
}

func BenchmarkRecord20MB(b *testing.B) {
	calls := chats(1, 2<<10, 20<<20)
	c := compete(b, plain(b, calls), httprr.recording(b, calls), traceforge.recording(b, calls))
	add(row{
		work: "record an answer of 20 MB", limit: "plain call " + short(c.took["plain call"]), wanted: "at most 200 ms",
		peers: "httprr " + short(c.took["httprr"]), ours: short(c.took[ours]), met: c.took[ours] <= 200*time.Millisecond,
	})
}

// agent returns the calls of an agent. Each request repeats the whole conversation so far.
func agent(turns int, system string) (calls []call) {
	say := func(role, text string) any { return object{"role": role, "content": text} }
	messages := []any{say("system", system)}
	for turn := range turns {
		messages = append(messages, say("user", fmt.Sprintf("turn %d: %s", turn, strings.Repeat("what about it? ", 40))))
		calls = append(calls, call{
			encode(object{"model": "gpt-4o-mini", "temperature": 0, "seed": 42, "messages": messages}), answered(turn, 300), "application/json",
		})
		messages = append(messages, say("assistant", strings.Repeat("dolor sit amet ", 20)))
	}
	return calls
}

func BenchmarkAgent(b *testing.B) {
	const turns = 200
	calls := agent(turns, strings.Repeat("Answer shortly and kindly, and name the order.\n", 20)+"Never guess.")
	drifted := agent(turns, strings.Repeat("Answer shortly and kindly, and name the order.\n", 20)+"Do not guess.")
	c := compete(b, plain(b, calls), httprr.recording(b, calls), govcr.recording(b, calls), traceforge.recording(b, calls))
	add(row{
		work: "agent of 200 turns: record", limit: "plain calls " + short(c.took["plain call"]), wanted: "at most 300 ms",
		peers: fmt.Sprintf("httprr %s, go-vcr %s", short(c.took["httprr"]), short(c.took["go-vcr"])),
		ours:  short(c.took[ours]), met: c.took[ours] <= 300*time.Millisecond,
	})

	dir := b.TempDir()
	for _, t := range []tool{httprr, govcr, traceforge} {
		if err := os.Mkdir(filepath.Join(dir, t.name), 0o777); err != nil {
			b.Fatal(err)
		}
		t.record(b, filepath.Join(dir, t.name), "TestIt", calls)
	}
	said := len(calls[turns-1].body) + turns*len(calls[0].answer)
	kept := map[string]float64{}
	for _, t := range []tool{httprr, govcr, traceforge} {
		kept[t.name] = float64(sizeOf(b, filepath.Join(dir, t.name)))
	}
	beyond := (kept[ours] - float64(said)) / turns
	add(row{
		work: "agent of 200 turns: store", limit: fmt.Sprintf("said once %s", megabytes(float64(said))), wanted: "said once and 1.3 KB a call",
		peers: fmt.Sprintf("httprr %s, go-vcr %s", megabytes(kept["httprr"]), megabytes(kept["go-vcr"])),
		ours:  fmt.Sprintf("%s: %.2g KB a call beyond", megabytes(kept[ours]), beyond/1000), met: beyond <= 1300,
	})

	start := time.Now()
	client, end, err := traceforge.open(filepath.Join(dir, ours), "TestIt", nil)
	if err != nil {
		b.Fatal(err)
	}
	for _, c := range drifted {
		resp, err := client.Post(endpoint, "application/json", strings.NewReader(string(c.body)))
		if err != nil {
			b.Fatal(err)
		}
		if resp.Body.Close(); resp.StatusCode != http.StatusBadRequest {
			b.Fatal(resp.Status)
		}
	}
	if end() == nil {
		b.Fatal("a changed system prompt did not fail")
	}
	took := time.Since(start)
	add(row{work: "agent of 200 turns: drift of each", limit: "–", ours: short(took), wanted: "at most 1 s", met: took <= time.Second})
}

func megabytes(n float64) string { return fmt.Sprintf("%.2f MB", n/1e6) }

// sizeOf returns the total size of the files under dir.
func sizeOf(b *testing.B, dir string) (n int64) {
	b.Helper()
	err := filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		if err == nil {
			n += info.Size()
		}
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	return n
}

// BenchmarkWrite records 10,000 new tests of one call, next to writing the same data to as many files.
func BenchmarkWrite(b *testing.B) {
	n := *tests
	calls := chats(n, 2<<10, 1<<10)
	var kept []byte
	limit := contestant{name: "files", run: func() time.Duration {
		dir := b.TempDir()
		start := time.Now()
		for i, c := range calls {
			kept = append(append(kept[:0], c.body...), c.answer...)
			if err := os.WriteFile(filepath.Join(dir, fmt.Sprint(i)), kept, 0o666); err != nil {
				b.Fatal(err)
			}
		}
		return time.Since(start)
	}}
	from := func(t tool) contestant {
		return contestant{name: t.name, run: func() time.Duration {
			dir := b.TempDir()
			start := time.Now()
			for i := range calls {
				t.record(b, dir, testName(i), calls[i:i+1])
			}
			return time.Since(start)
		}}
	}
	c := compete(b, limit, from(httprr), from(govcr), from(traceforge))
	before := written(b)
	dir := b.TempDir()
	for i := range calls {
		traceforge.record(b, dir, testName(i), calls[i:i+1])
	}
	times := float64(written(b)-before) / float64(sizeOf(b, dir))
	add(c.row(fmt.Sprintf("write %d tests of one call", n), n, 3).also(times, 3, "bytes written a byte kept"))
}

// written returns how many bytes the process has written to files.
func written(b *testing.B) (n int64) {
	text, err := os.ReadFile("/proc/self/io")
	if err != nil {
		b.Skip("the bytes that a process writes are counted on Linux")
	}
	for line := range strings.Lines(string(text)) {
		if _, err := fmt.Sscanf(line, "wchar: %d", &n); err == nil {
			return n
		}
	}
	b.Fatalf("no wchar in %q", text)
	return 0
}
