package bench

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
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
	server := newMemory(calls)
	start := time.Now()
	for i, c := range calls {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			switch kind {
			case "files":
				got, err := os.ReadFile(filepath.Join(dir, fmt.Sprint(i)))
				if err != nil || !bytes.Equal(got, append(c.body, c.answer...)) {
					t.Fatal(i, err)
				}
			case "http":
				c.send(t, &http.Client{Transport: server})
			case ours:
				c.send(t, traceforgetest.New(t, traceforgetest.Dir(dir)).Client())
			}
		})
	}
	fmt.Printf("took %v\n", time.Since(start))
}

// manyOf runs [TestMany] in a process of its own.
func manyOf(b *testing.B, name, kind string, n int, dir string) contestant {
	return contestant{name, func() time.Duration {
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
	add(compete(b, manyOf(b, "net/http", "http", n, dir), manyOf(b, ours, ours, n, store)).row("1,000 tests of one call", n, 2.2))
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
	add(compete(b, manyOf(b, "read and compare", "files", *tests, files), manyOf(b, ours, ours, *tests, store)).row(fmt.Sprintf("compare %d", *tests), *tests, 2.2))
}
