package traceforgetest_test

import (
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/fakeprovider"
	"github.com/traceforge/traceforge-go/internal/tbtest"
	"github.com/traceforge/traceforge-go/modelio"
	"github.com/traceforge/traceforge-go/traceforgetest"
)

// TestWhatDidNotChangeStays records a call again whose request changed, or whose answer did, and says
// what of its record is another (design R4).
func TestWhatDidNotChangeStays(t *testing.T) {
	for _, c := range []struct {
		name, why     string
		prompt        string
		answer        string
		answerStays   bool
		requestStays  bool
		wholeRecordIs bool
	}{
		{"neither", "the record is not rewritten at all", "a", "one", true, true, true},
		{"request", "an answer that says the same keeps its bytes, time, latency and usage", "b", "one", true, false, false},
		{"answer", "a new answer is new in everything", "a", "two", false, true, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newScene(t)
			s.provider.Reply(fakeprovider.Text("one"), fakeprovider.Text(c.answer))
			s.record("TestIt", asks(newChat("a")))
			before := s.records("openai")[0]
			raw := s.files()
			time.Sleep(2 * time.Millisecond)
			s.recordAll("TestIt", asks(newChat(c.prompt)))
			after := s.records("openai")[0]
			require.Equal(t, before.ID, after.ID)
			require.Equal(t, c.wholeRecordIs, before.Hash == after.Hash, c.why)
			require.Equal(t, c.requestStays, *before.Request.Messages[0].Content[0].Text == *after.Request.Messages[0].Content[0].Text)
			if c.answerStays {
				require.Equal(t, before.Response, after.Response, c.why)
				require.Equal(t, before.Timestamp, after.Timestamp, c.why)
				for name := range raw {
					if name != s.document("TestIt") && name != "manifest.json" {
						require.Equal(t, raw[name], s.files()[name], name)
					}
				}
			} else {
				require.NotEqual(t, before.Response.RawOutputRef, after.Response.RawOutputRef)
				require.NotEqual(t, before.Timestamp, after.Timestamp)
			}
			s.requireWhole()
		})
	}
}

// TestLineStays moves a call to another line of its function, which is no change, with a changed
// request, which is one.
func TestLineStays(t *testing.T) {
	s := newScene(t)
	s.record("TestIt", func(tb *tbtest.TB, tf *traceforgetest.Recorder) { asks(newChat("a"))(tb, tf) })
	before := s.records("openai")[0].Source
	require.NotEqual(t, 1, before.Line)
	store, doc := s.open()
	put := storePut(doc)
	put.Document.Snapshots[0].Source.Line = 1
	require.NoError(t, commit(store, put))
	s.record("TestIt", asks(newChat("b")))
	require.Equal(t, 1, s.records("openai")[0].Source.Line)
}

// TestConcurrentRecordingIsDeterministic records calls that are made at once, twice, each time into a
// store of its own: the documents have the same calls in the same order.
func TestConcurrentRecordingIsDeterministic(t *testing.T) {
	const callers = 20
	order := func() (texts []string) {
		s := newScene(t)
		var sent sync.WaitGroup
		sent.Add(callers)
		together := roundTripper(func(r *http.Request) (*http.Response, error) {
			sent.Done()
			sent.Wait() // so that all overlap
			return s.provider.Transport().RoundTrip(r)
		})
		t.Setenv("TRACEFORGE_UPDATE", "1")
		requirePass(t, s.run("TestIt", func(tb *tbtest.TB, tf *traceforgetest.Recorder) {
			var wg sync.WaitGroup
			for i := range callers {
				wg.Go(func() {
					if _, err := send(tf.Client(), newChat(fmt.Sprintf("caller %02d", i))); err != nil {
						tb.Errorf("%v", err)
					}
				})
			}
			wg.Wait()
		}, traceforgetest.Upstream(together)))
		for i, record := range s.records("openai") {
			require.Equal(t, i+1, record.Number())
			texts = append(texts, *record.Request.Messages[0].Content[0].Text)
		}
		return texts
	}
	first := order()
	require.Len(t, first, callers)
	require.IsIncreasing(t, first)
	require.Equal(t, first, order())
}

// TestDocumentMoves makes the first call of a test to another provider: its document moves, with its
// raw answers, and every call keeps its number.
func TestDocumentMoves(t *testing.T) {
	s := newScene(t)
	to := func(host string, c chat) func(*tbtest.TB, *traceforgetest.Recorder) {
		return func(tb *tbtest.TB, tf *traceforgetest.Recorder) {
			_, err := post(tf.Client(), "https://"+host+"/openai/v1/chat/completions", c)
			require.NoError(t, err)
		}
	}
	both := func(first string) func(*tbtest.TB, *traceforgetest.Recorder) {
		return func(tb *tbtest.TB, tf *traceforgetest.Recorder) {
			to(first, newChat("a"))(tb, tf)
			to("api.groq.com", newChat("b"))(tb, tf)
		}
	}
	s.record("TestIt", both("api.openai.com"))
	require.Len(t, s.documents("openai"), 1)
	require.Len(t, s.records("groq"), 1)
	s.record("TestIt", both("api.deepseek.com"))
	require.Empty(t, s.documents("openai"))
	require.Len(t, s.documents("deepseek"), 1)
	require.Equal(t, 1, s.records("deepseek")[0].Number())
	require.Equal(t, 2, s.records("groq")[0].Number())
	requirePass(t, s.replay("TestIt", both("api.deepseek.com")))
	s.requireWhole()

	// A document that another tool left in another directory is found too.
	tb := s.replay("TestIt", func(tb *tbtest.TB, tf *traceforgetest.Recorder) {
		to("api.groq.com", newChat("b"))(tb, tf)
		to("api.deepseek.com", newChat("a"))(tb, tf)
	})
	requirePass(t, tb)
}

// TestCalls proves that a recording and its replay tell of the same calls.
func TestCalls(t *testing.T) {
	s := newScene(t)
	tool := fakeprovider.CallTools(fakeprovider.ToolCall{Name: "look", Arguments: `{"at":"it"}`})
	s.provider.Reply(tool, fakeprovider.Text("seen"))
	look := []any{map[string]any{"type": "function", "function": map[string]any{"name": "look", "parameters": map[string]any{"type": "object"}}}}
	var recorded, replayed []*modelio.Call
	test := func(calls *[]*modelio.Call) func(*tbtest.TB, *traceforgetest.Recorder) {
		return func(tb *tbtest.TB, tf *traceforgetest.Recorder) {
			require.Empty(t, tf.Calls())
			asks(newChat("a").with("tools", look), newChat("b"))(tb, tf)
			*calls = tf.Calls()
		}
	}
	s.record("TestIt", test(&recorded))
	requirePass(t, s.replay("TestIt", test(&replayed)))
	require.Len(t, recorded, 2)
	require.Equal(t, "call_1", recorded[0].Response.Candidates[0].Message.Content[0].ToolRequest.Ref)
	for i := range recorded {
		require.Equal(t, recorded[i].Provider, replayed[i].Provider)
		require.Equal(t, recorded[i].Latency, replayed[i].Latency)
		require.Equal(t, recorded[i].Request.Messages, replayed[i].Request.Messages)
		require.Equal(t, recorded[i].Response.Candidates, replayed[i].Response.Candidates)
	}
}
