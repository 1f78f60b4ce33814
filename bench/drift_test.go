package bench

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/traceforge/traceforge-go/traceforgetest"
)

// dialogue returns a function that returns the i-th call of a conversation of short turns, in which each request repeats
// all before it. edit says what changed since it was recorded.
func dialogue(turns int, edit string) func(i int) call {
	say := func(role, text string) string { return string(encode(object{"role": role, "content": text})) }
	system, asks := "Answer shortly.", "turn"
	switch edit {
	case "system":
		system = "Answer shortly, and name the order."
	case "all":
		asks = "What does order cost, of number"
	}
	said := []byte(`{"model":"gpt-4o-mini","temperature":0,"seed":42,"messages":[` + say("system", system))
	var ends []int
	for turn := range turns {
		ask := fmt.Sprintf("%s %d", asks, turn)
		if edit == "middle" && turn == turns/2 {
			ask += ", please"
		}
		said = append(said, ","+say("user", ask)...)
		ends = append(ends, len(said))
		said = append(said, ","+say("assistant", fmt.Sprintf("dolor %d", turn))...)
	}
	return func(i int) call {
		return call{append(bytes.Clone(said[:ends[i]]), "]}"...), answered(i, 60), "application/json"}
	}
}

// An echo answers each request with an answer for its length.
type echo struct{}

func (echo) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	answer := answered(len(body), 60)
	return &http.Response{
		Status: "200 OK", StatusCode: 200, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"Content-Type": {"application/json"}}, ContentLength: int64(len(answer)),
		Body: io.NopCloser(bytes.NewReader(answer)), Request: r,
	}, err
}

// dialogueOf is the variable with the task for [TestDialogue] in its own process: the value of TRACEFORGE_UPDATE, what
// changed, the first call that is made, the number of turns, and the directory of the store.
const dialogueOf = "TRACEFORGE_BENCH_DIALOGUE"

// TestDialogue plays a conversation. Replay of one that changed fails.
func TestDialogue(t *testing.T) {
	var mode, edit, dir string
	var first, turns int
	if _, err := fmt.Sscanf(os.Getenv(dialogueOf), "%s %s %d %d %s", &mode, &edit, &first, &turns, &dir); err != nil {
		t.Skip("it is run by the benchmark of conversations, in a process of its own")
	}
	t.Setenv("TRACEFORGE_UPDATE", mode)
	client := traceforgetest.New(t, traceforgetest.Dir(filepath.Join(dir, ".ai-snapshots")), traceforgetest.Upstream(echo{})).Client()
	call := dialogue(turns, edit)
	for i := first; i < turns; i++ {
		resp, err := client.Post(endpoint, "application/json", bytes.NewReader(call(i).body))
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
	}
}

// dialogueTook runs [TestDialogue], and returns its processor time and memory.
func dialogueTook(b *testing.B, mode, edit string, first, turns int, dir string) string {
	cmd := exec.Command(os.Args[0], "-test.run", "^TestDialogue$")
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s %s %d %d %s", dialogueOf, mode, edit, first, turns, dir))
	var said strings.Builder
	cmd.Stdout, cmd.Stderr = &said, &said
	peak, err := watched(cmd)
	if fails := mode == "0" && edit != "nothing"; (err != nil) != fails {
		b.Fatalf("%v: %s", err, said.String())
	}
	return fmt.Sprintf("%s of processors, %.0f MB of memory", short(cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime()), float64(peak)/1e6)
}

// BenchmarkDialogue measures conversations that changed since they were recorded, in which each call or only the last one
// is made, next to one that did not change.
func BenchmarkDialogue(b *testing.B) {
	const turns = 1000
	dir := b.TempDir()
	dialogueTook(b, "1", "nothing", 0, turns, dir)
	limit := "unchanged " + dialogueTook(b, "0", "nothing", 0, turns, dir)
	for _, edit := range []string{"system", "middle", "all"} {
		work := fmt.Sprintf("conversation of %d calls, %s changed: ", turns, edit)
		add(row{work: work + "replay", limit: limit, ours: dialogueTook(b, "0", edit, 0, turns, dir), wanted: unbound})
		add(row{work: work + "replay of the last", limit: limit, ours: dialogueTook(b, "0", edit, turns-1, turns, dir), wanted: unbound})
		again := b.TempDir()
		if err := os.CopyFS(again, os.DirFS(dir)); err != nil {
			b.Fatal(err)
		}
		add(row{work: work + "update", limit: limit, ours: dialogueTook(b, "1", edit, 0, turns, again), wanted: unbound})
	}
}
