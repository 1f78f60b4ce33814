package bench

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/traceforge/traceforge-go/traceforgetest"
)

// testName returns the name of a test in a store, which is a subtest of [TestMany].
func testName(n int) string { return fmt.Sprintf("TestMany/%d", n) }

// many is the variable with the task for [TestMany] in its own process: the kind of tests, their number, and the
// directory of their files.
const many = "TRACEFORGE_BENCH_MANY"

// TestMany runs many tests, like a user's test binary, and prints how long they took.
func TestMany(t *testing.T) {
	var kind, dir string
	var n int
	if _, err := fmt.Sscanf(os.Getenv(many), "%s %d %s", &kind, &n, &dir); err != nil {
		t.Skip("it is run by the benchmarks of many tests, in a process of its own")
	}
	calls := chats(n, 2<<10, 1<<10)
	client := &http.Client{Transport: newMemory(calls)}
	var buffer []byte
	start := time.Now()
	for i, c := range calls {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			switch kind {
			case "files":
				var err error
				buffer, err = readInto(buffer, filepath.Join(dir, fmt.Sprint(i)))
				answer, ok := bytes.CutPrefix(buffer, c.body)
				if err != nil || !ok || !bytes.Equal(answer, c.answer) {
					t.Fatal(i, err)
				}
			case "http":
				c.send(t, client)
			case ours:
				c.send(t, traceforgetest.New(t, traceforgetest.Dir(dir)).Client())
			}
		})
	}
	fmt.Printf("took %v\n", time.Since(start))
}

// readInto reads a file into a buffer, and enlarges it if necessary.
func readInto(buffer []byte, file string) ([]byte, error) {
	f, err := os.Open(file)
	if err != nil {
		return buffer, err
	}
	defer f.Close()
	for n := 0; ; {
		read, err := f.Read(buffer[n:cap(buffer)])
		if n += read; err == io.EOF && n < cap(buffer) {
			return buffer[:n], nil
		} else if err != nil && err != io.EOF {
			return buffer, err
		}
		if n == cap(buffer) {
			buffer = slices.Grow(buffer[:n], 4<<10)
		}
	}
}

// manyOf runs [TestMany] in its own process.
func manyOf(b *testing.B, name, kind string, n int, dir string) contestant {
	return contestant{name: name, run: func() time.Duration {
		cmd := exec.Command(os.Args[0], "-test.run", "^TestMany$")
		cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s %d %s", many, kind, n, dir))
		out, err := cmd.CombinedOutput()
		if err != nil {
			b.Fatalf("%v: %s", err, out)
		}
		_, took, _ := strings.Cut(string(out), "took ")
		took, _, _ = strings.Cut(took, "\n")
		d, err := time.ParseDuration(took)
		if err != nil {
			b.Fatalf("%v: %s", err, out)
		}
		return d
	}}
}

// BenchmarkTests measures 1,000 tests that replay a call, next to tests that call a server in memory.
func BenchmarkTests(b *testing.B) {
	const n = 1000
	dir, _ := storeOf(b, n)
	store := filepath.Join(dir, ".ai-snapshots")
	add(compete(b, manyOf(b, "net/http", "http", n, dir), manyOf(b, ours, ours, n, store)).row("1,000 tests of one call", n, 0))
}

// BenchmarkCompare measures many tests that replay a call, next to tests that read a file and compare it.
func BenchmarkCompare(b *testing.B) {
	dir, calls := storeOf(b, *tests)
	files := b.TempDir()
	for i, c := range calls {
		if err := os.WriteFile(filepath.Join(files, fmt.Sprint(i)), append(c.body, c.answer...), 0o666); err != nil {
			b.Fatal(err)
		}
	}
	store := filepath.Join(dir, ".ai-snapshots")
	add(compete(b, manyOf(b, "read and compare", "files", *tests, files), manyOf(b, ours, ours, *tests, store)).row(fmt.Sprintf("compare %d", *tests), *tests, 0))
}

// suite returns the calls of the tests of a user's suite, modelled on charmbracelet's fantasy: 479 tests that make, in
// turn, a plain call, a stream, two plain calls and two streams.
func suite() (tests [][]call) {
	const n = 479
	plain, streamed := chats(2*n, 2<<10, 1<<10), streams(2*n, 40)
	for i := range n {
		of := [][]call{plain, streamed}[i%2]
		tests = append(tests, of[2*i:2*i+1+i/2%2])
	}
	return tests
}

// suiteOf is the variable with the tool for [TestSuite] and the directory of its recordings.
const suiteOf = "TRACEFORGE_BENCH_SUITE"

// TestSuite replays the whole suite, like a user's test binary.
func TestSuite(t *testing.T) {
	name, dir, ok := strings.Cut(os.Getenv(suiteOf), " ")
	if !ok {
		t.Skip("it is run by the benchmark of a suite, in a process of its own")
	}
	for i, calls := range suite() {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			var client *http.Client
			switch name {
			case ours:
				client = traceforgetest.New(t, traceforgetest.Dir(filepath.Join(dir, ".ai-snapshots"))).Client()
			case govcr.name:
				vcr, end, err := govcr.open(dir, t.Name(), nil)
				if err != nil {
					t.Fatal(err)
				}
				defer end()
				client = vcr
			default:
				client = &http.Client{Transport: newMemory(calls)}
			}
			for _, c := range calls {
				c.send(t, client)
			}
		})
	}
}

// BenchmarkSuite measures a whole suite with traceforge and with go-vcr: wall-clock time, processor time, memory, and
// size in the repository.
func BenchmarkSuite(b *testing.B) {
	figures := map[string]string{}
	of := func(name string, record func(dir string)) contestant {
		dir := b.TempDir()
		record(dir)
		var processors []time.Duration
		var most int64
		return contestant{name: name, run: func() time.Duration {
			cmd := exec.Command(os.Args[0], "-test.run", "^TestSuite$")
			cmd.Env = append(os.Environ(), suiteOf+"="+name+" "+dir)
			start := time.Now()
			peak, err := watched(cmd)
			if err != nil {
				b.Fatal(name, err)
			}
			took := time.Since(start)
			most = max(most, peak)
			processors = append(processors, cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime())
			figures[name] = fmt.Sprintf("%s of processors, %.0f MB of memory, %s kept", short(median(processors)), float64(most)/1e6,
				megabytes(float64(sizeOf(b, dir))))
			return took
		}}
	}
	recorded := func(t tool) func(string) {
		return func(dir string) {
			for i, calls := range suite() {
				t.record(b, dir, fmt.Sprintf("TestSuite/%d", i), calls)
			}
		}
	}
	c := compete(b, of("memory", func(string) {}), of(govcr.name, recorded(govcr)), of(ours, recorded(traceforge)))
	r := c.row("a suite of 479 tests, replayed", 1, 0)
	r.limit += ", " + figures["memory"]
	r.peers += ", " + figures[govcr.name]
	r.ours += ", " + figures[ours]
	add(r)
}
