package traceforgetest_test

import (
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/tbtest"
	"github.com/traceforge/traceforge-go/traceforgetest"
)

// replayBench replays the first calls of what recordBench recorded, as one test that is run in part.
func replayBench(tb testing.TB, dir string, bodies [][]byte, during func(client *http.Client)) {
	tb.Helper()
	test := tbtest.Run("BenchmarkReplay", func(t *tbtest.TB) {
		during(traceforgetest.New(t, traceforgetest.Dir(dir)).Client())
		t.SkipNow() // the other calls are not made
	})
	require.False(tb, test.Failed(), test.Logged())
}

// TestReplayAllocations bounds how often a replayed call of 2 KB allocates, with its client: a copy more in each
// message, or a list more in each core, shows here. 90 are wanted (docs/performance.md), with the share of the document, which
// is 22. In another order no call costs more.
func TestReplayAllocations(t *testing.T) {
	const calls, most = 100, 69
	dir := filepath.Join(t.TempDir(), ".ai-snapshots")
	bodies, answers := benchCalls(2<<10, 2*calls)
	recordBench(t, dir, bodies, answers)
	backwards := slices.Clone(bodies)
	slices.Reverse(backwards)
	for order, bodies := range map[string][][]byte{"in order": bodies, "backwards": backwards} {
		replayBench(t, dir, bodies, func(client *http.Client) {
			for _, body := range bodies[:calls] { // the document is opened with the first
				timePost(t, client, body)
			}
			a := allocations(func() {
				for _, body := range bodies[calls:] {
					timePost(t, client, body)
				}
			})
			t.Logf("%s: %.1f allocations a call", order, float64(a)/calls)
			if !raced { // the race detector allocates too
				require.LessOrEqual(t, a, most*calls, order)
			}
		})
	}
}

func allocations(during func()) int {
	n, _ := cost(during)
	return n
}

// cost tells how often something allocates, and how many bytes. Meanwhile neither the collector nor another processor takes away
// what pools hold to be used again.
func cost(during func()) (allocations, bytes int) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	during()
	runtime.ReadMemStats(&after)
	return int(after.Mallocs - before.Mallocs), int(after.TotalAlloc - before.TotalAlloc)
}

// TestReplayAllocationsOfTest bounds how often a test of one call allocates, from its first line to its end: it finds its
// store, lends keys, reads and checks its document, and proves the answer.
func TestReplayAllocationsOfTest(t *testing.T) {
	const tests, most = 100, 275
	tbtest.Unfiltered(t)
	run := flag.Lookup("test.run").Value.String() // each test compiles a pattern that names subtests
	require.NoError(t, flag.Set("test.run", ""))
	defer flag.Set("test.run", run)
	dir := filepath.Join(t.TempDir(), ".ai-snapshots")
	t.Setenv("TRACEFORGE_UPDATE", "all")
	recordTests(t, dir, tests, asking(2<<10))
	t.Setenv("TRACEFORGE_UPDATE", "")
	recordTests(t, dir, 1, asking(2<<10)) // what is made once
	a := allocations(func() { recordTests(t, dir, tests, asking(2<<10)) })
	for range 2 { // what other tests of the process left running allocates too: the least is what these do
		a = min(a, allocations(func() { recordTests(t, dir, tests, asking(2<<10)) }))
	}
	t.Logf("%.1f allocations a test", float64(a)/tests)
	if !raced {
		require.LessOrEqual(t, a, most*tests)
	}
}

// TestReplayAllocationsOfStream holds that no event of a stream costs memory of its own, when it is served, looked at and
// decoded.
func TestReplayAllocationsOfStream(t *testing.T) {
	const events, most = 2000, 600
	dir := filepath.Join(t.TempDir(), ".ai-snapshots")
	bodies, _ := benchCalls(2<<10, 1)
	recordBench(t, dir, bodies, [][]byte{[]byte(streamOfWords(events))})
	a := allocations(func() {
		replayBench(t, dir, bodies, func(client *http.Client) { timePost(t, client, bodies[0]) })
	})
	t.Logf("%d allocations", a)
	if !raced {
		require.LessOrEqual(t, a, most)
	}
}

// streamOfWords is an answer of many short events.
func streamOfWords(n int) string {
	var answer strings.Builder
	for i := range n {
		fmt.Fprintf(&answer, `data: {"choices":[{"index":0,"delta":{"content":" word%d"}}]}`+"\n\n", i)
	}
	answer.WriteString(`data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}` + "\n\ndata: [DONE]\n\n")
	return answer.String()
}

// TestReplayMemoryOfLongAnswer bounds the memory that is allocated to replay a long answer, for each of its bytes: its file, the
// document's, and its text where that is in pieces there. Of a stream there are the text that programs read in it, and a list of
// its events besides.
func TestReplayMemoryOfLongAnswer(t *testing.T) {
	const size = 4 << 20
	whole := func(text string) string {
		return `{"choices":[{"message":{"role":"assistant","content":"` + strings.Repeat(text, size/len(text)) + `"},"finish_reason":"stop"}]}`
	}
	for name, test := range map[string]struct {
		answer string
		most   float64
	}{
		"in one piece": {whole("dolor sit amet "), 2.3},
		"in pieces":    {whole("All work and no play makes Jack a dull boy. "), 4},
		"in events":    {streamOfWords(size / 70), 4},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), ".ai-snapshots")
			bodies, _ := benchCalls(2<<10, 1)
			recordBench(t, dir, bodies, [][]byte{[]byte(test.answer)})
			_, bytes := cost(func() {
				replayBench(t, dir, bodies, func(client *http.Client) { timePost(t, client, bodies[0]) })
			})
			times := float64(bytes) / float64(len(test.answer))
			t.Logf("%.2f bytes for each byte of the answer", times)
			if !raced {
				require.LessOrEqual(t, times, test.most)
			}
		})
	}
}

const costDir, costCalls = "TRACEFORGE_TEST_COST_DIR", "TRACEFORGE_TEST_COST_CALLS"

// TestReplaySystemCalls bounds what a replayed call asks of the system: it opens the raw answer and nothing else, and
// whatever is recorded besides, it leaves no file open.
func TestReplaySystemCalls(t *testing.T) {
	const records = 20
	bodies, answers := benchCalls(2<<10, records)
	if dir := os.Getenv(costDir); dir != "" { // the process that is traced
		n, err := strconv.Atoi(os.Getenv(costCalls))
		require.NoError(t, err)
		replayBench(t, dir, bodies, func(client *http.Client) {
			for _, body := range bodies[:n] {
				timePost(t, client, body)
			}
		})
		return
	}
	dir := filepath.Join(t.TempDir(), ".ai-snapshots")
	recordBench(t, dir, bodies, answers)
	few, many := straced(t, dir, 1), straced(t, dir, records)
	perCall := func(call string) float64 { return float64(many[call]-few[call]) / (records - 1) }
	for call, most := range map[string]float64{"openat": 1, "close": 1, "read": 1, "newfstatat": 0, "readlinkat": 0} {
		t.Logf("%s: %.2f a call", call, perCall(call))
		require.LessOrEqual(t, perCall(call), most, call)
	}
	require.InDelta(t, perCall("openat"), perCall("close"), 0, "what is opened is closed")
	require.NotZero(t, perCall("openat"), "the answer is read from its file")
}

// TestReplayCostsOfLargeStore holds that a test asks the system for the same, and reads as many bytes, however many tests its
// store has.
func TestReplayCostsOfLargeStore(t *testing.T) {
	if dir := os.Getenv(costDir); dir != "" { // the process that is traced
		recordTests(t, dir, 1, asking(2<<10))
		return
	}
	small, large := filepath.Join(t.TempDir(), ".ai-snapshots"), filepath.Join(t.TempDir(), ".ai-snapshots")
	t.Setenv("TRACEFORGE_UPDATE", "all")
	recordTests(t, small, 1, asking(2<<10))
	recordTests(t, large, 200, asking(2<<10))
	t.Setenv("TRACEFORGE_UPDATE", "")
	read := func(dir string) int64 {
		before := countOfIO(t, "rchar: ")
		recordTests(t, dir, 1, asking(2<<10))
		return countOfIO(t, "rchar: ") - before
	}
	require.InDelta(t, read(small), read(large), 16, "the numbers of the system are in it, which may have a digit more")
	require.Equal(t, straced(t, small, 1), straced(t, large, 1))
}

// The directory and the name of a file that has got its name, or is removed, in the words of strace.
var (
	renamed  = regexp.MustCompile(`renameat\(.*, \d+<(.*>, ".*)"`)
	unlinked = regexp.MustCompile(`unlinkat\(\d+<(.*>, ".*)"`)
)

// straced runs the test again in a process of its own, which finds dir and n in its environment, and returns how often
// that asks the system for what, by the name of the system call. Of those that take a path, or a file that has one, only
// those count that name the store; "opened" are its files and directories that were opened, "replaced" those that others took the name of.
func straced(t *testing.T, dir string, n int) map[string]int {
	t.Helper()
	if _, err := exec.LookPath("strace"); err != nil || runtime.GOOS != "linux" {
		t.Skip("strace is not here: the Debian package of that name has it")
	}
	trace := filepath.Join(t.TempDir(), "trace")
	exe, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), "strace", "-f", "-qq", "-y", "-o", trace, "-e", "trace=%file,%desc", exe, "-test.run=^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), costDir+"="+dir, fmt.Sprint(costCalls, "=", n))
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	text, err := os.ReadFile(trace)
	require.NoError(t, err)
	counts, there := map[string]int{}, map[string]bool{}
	for line := range strings.Lines(string(text)) {
		_, call, _ := strings.Cut(strings.TrimSpace(line), " ")
		name, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(call), "<... "), " resumed>")
		name, _, _ = strings.Cut(name, "(")
		if !strings.Contains(line, filepath.Base(dir)) || strings.Contains(line, "lock.tmp") { // only a slow process writes that file
			continue
		}
		if !strings.Contains(line, "resumed>") { // else it was counted when it began
			counts[name]++
		}
		if at := renamed.FindStringSubmatch(line); at != nil && there[at[1]] {
			counts["replaced"]++
		} else if at != nil {
			there[at[1]] = true
		} else if at := unlinked.FindStringSubmatch(line); at != nil {
			there[at[1]] = false
		}
		if name == "openat" && !strings.Contains(line, " = -1 ") && !strings.Contains(line, "<unfinished") {
			counts["opened"]++
		}
	}
	return counts
}
