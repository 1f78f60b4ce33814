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

// testName is the name of a test of a store: it is one that [TestMany] runs.
func testName(n int) string { return fmt.Sprintf("TestMany/%d", n) }

// many says what [TestMany] is to do, in a process of its own: its kind of tests, how many, and where their files are.
const many = "TRACEFORGE_BENCH_MANY"

// TestMany runs many tests, as a test binary of a user does, and prints how long they took.
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

// readInto reads a file into a buffer, which grows where it must.
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

// manyOf runs [TestMany] in a process of its own.
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

// BenchmarkTests is 1,000 tests that replay a call, beside tests that make it to a server in memory.
func BenchmarkTests(b *testing.B) {
	const n = 1000
	dir, _ := storeOf(b, n)
	store := filepath.Join(dir, ".ai-snapshots")
	add(compete(b, manyOf(b, "net/http", "http", n, dir), manyOf(b, ours, ours, n, store)).row("1,000 tests of one call", n, 0))
}

// BenchmarkCompare is many tests that replay a call, beside tests that read a file and compare it.
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
