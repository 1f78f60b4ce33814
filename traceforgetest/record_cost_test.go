package traceforgetest_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/tbtest"
	"github.com/traceforge/traceforge-go/traceforgetest"
)

// recordTests records n tests, in one store.
func recordTests(t *testing.T, dir string, n int, during func(n int) func(*tbtest.TB, *traceforgetest.Recorder)) {
	t.Helper()
	body := `{"id":"chatcmpl-1","object":"chat.completion","model":"gpt-4o-mini","choices":[{"index":0,` +
		`"message":{"role":"assistant","content":"` + strings.Repeat("word ", 200) + `"},"finish_reason":"stop"}]}`
	upstream := traceforgetest.Upstream(answering(http.Header{"Content-Type": {"application/json"}}, body))
	for i := range n {
		tb := tbtest.Run(fmt.Sprint("Test", i), func(tb *tbtest.TB) {
			during(i)(tb, traceforgetest.New(tb, traceforgetest.Dir(dir), upstream))
		})
		require.False(t, tb.Failed(), tb.Logged())
	}
}

// asking makes one call with a request of about size bytes.
func asking(size int) func(n int) func(*tbtest.TB, *traceforgetest.Recorder) {
	return func(int) func(*tbtest.TB, *traceforgetest.Recorder) {
		return func(tb *tbtest.TB, tf *traceforgetest.Recorder) {
			if _, err := send(tf.Client(), newChat(strings.Repeat("lorem ipsum dolor ", size/18))); err != nil {
				tb.Errorf("%v", err)
			}
		}
	}
}

const recordCostEnv = "TRACEFORGE_TEST_RECORD_COST"

// isAlone reports whether this is the process of a test alone; if not, it runs the test again in one.
func isAlone(t *testing.T) bool {
	t.Helper()
	if os.Getenv(recordCostEnv) != "" {
		return true
	}
	child := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	// The collector, and other processors, take away what pools hold to be used again: 100 KB then allocate from 740 to 911 kB.
	child.Env = append(os.Environ(), recordCostEnv+"=1", "GOGC=off", "GOMAXPROCS=1")
	out, err := child.CombinedOutput()
	t.Log(string(out))
	require.NoError(t, err)
	return false
}

// TestRecordCost bounds what noise does not touch of recording a test: how often and how much it allocates, and how many
// bytes it writes for each that is kept, pending answers, the journal and the manifest included. It does so in a process
// of its own: others that lend keys leave an environment that takes memory each time it is read.
func TestRecordCost(t *testing.T) {
	if !isAlone(t) {
		return
	}
	for _, c := range []struct {
		name    string
		tests   int
		test    func(n int) func(*tbtest.TB, *traceforgetest.Recorder)
		allocs  float64 // a test
		memory  float64 // bytes a test
		written float64 // bytes a byte kept
	}{
		{"2 KB", 100, asking(2 << 10), 1150, 215_000, 4.6},
		{"100 KB", 20, asking(100 << 10), 1150, 880_000, 2.2},
		{"agent of 50 turns", 4, func(int) func(*tbtest.TB, *traceforgetest.Recorder) { return agent(50, "Be kind.\n", false) }, 84_000, 15_500_000, 2.2},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv("TRACEFORGE_UPDATE", "all")
			recordTests(t, filepath.Join(t.TempDir(), ".ai-snapshots"), 1, c.test) // what is made once
			dir := filepath.Join(t.TempDir(), ".ai-snapshots")
			var before, after runtime.MemStats
			wrote := writtenBytes(t)
			runtime.ReadMemStats(&before)
			recordTests(t, dir, c.tests, c.test)
			runtime.ReadMemStats(&after)
			allocs := float64(after.Mallocs-before.Mallocs) / float64(c.tests)
			memory := float64(after.TotalAlloc-before.TotalAlloc) / float64(c.tests)
			t.Logf("%.0f allocations a test, %.0f bytes", allocs, memory)
			if !raced { // the race detector allocates too
				require.LessOrEqual(t, allocs, c.allocs)
				require.LessOrEqual(t, memory, c.memory)
			}
			if wrote < 0 {
				return
			}
			times := float64(writtenBytes(t)-wrote) / float64(bytesIn(t, dir))
			t.Logf("%.2f bytes written a byte kept", times)
			require.LessOrEqual(t, times, c.written)
		})
	}
}

// writtenBytes returns how many bytes the process has written to files; -1 where the system does not tell. Go's own log of the
// files that a test opens does not count: it has their whole names, which are as long as the directory for temporary files.
func writtenBytes(t *testing.T) int64 {
	t.Helper()
	n := countOfIO(t, "wchar: ")
	log := flag.Lookup("test.testlogfile").Value.String()
	if n < 0 || log == "" {
		return n
	}
	files, err := filepath.Glob("/proc/self/fd/*")
	require.NoError(t, err)
	for _, file := range files {
		if name, err := os.Readlink(file); err == nil && strings.HasPrefix(name, log) { // a recording has removed it, and it is open
			info, err := os.Stat(file)
			require.NoError(t, err)
			n -= info.Size()
		}
	}
	return n
}

func countOfIO(t *testing.T, name string) int64 {
	t.Helper()
	text, err := os.ReadFile("/proc/self/io")
	if err != nil {
		return -1
	}
	_, rest, _ := strings.Cut(string(text), name)
	number, _, _ := strings.Cut(rest, "\n")
	n, err := strconv.ParseInt(number, 10, 64)
	require.NoError(t, err)
	return n
}

func bytesIn(t *testing.T, dir string) (n int64) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		if err == nil {
			n += info.Size()
		}
		return err
	}))
	return n
}

// TestRecordSystemCalls bounds what recording a test of one call asks of the system in its store, and holds that it
// leaves no file open.
func TestRecordSystemCalls(t *testing.T) {
	const tests = 20
	if dir := os.Getenv(costDir); dir != "" { // the process that is traced
		n, err := strconv.Atoi(os.Getenv(costCalls))
		require.NoError(t, err)
		recordTests(t, dir, n, asking(2<<10))
		return
	}
	t.Setenv("TRACEFORGE_UPDATE", "all")
	store := func() string { return filepath.Join(t.TempDir(), ".ai-snapshots") }
	few, many := straced(t, store(), 1), straced(t, store(), 1+tests)
	perTest := func(call string) float64 { return float64(many[call]-few[call]) / tests }
	for call, most := range map[string]float64{"openat": 16, "newfstatat": 14, "unlinkat": 5, "getdents64": 5, "renameat": 3, "mkdirat": 2, "write": 6, "fcntl": 8, "replaced": 0} {
		t.Logf("%s: %.2f a test", call, perTest(call))
		require.LessOrEqual(t, perTest(call), most, call)
	}
	require.InDelta(t, perTest("opened"), perTest("close"), 0, "what is opened is closed")
}

// recordAnswer records a test of one call with an answer of the given text, and of further members.
func recordAnswer(t *testing.T, dir, text, members string) {
	t.Helper()
	body := `{"choices":[{"message":{"role":"assistant","content":"` + text + `"},"finish_reason":"stop"}]` + members + `}`
	upstream := traceforgetest.Upstream(answering(http.Header{"Content-Type": {"application/json"}}, body))
	asked, err := json.Marshal(newChat(strings.Repeat("lorem ipsum dolor ", 2<<10/18)))
	require.NoError(t, err)
	tb := tbtest.Run("Test", func(tb *tbtest.TB) {
		client := traceforgetest.New(tb, traceforgetest.Dir(dir), upstream).Client()
		resp, err := client.Post("https://api.openai.com/v1/chat/completions", "application/json", bytes.NewReader(asked))
		if err == nil {
			_, err = io.Copy(io.Discard, resp.Body) // io.ReadAll takes memory by the release of Go
		}
		require.NoError(t, err)
	})
	require.False(t, tb.Failed(), tb.Logged())
}

// TestUpdateSystemCalls holds that a changed answer replaces one file only, the document, which readers must always find:
// some file systems flush a file that replaces another.
func TestUpdateSystemCalls(t *testing.T) {
	if dir := os.Getenv(costDir); dir != "" { // the process that is traced
		recordAnswer(t, dir, "one", "")
		recordAnswer(t, dir, "two", "")
		return
	}
	t.Setenv("TRACEFORGE_UPDATE", "all")
	counts := straced(t, filepath.Join(t.TempDir(), ".ai-snapshots"), 1)
	require.Equal(t, 6, counts["renameat"], "twice the document, the answer and the manifest")
	require.Equal(t, 1, counts["replaced"])
}

// TestRecordMemoryOfAnswer bounds the memory that is allocated to record an answer of many values, for each of its bytes.
// It is parsed once: a further list of its values would take eight.
func TestRecordMemoryOfAnswer(t *testing.T) {
	if !isAlone(t) {
		return
	}
	const values, most = 1 << 17, 20
	t.Setenv("TRACEFORGE_UPDATE", "all")
	_, bytes := cost(func() {
		recordAnswer(t, filepath.Join(t.TempDir(), ".ai-snapshots"), "one", `,"x":[1`+strings.Repeat(",1", values)+`]`)
	})
	times := float64(bytes) / (2 * values)
	t.Logf("%.1f bytes for each byte of the answer", times)
	if !raced { // the race detector allocates too
		require.LessOrEqual(t, times, float64(most))
	}
}
