// Package rehearsal records a test many times and replays each recording many times, for tests of results that must be
// the same in all runs.
package rehearsal

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/traceforge/traceforge-go/internal/tbtest"
)

// A Plan says how often a test is recorded, and how often each recording is replayed.
type Plan struct{ Recordings, Replays int }

// A Tally counts the runs that differ.
type Tally struct {
	Recordings, Replays int // the total
	Failed              int // runs that did not pass
	Documents           int // different documents of one program, apart from times
	// why the program itself may produce different documents, which is no failure; "" if it does not
	ByChance string
	Calls    int // replays whose calls differ from those of their recording
	First    string
}

// String returns the counts in one line.
func (c *Tally) String() string {
	return fmt.Sprintf("%d recordings, %d replays: %d failed, %d documents, %d replays with other calls",
		c.Recordings, c.Replays, c.Failed, c.Documents, c.Calls)
}

// Check fails the test if runs differ.
func (c *Tally) Check(t testing.TB) {
	t.Helper()
	t.Log(c)
	if c.Failed > 0 || c.Documents > 1 && c.ByChance == "" || c.Calls > 0 {
		t.Errorf("%s\n%s", c, c.First)
	}
}

func (c *Tally) differs(n *int, format string, args ...any) {
	if *n++; c.First == "" {
		c.First = fmt.Sprintf(format, args...)
	}
}

// Rehearse runs a program according to the plan, with a separate store for each recording. run runs the program in a
// store, in the mode that TRACEFORGE_UPDATE names, and returns its calls as text, and its test.
func (p Plan) Rehearse(t *testing.T, run func(dir, mode string) (calls string, tb *tbtest.TB)) *Tally {
	t.Helper()
	c := &Tally{}
	documents := map[string]string{}
	for range p.Recordings {
		c.Recordings++
		dir := filepath.Join(t.TempDir(), ".ai-snapshots")
		t.Setenv("TRACEFORGE_UPDATE", "1")
		recorded, tb := run(dir, "1")
		if tb.Failed() {
			c.differs(&c.Failed, "recording:\n%s", tb.Logged())
			continue
		}
		text := Timeless(t, dir)
		if _, known := documents[text]; !known {
			documents[text] = recorded
			if len(documents) > 1 && c.First == "" {
				c.First = "another document: " + recorded
				for _, other := range documents {
					c.First += "\n" + other
				}
			}
		}
		t.Setenv("TRACEFORGE_UPDATE", "")
		for range p.Replays {
			c.Replays++
			replayed, tb := run(dir, "")
			switch {
			case tb.Failed():
				c.differs(&c.Failed, "replay:\n%s", tb.Logged())
			case replayed != recorded:
				c.differs(&c.Calls, "recorded %s\nreplayed %s", recorded, replayed)
			}
		}
	}
	c.Documents = len(documents)
	return c
}

// passing matches the parts that differ between recordings: times, hashes that cover them, dates and sizes of answers,
// and ids in raw answers.
var passing = regexp.MustCompile(`(?s)"(timestamp|latency_ms|hash|raw_output_ref)": [^\n]*|"(date|content-length|mcp-session-id)": \[.*?\]|127\.0\.0\.1[:-]\d+`)

// Timeless returns the documents of a store without the parts that passing matches.
func Timeless(t testing.TB, dir string) string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*", "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		all.WriteString(passing.ReplaceAllString(string(text), "…"))
	}
	return all.String()
}

// A Work determines how long concurrent tools run: 0 to 5 ms. It is safe for concurrent use.
type Work struct {
	mu     sync.Mutex
	random *rand.Rand
}

// NewWork returns the work for a seed.
func NewWork(seed int64) *Work { return &Work{random: rand.New(rand.NewSource(seed))} }

// Do sleeps for a random time.
func (w *Work) Do() { time.Sleep(time.Duration(w.Intn(6)) * time.Millisecond) }

// Intn returns a number below n.
func (w *Work) Intn(n int) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.random.Intn(n)
}

// A Tool is a tool call of a model: a tool and a number.
type Tool struct {
	Name string
	N    int
}

// Input returns the input of the tool.
func (t Tool) Input() json.RawMessage { return fmt.Appendf(nil, `{"n":%d}`, t.N) }

// A Model answers chat completions, always with the same text. It calls its tools unless the request already has
// "results".
type Model []Tool

// RoundTrip implements [http.RoundTripper].
func (m Model) RoundTrip(req *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	type object = map[string]any
	message, finish := object{"role": "assistant", "content": "I see"}, "stop"
	if !bytes.Contains(body, []byte("results")) {
		var calls []any
		for i, tool := range m {
			calls = append(calls, object{"id": fmt.Sprintf("call_%d", i), "type": "function",
				"function": object{"name": tool.Name, "arguments": string(tool.Input())}})
		}
		message, finish = object{"role": "assistant", "content": nil, "tool_calls": calls}, "tool_calls"
	}
	text, err := json.Marshal(object{"id": "chatcmpl-1", "object": "chat.completion", "model": "m",
		"choices": []any{object{"index": 0, "finish_reason": finish, "message": message}}})
	if err != nil {
		return nil, err
	}
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}},
		Body: io.NopCloser(bytes.NewReader(text)), Request: req}, nil
}
