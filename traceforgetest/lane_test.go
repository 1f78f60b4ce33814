package traceforgetest_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/fakeprovider"
	"github.com/traceforge/traceforge-go/internal/tbtest"
	"github.com/traceforge/traceforge-go/traceforgetest"
)

// workers is a test whose workers ask the same at once, and go on with their own answers. Each reports what it was
// answered last. All first calls are under way before one is answered, as with a provider that takes its time.
func workers(client func(tf *traceforgetest.Recorder, n int) *http.Client, last []string) func(*tbtest.TB, *traceforgetest.Recorder) {
	return func(t *tbtest.TB, tf *traceforgetest.Recorder) {
		var wg sync.WaitGroup
		for n := range last {
			wg.Go(func() {
				c := newChat("Pick a number")
				for range 3 {
					answer, err := send(client(tf, n), c)
					if err != nil {
						t.Errorf("worker %d: %v", n, err)
						return
					}
					last[n] = answer
					c = c.with("messages", append(c["messages"].([]any), message("assistant", answer), message("user", "Another one")))
				}
			})
		}
		wg.Wait()
	}
}

func message(role, content string) any { return map[string]any{"role": role, "content": content} }

// picky is a provider that answers each call in other words, and the first n calls once all are there.
func picky(s *scene, n int) {
	var count atomic.Int64
	var first sync.WaitGroup
	first.Add(n)
	s.provider.Handle(func(fakeprovider.Call) fakeprovider.Reply {
		number := count.Add(1)
		if number <= int64(n) {
			first.Done()
			first.Wait()
		}
		return fakeprovider.Text(fmt.Sprintf("number %d", number))
	})
}

// TestLane records eight workers that ask the same at once and go on with their own answers. With a lane each, every
// worker gets its own answers in each of 50 replays.
func TestLane(t *testing.T) {
	const n = 8
	s := newScene(t)
	picky(s, n)
	lane := func(tf *traceforgetest.Recorder, n int) *http.Client { return tf.Lane(fmt.Sprintf("worker-%d", n)) }
	recorded := make([]string, n)
	log := s.update("all", "TestIt", workers(lane, recorded)).Logged()
	require.NotContains(t, log, "at once")
	for range 50 {
		replayed := make([]string, n)
		requirePass(t, s.replay("TestIt", workers(lane, replayed)))
		require.Equal(t, recorded, replayed)
	}
	s.requireWhole()
	lanes := map[string]int{}
	for _, record := range s.records("openai") {
		lanes[record.Source.Lane]++
	}
	require.Len(t, lanes, n)
	require.Equal(t, 3, lanes["worker-5"])

	before := s.files()
	requirePass(t, s.update("1", "TestIt", workers(lane, make([]string, n))))
	s.requireFiles(before)
}

// TestEqualRequestsAtOnce records the same workers without lanes: the log names what tells them apart.
func TestEqualRequestsAtOnce(t *testing.T) {
	const n = 8
	s := newScene(t)
	picky(s, n)
	same := func(tf *traceforgetest.Recorder, n int) *http.Client { return tf.Client() }
	tb := s.update("all", "TestIt", workers(same, make([]string, n)))
	requirePass(t, tb)
	require.Contains(t, tb.Logged(), "\n    8 equal requests, of traceforgetest/lane_test.go line ")
	require.Contains(t, tb.Logged(), "were made at once and got different answers: replay gives them to who asks first, "+
		`which may be another caller. Give each a client of its own: tf.Lane("worker-1")`)

	// The same answers to all, and the same request one after the other, are no riddle.
	for _, c := range []struct {
		name, why string
		reply     func(number int64) string
		test      func(*tbtest.TB, *traceforgetest.Recorder)
	}{
		{"equal-answers", "whoever gets which", func(int64) string { return "7" },
			func(t *tbtest.TB, tf *traceforgetest.Recorder) {
				var wg sync.WaitGroup
				for range n {
					wg.Go(func() { asks(newChat("Pick a number"))(t, tf) })
				}
				wg.Wait()
			}},
		{"in-order", "the order tells", func(number int64) string { return fmt.Sprint(number) },
			asks(newChat("Pick a number"), newChat("Pick a number"))},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newScene(t)
			var count atomic.Int64
			s.provider.Handle(func(fakeprovider.Call) fakeprovider.Reply { return fakeprovider.Text(c.reply(count.Add(1))) })
			tb := s.update("all", "TestIt", c.test)
			requirePass(t, tb)
			require.NotContains(t, tb.Logged(), "at once", c.why)
		})
	}
}

// TestEqualRequestsWithIDs asks the same of several conversations at once. Their ids tell the requests apart, so nothing
// is said, but for the requests of one conversation.
func TestEqualRequestsWithIDs(t *testing.T) {
	const url = "https://api.openai.com/v1/responses"
	for _, c := range []struct {
		name  string
		chain func(n int) int // the conversation that the n-th request goes on
		told  bool
	}{
		{"each-its-own", func(n int) int { return n }, false},
		{"all-of-one", func(int) int { return 0 }, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newScene(t)
			var calls atomic.Int64
			var together sync.WaitGroup
			together.Add(2)
			upstream := traceforgetest.Upstream(roundTripper(func(r *http.Request) (*http.Response, error) {
				n := calls.Add(1)
				if n > 2 {
					together.Done()
					together.Wait()
				}
				answer := fmt.Sprintf(`{"id":"resp_%08d","object":"response","status":"completed","model":"m","output":[{"type":"message",
					"id":"msg_%[1]d","role":"assistant","status":"completed","content":[{"type":"output_text","text":"answer %[1]d","annotations":[]}]}]}`, n)
				return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}},
					Body: io.NopCloser(strings.NewReader(answer)), Request: r}, nil
			}))
			t.Setenv("TRACEFORGE_UPDATE", "1")
			tb := s.run("TestIt", func(tb *tbtest.TB, tf *traceforgetest.Recorder) {
				ask := func(body map[string]any) (id string) {
					body["model"], body["temperature"] = "m", 0
					said, err := post(tf.Client(), url, body)
					if err != nil {
						tb.Errorf("%v", err)
						return ""
					}
					return said[strings.Index(said, "resp_"):][:len("resp_00000000")]
				}
				begun := []string{ask(map[string]any{"input": "one"}), ask(map[string]any{"input": "two"})}
				var wg sync.WaitGroup
				for n := range begun {
					wg.Go(func() { ask(map[string]any{"input": "go on", "previous_response_id": begun[c.chain(n)]}) })
				}
				wg.Wait()
			}, upstream)
			requirePass(t, tb)
			require.Equal(t, c.told, strings.Contains(tb.Logged(), "at once"), tb.Logged())
		})
	}
}

// TestLaneThatIsNotRecorded says what became of a call that is recorded in another lane.
func TestLaneThatIsNotRecorded(t *testing.T) {
	in := func(lane string) func(*tbtest.TB, *traceforgetest.Recorder) {
		return func(t *tbtest.TB, tf *traceforgetest.Recorder) {
			client := tf.Client()
			if lane != "" {
				client = tf.Lane(lane)
			}
			_, _ = send(client, newChat("a"))
		}
	}
	for _, c := range []struct{ name, recorded, made, want string }{
		{"none", "", "b", "openai request has no snapshot: it was made in lane b, and is recorded in no lane"},
		{"left", "a", "", "openai request has no snapshot: it was made in no lane, and is recorded in lane a"},
		{"other", "a", "b", "openai request has no snapshot: it was made in lane b, and is recorded in lane a"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newScene(t)
			s.record("TestIt", in(c.recorded))
			requirePass(t, s.replay("TestIt", in(c.recorded)))
			require.Contains(t, s.replay("TestIt", in(c.made)).Logged(), c.want)
			s.record("TestIt", in(c.made))
			require.Len(t, s.records("openai"), 1)
			requirePass(t, s.replay("TestIt", in(c.made)))
		})
	}
}

// TestLanesOfRecordedCalls gives lanes to calls that were recorded without: an update makes no call for it.
func TestLanesOfRecordedCalls(t *testing.T) {
	ask := func(lanes bool) func(*tbtest.TB, *traceforgetest.Recorder) {
		return func(t *tbtest.TB, tf *traceforgetest.Recorder) {
			for n, said := range []string{"a", "b", "b"} {
				client := tf.Client()
				if lanes {
					client = tf.Lane(fmt.Sprint("worker-", n))
				}
				_, _ = send(client, newChat(said))
			}
		}
	}
	s := newScene(t)
	s.record("TestIt", ask(false))
	before, live := s.records("openai"), len(s.provider.Calls())
	require.Contains(t, s.replay("TestIt", ask(true)).Logged(), " (no call is made)")
	tb := s.update("1", "TestIt", ask(true))
	requirePass(t, tb)
	require.Len(t, s.provider.Calls(), live)
	require.Contains(t, tb.Logged(), "3 rekeyed (lane)")
	requirePass(t, s.replay("TestIt", ask(true)))
	for n, record := range s.records("openai") {
		require.Equal(t, fmt.Sprint("worker-", n), record.Source.Lane)
		require.Equal(t, before[n].Response.RawOutputRef, record.Response.RawOutputRef)
		require.Empty(t, record.Response.Stale)
	}
}

func TestLaneName(t *testing.T) {
	s := newScene(t)
	tb := s.run("TestIt", func(t *tbtest.TB, tf *traceforgetest.Recorder) { tf.Lane("worker one") })
	require.Contains(t, tb.Logged(), `traceforge: Lane("worker one"): want at most 32 letters a to z, digits, and . _ -`)
}

// TestLaneDrift holds a changed call of a lane against the record of its lane, though another is more alike.
func TestLaneDrift(t *testing.T) {
	ask := func(first, second string) func(*tbtest.TB, *traceforgetest.Recorder) {
		return func(t *tbtest.TB, tf *traceforgetest.Recorder) {
			_, _ = send(tf.Lane("a"), newChat(first))
			_, _ = send(tf.Lane("b"), newChat(second))
		}
	}
	s := newScene(t)
	s.record("TestIt", ask("Count the red apples in the basket", "Count the green pears in the garden"))
	log := s.replay("TestIt", ask("Count the green pears in the basket", "Count the green pears in the garden")).Logged()
	require.Equal(t, 1, strings.Count(log, "drifted"), log)
	require.Contains(t, log, "- Count the red apples in the basket", log)
}
