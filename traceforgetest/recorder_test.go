package traceforgetest_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/fakeprovider"
	"github.com/traceforge/traceforge-go/internal/tbtest"
	"github.com/traceforge/traceforge-go/modelio"
	"github.com/traceforge/traceforge-go/traceforgetest"
)

// collects is a test that sends chats and keeps the answers.
func collects(answers *[]string, chats ...chat) func(*tbtest.TB, *traceforgetest.Recorder) {
	return func(t *tbtest.TB, tf *traceforgetest.Recorder) {
		for _, c := range chats {
			answer, err := send(tf.Client(), c)
			if err != nil {
				t.Fatalf("%v", err)
			}
			*answers = append(*answers, answer)
		}
	}
}

func requirePass(t *testing.T, tb *tbtest.TB) {
	t.Helper()
	require.False(t, tb.Failed(), tb.Logged())
}

func TestReplayIsByteIdentical(t *testing.T) {
	variants := []struct {
		name, why string
		reply     fakeprovider.Reply
		stream    bool
	}{
		{"whole", "one JSON body", fakeprovider.Text("hello"), false},
		{"stream", "server-sent events", fakeprovider.Text("one two three"), true},
		{"crlf", "lines that end with CR LF, pings and comments", fakeprovider.Reply{Text: "one two", Stream: fakeprovider.Stream{CRLF: true, PingEvery: 1, Comment: "keep"}}, true},
		{"split", "characters cut in the middle", fakeprovider.Reply{Text: "füñf 漢字", Stream: fakeprovider.Stream{WriteSize: 3}}, true},
		{"no-done", "a stream that ends with its finish reason", fakeprovider.Reply{Text: "one", Stream: fakeprovider.Stream{NoDone: true}}, true},
		{"gzip", "a compressed body", fakeprovider.Reply{Text: "hello", Gzip: true}, false},
	}
	for _, v := range variants {
		t.Run(v.name, func(t *testing.T) {
			s := newScene(t)
			s.provider.Reply(v.reply)
			c := newChat("Say something")
			if v.stream {
				c = c.with("stream", true)
			}
			var recorded, replayed []string
			s.record("TestIt", collects(&recorded, c))
			s.provider.Close()
			requirePass(t, s.replay("TestIt", collects(&replayed, c)))
			require.Equal(t, recorded, replayed, v.why)
			s.requireWhole()
		})
	}
}

func TestSameRequestTwiceGetsItsAnswersInOrder(t *testing.T) {
	s := newScene(t)
	s.provider.Reply(fakeprovider.Text("first"), fakeprovider.Text("second"))
	var recorded, replayed []string
	again := newChat("Again")
	s.record("TestIt", collects(&recorded, again, again))
	requirePass(t, s.replay("TestIt", collects(&replayed, again, again)))
	require.Equal(t, recorded, replayed)
	require.Contains(t, replayed[0], "first")
	require.Contains(t, replayed[1], "second")
}

func TestCallsMayComeInAnyOrder(t *testing.T) {
	s := newScene(t)
	var chats []chat
	for i := range 20 {
		chats = append(chats, newChat(fmt.Sprint("number ", i)))
	}
	s.record("TestIt", asks(chats...))
	rand.Shuffle(len(chats), func(i, j int) { chats[i], chats[j] = chats[j], chats[i] })
	var replayed []string
	requirePass(t, s.replay("TestIt", collects(&replayed, chats...)))
	for i, answer := range replayed {
		require.Contains(t, answer, chats[i]["messages"].([]any)[0].(map[string]any)["content"])
	}
}

func TestConcurrentCalls(t *testing.T) {
	const callers = 8
	concurrent := func(t *tbtest.TB, tf *traceforgetest.Recorder) {
		var wg sync.WaitGroup
		for i := range callers {
			wg.Go(func() {
				for turn := range 4 {
					answer, err := send(tf.Client(), newChat(fmt.Sprintf("caller %d turn %d", i, turn)))
					if err != nil || !strings.Contains(answer, fmt.Sprintf("caller %d turn %d", i, turn)) {
						t.Errorf("caller %d: %v: %s", i, err, answer)
					}
				}
			})
		}
		wg.Wait()
	}
	s := newScene(t)
	s.record("TestIt", concurrent)
	before := s.files()
	requirePass(t, s.replay("TestIt", concurrent))
	s.record("TestIt", concurrent)
	s.requireFiles(before)
	s.requireWhole()
}

func TestParallelSubtests(t *testing.T) {
	s := newScene(t)
	for _, mode := range []string{"1", "", "1", ""} {
		var before map[string]string
		if mode != "" {
			before = s.files0()
		}
		t.Setenv("TRACEFORGE_UPDATE", mode)
		var wg sync.WaitGroup
		for i := range 8 {
			wg.Go(func() {
				tb := s.run(fmt.Sprintf("TestIt/%d", i), asks(newChat(fmt.Sprint("sub ", i))), traceforgetest.Upstream(s.provider.Transport()))
				if tb.Failed() {
					t.Error(tb.Logged())
				}
			})
		}
		wg.Wait()
		if len(before) > 0 {
			s.requireFiles(before)
		}
	}
	s.requireWhole()
}

// files0 returns the store's files, none before there is a store.
func (s *scene) files0() map[string]string {
	if len(s.documents("openai")) == 0 {
		return map[string]string{}
	}
	return s.files()
}

func TestSecondUpdateChangesNoFile(t *testing.T) {
	s := newScene(t)
	tool := fakeprovider.CallTools(fakeprovider.ToolCall{Name: "look", Arguments: `{"at":"it"}`})
	tool.Stream.Gap = 0
	agent := func(t *tbtest.TB, tf *traceforgetest.Recorder) {
		turns := newChat("Look at it").with("tools", []any{map[string]any{"type": "function", "function": map[string]any{"name": "look", "parameters": map[string]any{"type": "object"}}}})
		first, err := send(tf.Client(), turns)
		if err != nil {
			t.Fatalf("%v", err)
		}
		id := first[strings.Index(first, `"id":"call_`)+6:]
		id = id[:strings.Index(id, `"`)]
		messages := append(turns["messages"].([]any),
			map[string]any{"role": "assistant", "content": nil, "tool_calls": []any{map[string]any{"id": id, "type": "function", "function": map[string]any{"name": "look", "arguments": `{"at":"it"}`}}}},
			map[string]any{"role": "tool", "tool_call_id": id, "content": "seen"})
		asks(turns.with("messages", messages), newChat("Stream it").with("stream", true))(t, tf)
	}
	s.provider.Reply(tool, fakeprovider.Text("I saw it"))
	s.record("TestIt", agent)
	before := s.files()
	s.provider.Reply(tool, fakeprovider.Text("I saw it"))
	s.record("TestIt", agent)
	s.requireFiles(before)
	requirePass(t, s.replay("TestIt", agent))
}

func TestUpdateRewritesOnlyWhatChanged(t *testing.T) {
	s := newScene(t)
	s.record("TestOther", asks(newChat("other")))
	s.record("TestIt", asks(newChat("a"), newChat("b"), newChat("c")))
	before := s.files()
	s.record("TestIt", asks(newChat("a"), newChat("B!"), newChat("c")))
	after := s.files()
	var changed []string
	for name := range after {
		if before[name] != after[name] {
			changed = append(changed, filepath.Base(name))
		}
	}
	slices.Sort(changed)
	require.Equal(t, []string{"2.json", "manifest.json", filepath.Base(s.document("TestIt"))}, changed)
	require.Len(t, after, len(before))
	s.requireWhole()
}

func TestUpdateRemovesCallsThatAreNotMade(t *testing.T) {
	s := newScene(t)
	s.record("TestIt", asks(newChat("a"), newChat("b")))
	s.record("TestIt", asks(newChat("a")))
	require.Len(t, s.records("openai"), 1)
	s.requireWhole()
	requirePass(t, s.replay("TestIt", asks(newChat("a"))))
}

func TestUpdateNew(t *testing.T) {
	s := newScene(t)
	s.record("TestIt", asks(newChat("a"), newChat("b")))
	var old []string
	for _, record := range s.records("openai") {
		old = append(old, string(record.Hash))
	}

	requirePass(t, s.update("new", "TestIt", asks(newChat("a"), newChat("new"), newChat("b"))))
	after := s.files()
	records := s.records("openai")
	require.Len(t, records, 3)
	for i, n := range []int{1, 3, 2} {
		require.Equal(t, n, records[i].Number(), "a new record follows the call before it")
	}
	for _, record := range []string{old[0], old[1]} {
		require.Contains(t, after[s.document("TestIt")], record, "what was recorded stays as it was")
	}
	requirePass(t, s.replay("TestIt", asks(newChat("a"), newChat("new"), newChat("b"))))

	drifted := s.update("new", "TestIt", asks(newChat("a"), newChat("new"), newChat("b!")))
	require.True(t, drifted.Failed(), "a changed prompt is not a missing one")
	s.requireFiles(after)
}

func TestPanicLeavesTheStoreAsItWas(t *testing.T) {
	s := newScene(t)
	s.record("TestIt", asks(newChat("a")))
	before := s.files()
	tb := s.update("1", "TestIt", func(t *tbtest.TB, tf *traceforgetest.Recorder) {
		asks(newChat("b"))(t, tf)
		panic("boom")
	})
	require.True(t, tb.Failed())
	s.requireFiles(before)
}

func TestSkippedTestIsNotAskedForItsCalls(t *testing.T) {
	s := newScene(t)
	s.record("TestIt", asks(newChat("a")))
	before := s.files()
	for _, mode := range []string{"", "1"} {
		t.Setenv("TRACEFORGE_UPDATE", mode)
		tb := s.run("TestIt", func(t *tbtest.TB, tf *traceforgetest.Recorder) { t.SkipNow() })
		requirePass(t, tb)
		s.requireFiles(before)
	}
}

func TestRetriedCallIsRecordedOnce(t *testing.T) {
	s := newScene(t)
	s.provider.Reply(fakeprovider.Error(429, "rate_limit_error", "slow down"), fakeprovider.Text("at last"))
	retries := func(t *tbtest.TB, tf *traceforgetest.Recorder) {
		if _, err := send(tf.Client(), newChat("a")); err != nil {
			asks(newChat("a"))(t, tf)
		}
	}
	s.record("TestIt", retries)
	require.Len(t, s.records("openai"), 1)
	requirePass(t, s.replay("TestIt", retries))
}

func TestErrorsThatStandAreRecorded(t *testing.T) {
	s := newScene(t)
	s.provider.Reply(fakeprovider.Error(404, "invalid_request_error", "no such model"))
	fails := func(t *tbtest.TB, tf *traceforgetest.Recorder) {
		_, err := send(tf.Client(), newChat("a"))
		if err == nil || !strings.Contains(err.Error(), "status 404") || !strings.Contains(err.Error(), "no such model") {
			t.Errorf("got %v", err)
		}
	}
	s.record("TestIt", fails)
	requirePass(t, s.replay("TestIt", fails))
}

func TestNothingSecretIsStored(t *testing.T) {
	const secret = "sk-very-secret-0123456789"
	s := newScene(t)
	s.record("TestIt", func(t *tbtest.TB, tf *traceforgetest.Recorder) {
		req, _ := http.NewRequest("POST", "https://user:"+secret+"@api.openai.com/v1/chat/completions?api_key="+secret,
			strings.NewReader(`{"model":"m","temperature":0,"seed":1,"messages":[{"role":"user","content":"hi"}]}`))
		req.Header.Set("Authorization", "Bearer "+secret)
		req.Header.Set("Openai-Organization", secret)
		req.Header.Set("Content-Type", "application/json")
		resp, err := tf.Client().Do(req)
		if err != nil {
			t.Fatalf("%v", err)
		}
		defer resp.Body.Close()
		io.Copy(io.Discard, resp.Body)
	})
	require.NotEmpty(t, s.files())
	for name, data := range s.files() {
		require.NotContains(t, data, secret, name)
		require.NotContains(t, strings.ToLower(data), "set-cookie", name)
	}
}

// TestStreamArrivesAsItIsSent proves that recording holds no event back: the server does not
// send an event before the one in front of it has been read by the client.
func TestStreamArrivesAsItIsSent(t *testing.T) {
	s := newScene(t)
	read := make(chan struct{})
	const events = 3
	gated := roundTripper(func(r *http.Request) (*http.Response, error) {
		pr, pw := io.Pipe()
		go func() {
			for i := range events {
				fmt.Fprintf(pw, `data: {"id":"x","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":"%d"}}]}`+"\n\n", i)
				<-read
			}
			fmt.Fprint(pw, `data: {"id":"x","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`+"\n\ndata: [DONE]\n\n")
			pw.Close()
		}()
		return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: pr, Request: r}, nil
	})
	t.Setenv("TRACEFORGE_UPDATE", "1")
	tb := s.run("TestIt", func(t *tbtest.TB, tf *traceforgetest.Recorder) {
		resp, err := tf.Client().Post("https://api.openai.com/v1/chat/completions", "application/json",
			strings.NewReader(`{"model":"m","temperature":0,"seed":1,"stream":true,"messages":[]}`))
		if err != nil {
			t.Fatalf("%v", err)
		}
		defer resp.Body.Close()
		lines := bufio.NewScanner(resp.Body)
		for range events {
			for range 2 { // the event and its empty line
				if !lines.Scan() {
					t.Fatalf("the stream ended early: %v", lines.Err())
				}
			}
			read <- struct{}{}
		}
		for lines.Scan() {
		}
	}, traceforgetest.Upstream(gated))
	requirePass(t, tb)
}

func TestReplayedStreamComesEventByEvent(t *testing.T) {
	s := newScene(t)
	s.provider.Reply(fakeprovider.Fragments("one ", "two ", "three"))
	c := newChat("count").with("stream", true)
	s.record("TestIt", asks(c))
	requirePass(t, s.replay("TestIt", func(t *tbtest.TB, tf *traceforgetest.Recorder) {
		body := `{"model":"gpt-4o-mini","temperature":0,"seed":42,"stream":true,"messages":[{"role":"user","content":"count"}]}`
		resp, err := tf.Client().Post("https://api.openai.com/v1/chat/completions", "application/json", strings.NewReader(body))
		if err != nil {
			t.Fatalf("%v", err)
		}
		buffer := make([]byte, 1<<20)
		reads := 0
		for {
			n, err := resp.Body.Read(buffer)
			if n > 0 {
				reads++
				if got := bytes.Count(buffer[:n], []byte("data: ")); got != 1 {
					t.Errorf("a read got %d events", got)
				}
			}
			if err != nil {
				break
			}
		}
		if reads < 4 {
			t.Errorf("got %d reads", reads)
		}
	}))
}

func TestCancelledContext(t *testing.T) {
	s := newScene(t)
	s.record("TestIt", asks(newChat("a")))
	tb := s.replay("TestIt", func(t *tbtest.TB, tf *traceforgetest.Recorder) {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		req, _ := http.NewRequestWithContext(ctx, "POST", "https://api.openai.com/v1/chat/completions", strings.NewReader(`{}`))
		_, err := tf.RoundTrip(req)
		if err != context.Canceled {
			t.Errorf("got %v", err)
		}
		asks(newChat("a"))(t, tf)
	})
	requirePass(t, tb)
}

func TestCutStreamMayBecomeGoldenWhenAsked(t *testing.T) {
	s := newScene(t)
	reply := fakeprovider.Text("one two three four")
	reply.Cut, reply.CutAfter = fakeprovider.CutDrop, 2
	s.provider.Reply(reply)
	cut := func(t *tbtest.TB, tf *traceforgetest.Recorder) {
		_, err := send(tf.Client(), newChat("a").with("stream", true))
		if err == nil {
			t.Errorf("the stream has an end")
		}
	}
	s.record("TestIt", cut, traceforgetest.Allow(traceforgetest.CutStreams))
	s.requireWhole()
	requirePass(t, s.replay("TestIt", cut))
}

// TestResultsOfToolsInAnyOrder replays a call whose results of tools are in another order, since tools that run at once end in any.
func TestResultsOfToolsInAnyOrder(t *testing.T) {
	with := func(results ...string) func(*tbtest.TB, *traceforgetest.Recorder) {
		var asked []any
		for _, ref := range []string{"call_a", "call_b"} {
			asked = append(asked, map[string]any{"id": ref, "type": "function", "function": map[string]any{"name": "add", "arguments": "{}"}})
		}
		messages := []any{map[string]any{"role": "user", "content": "add"}, map[string]any{"role": "assistant", "tool_calls": asked}}
		for _, ref := range results {
			messages = append(messages, map[string]any{"role": "tool", "tool_call_id": ref, "content": "the result of " + ref})
		}
		return asks(newChat("").with("messages", messages))
	}
	s := newScene(t)
	s.record("TestIt", with("call_b", "call_a"))
	before := s.files()
	requirePass(t, s.replay("TestIt", with("call_a", "call_b")))
	s.record("TestIt", with("call_a", "call_b"))
	s.requireFiles(before)
}

// TestNumbersBeyondTheFields records a call with a number that the format's field does not permit, as some servers answer it.
func TestNumbersBeyondTheFields(t *testing.T) {
	for _, temperature := range []float64{-1, 1e9} {
		s, ask := newScene(t), asks(newChat("a").with("temperature", temperature))
		s.record("TestIt", ask, traceforgetest.Nondeterministic("a number of its own"))
		requirePass(t, s.replay("TestIt", ask, traceforgetest.Nondeterministic("a number of its own")))
		require.Contains(t, s.records("openai")[0].Request.Options, "temperature")
		s.requireWhole()
	}
}

// TestTokenLimitIsNoCut records an answer that its model ended at the token limit, as README.md says: it is whole.
func TestTokenLimitIsNoCut(t *testing.T) {
	for _, streamed := range []bool{false, true} {
		s := newScene(t)
		s.provider.Reply(fakeprovider.Reply{Text: "one two", Finish: "length"})
		s.record("TestIt", asks(newChat("a").with("stream", streamed)))
		require.Equal(t, modelio.FinishLength, s.records("openai")[0].Response.Candidates[0].FinishReason)
		require.Empty(t, s.records("openai")[0].Response.Incomplete)
	}
	readme, err := os.ReadFile("../README.md")
	require.NoError(t, err)
	require.Contains(t, string(readme), "an answer that was cut by the network or the program (one that reached its token limit is whole)")
}

// TestClientsThatRetry proves that a client that announces itself as one that retries gets an
// answer that it does not retry, and that the failure is reported once.
func TestClientsThatRetry(t *testing.T) {
	s := newScene(t)
	s.record("TestIt", asks(newChat("a")))
	tb := s.replay("TestIt", func(t *tbtest.TB, tf *traceforgetest.Recorder) {
		for range 3 {
			req, _ := http.NewRequest("POST", "https://api.openai.com/v1/chat/completions",
				strings.NewReader(`{"model":"gpt-4o-mini","temperature":0,"seed":42,"messages":[{"role":"user","content":"b"}]}`))
			req.Header.Set("X-Stainless-Lang", "go")
			resp, err := tf.RoundTrip(req)
			if err != nil || resp.StatusCode != 400 || resp.Header.Get("X-Should-Retry") != "false" {
				t.Errorf("got %v, %v", resp, err)
			}
		}
	})
	require.True(t, tb.Failed())
	require.Equal(t, 1, strings.Count(tb.Logged(), "drifted"), tb.Logged())
}

func TestProvidersAreKeptApart(t *testing.T) {
	s := newScene(t)
	both := func(t *tbtest.TB, tf *traceforgetest.Recorder) {
		asks(newChat("a"))(t, tf)
		req, _ := http.NewRequest("POST", "https://api.anthropic.com/v1/messages",
			strings.NewReader(`{"model":"claude-haiku-4-5","max_tokens":10,"temperature":0,"messages":[{"role":"user","content":"a"}]}`))
		req.Header.Set("Anthropic-Version", "2023-06-01")
		req.Header.Set("Content-Type", "application/json")
		resp, err := tf.Client().Do(req)
		if err != nil || resp.StatusCode != 200 {
			t.Fatalf("%v %v", resp, err)
		}
		io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
	}
	s.record("TestIt", both)
	require.Len(t, s.records("openai"), 1)
	require.Len(t, s.records("anthropic"), 1)
	require.Len(t, s.documents("openai"), 1)
	require.Empty(t, s.documents("anthropic"), "a test has one document, under the provider of its first call")
	requirePass(t, s.replay("TestIt", both))
}
