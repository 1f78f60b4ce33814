package traceforgetest_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/fakeprovider"
	"github.com/traceforge/traceforge-go/internal/tbtest"
	"github.com/traceforge/traceforge-go/modelio"
	"github.com/traceforge/traceforge-go/traceforgetest"
)

// TestAllowRetryableErrors records what a program is answered before it tries again, and after.
func TestAllowRetryableErrors(t *testing.T) {
	s := newScene(t)
	limited := fakeprovider.Error(429, "rate_limit_error", "slow down")
	limited.Header = http.Header{"Retry-After": {"7"}}
	replies := []fakeprovider.Reply{limited, fakeprovider.Error(503, "server_error", "overloaded"), fakeprovider.Text("at last")}
	s.provider.Reply(replies...)
	tries := func(t *tbtest.TB, tf *traceforgetest.Recorder) {
		var seen []string
		for range 3 {
			resp, err := tf.Client().Post("https://api.openai.com/v1/chat/completions", "application/json",
				strings.NewReader(`{"model":"m","temperature":0,"seed":1,"messages":[{"role":"user","content":"a"}]}`))
			if err != nil {
				t.Fatalf("%v", err)
			}
			body, err := io.ReadAll(resp.Body)
			resp.Body.Close()
			if err != nil {
				t.Fatalf("%v", err)
			}
			seen = append(seen, resp.Status+" "+resp.Header.Get("Retry-After")+" "+string(body[:10]))
			if resp.StatusCode == 200 && !strings.Contains(string(body), "at last") || resp.StatusCode == 429 && !strings.Contains(string(body), "slow down") {
				t.Errorf("got %s", body)
			}
		}
		require.Equal(s.t, []string{"429 Too Many Requests 7", "503 Service Unavailable ", "200 OK "},
			[]string{seen[0][:23], seen[1][:24], seen[2][:7]})
	}
	allowed := traceforgetest.Allow(traceforgetest.RetryableErrors)
	s.record("TestIt", tries, allowed)
	var statuses []int
	for _, record := range s.records("openai") {
		statuses = append(statuses, record.Response.Status)
	}
	require.Equal(t, []int{429, 503, 200}, statuses)
	requirePass(t, s.replay("TestIt", tries, allowed))
	requirePass(t, s.replay("TestIt", tries))
	s.requireWhole()

	before := s.files()
	s.provider.Reply(replies...)
	requirePass(t, s.update("all", "TestIt", tries, allowed))
	s.requireFiles(before)
}

// TestRetryableErrorsAreLeftOut says in the log that the tries are not recorded, and which option records them.
func TestRetryableErrorsAreLeftOut(t *testing.T) {
	s := newScene(t)
	s.provider.Reply(fakeprovider.Error(429, "rate_limit_error", "slow down"), fakeprovider.Text("at last"))
	tb := s.update("1", "TestIt", func(t *tbtest.TB, tf *traceforgetest.Recorder) {
		_, _ = send(tf.Client(), newChat("a"))
		asks(newChat("a"))(t, tf)
	})
	requirePass(t, tb)
	require.Contains(t, tb.Logged(), "answers of status 429 Too Many Requests are not recorded, as a later try did better: replay begins with that. "+
		"To record them too: traceforgetest.New(t, traceforgetest.Allow(traceforgetest.RetryableErrors))")
}

// TestRetryableErrorsAreNamedOnce names each status once, and one without a phrase by its number.
func TestRetryableErrorsAreNamedOnce(t *testing.T) {
	s := newScene(t)
	overloaded := fakeprovider.Error(529, "overloaded_error", "Overloaded")
	s.provider.Reply(overloaded, fakeprovider.Error(429, "rate_limit_error", "slow down"), overloaded,
		fakeprovider.Text("at last"))
	tb := s.update("1", "TestIt", func(t *tbtest.TB, tf *traceforgetest.Recorder) {
		for range 3 {
			_, _ = send(tf.Client(), newChat("a"))
		}
		asks(newChat("a"))(t, tf)
	})
	requirePass(t, tb)
	require.Contains(t, tb.Logged(), "answers of status 529, 429 Too Many Requests are not recorded")
}

// TestRetryableErrorsInStreams leaves out a stream of status 200 with an error that asks for another try, if that does
// better. An error that stays is a golden: tests look at what programs make of it.
func TestRetryableErrorsInStreams(t *testing.T) {
	failing := func(kind string) fakeprovider.Reply {
		reply := fakeprovider.Error(500, kind, "no answer")
		reply.Text, reply.Stream.FailAfter = "one two three", 3
		return reply
	}
	ask := newChat("a").with("stream", true)
	twice := func(tb *tbtest.TB, tf *traceforgetest.Recorder) {
		asks(ask)(tb, tf)
		tf.Snapshots()
		asks(ask)(tb, tf)
	}
	for _, c := range []struct {
		name    string
		replies []fakeprovider.Reply
		test    func(*tbtest.TB, *traceforgetest.Recorder)
		options []traceforgetest.Option
		want    []string // the errors in the records
	}{
		{"a later try did better", []fakeprovider.Reply{failing("server_error"), fakeprovider.Text("at last")}, twice, nil, []string{""}},
		{"no later try", []fakeprovider.Reply{failing("server_error")}, asks(ask), nil, []string{"server_error"}},
		{"no try did better", []fakeprovider.Reply{failing("server_error"), failing("server_error")}, twice, nil, []string{"server_error", "server_error"}},
		{"another error", []fakeprovider.Reply{failing("invalid_request_error"), fakeprovider.Text("b")}, twice, nil, []string{"invalid_request_error", ""}},
		{"allowed", []fakeprovider.Reply{failing("server_error"), fakeprovider.Text("at last")}, twice,
			[]traceforgetest.Option{traceforgetest.Allow(traceforgetest.RetryableErrors)}, []string{"server_error", ""}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newScene(t)
			s.provider.Reply(c.replies...)
			tb := s.update("1", "TestIt", c.test, c.options...)
			requirePass(t, tb)
			require.Equal(t, len(c.want) < len(c.replies), strings.Contains(tb.Logged(), "answers of status 200 OK with the error server_error "+
				"are not recorded, as a later try did better: replay begins with that"), tb.Logged())
			var errs []string
			for _, record := range s.records("openai") {
				errs = append(errs, cmp.Or(record.Response.Error, &modelio.ProviderError{}).Type)
			}
			require.Equal(t, c.want, errs)
			requirePass(t, s.replay("TestIt", asks(slices.Repeat([]chat{ask}, len(c.want))...)))
			s.requireWhole()
		})
	}
}

// hedges asks for the answers of chats, the next after a while where there is none yet, and cancels the others when the first has
// come.
func hedges(chats ...chat) func(*tbtest.TB, *traceforgetest.Recorder) {
	return func(t *tbtest.TB, tf *traceforgetest.Recorder) {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		errs := make(chan error, len(chats))
		var made int
		for _, c := range chats {
			made++
			go func() {
				data, _ := json.Marshal(c)
				req, _ := http.NewRequestWithContext(ctx, "POST", "https://api.openai.com/v1/chat/completions", bytes.NewReader(data))
				resp, err := tf.Client().Do(req)
				if err == nil {
					_, err = io.ReadAll(resp.Body)
					resp.Body.Close()
				}
				errs <- err
			}()
			select {
			case err := <-errs:
				errs <- err
			case <-time.After(20 * time.Millisecond):
			}
		}
		if err := <-errs; err != nil {
			t.Errorf("the first to end: %v", err)
		}
		cancel()
		for range made - 1 {
			if err := <-errs; err != nil && !errors.Is(err, context.Canceled) {
				t.Errorf("one that was cancelled: %v", err)
			}
		}
	}
}

// TestAllowCancelledCalls records calls that their caller cancels before there is an answer. Replay cancels them no earlier
// than their caller does, so that a faster call comes first as it did, and needs no call that was cancelled.
func TestAllowCancelledCalls(t *testing.T) {
	allowed := traceforgetest.Allow(traceforgetest.TransportErrors)
	slow, fast := newChat("never"), newChat("fast")
	for _, c := range []struct {
		name  string
		calls []chat
	}{
		{"another request is faster", []chat{slow, fast}},
		{"the same request is faster", []chat{slow, slow}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newScene(t)
			var hangs atomic.Bool // one does
			live := roundTripper(func(req *http.Request) (*http.Response, error) {
				body, _ := io.ReadAll(req.Body)
				if strings.Contains(string(body), "never") && hangs.CompareAndSwap(false, true) {
					<-req.Context().Done()
					return nil, req.Context().Err()
				}
				req.Body = io.NopCloser(bytes.NewReader(body))
				return s.provider.Transport().RoundTrip(req)
			})
			t.Setenv("TRACEFORGE_UPDATE", "1")
			requirePass(t, s.run("TestIt", hedges(c.calls...), allowed, traceforgetest.Upstream(live)))
			t.Setenv("TRACEFORGE_UPDATE", "")
			for range 3 {
				requirePass(t, s.replay("TestIt", hedges(c.calls...), allowed))
			}
			s.requireWhole()
		})
	}
}

// TestAllowCancelledBeforeSent records a call whose caller had cancelled it before it was sent, as chance has it where
// another is faster. In the replay it is sent before that, and perhaps answered first. One that was answered is perhaps cancelled
// before it is sent in the replay.
func TestAllowCancelledBeforeSent(t *testing.T) {
	type call func(*traceforgetest.Recorder, context.Context) error
	allowed := traceforgetest.Allow(traceforgetest.TransportErrors)
	asksFor := func(prompt string) call {
		return func(tf *traceforgetest.Recorder, ctx context.Context) error {
			data, _ := json.Marshal(newChat(prompt))
			req, _ := http.NewRequestWithContext(ctx, "POST", "https://api.openai.com/v1/chat/completions", bytes.NewReader(data))
			resp, err := tf.Client().Do(req)
			if err == nil {
				defer resp.Body.Close()
				_, err = io.ReadAll(resp.Body)
			}
			return err
		}
	}
	for _, c := range []struct {
		name string
		slow call
	}{
		{"another request", asksFor("slow")},
		{"the same request", asksFor("fast")},
		{"a model", func(tf *traceforgetest.Recorder, ctx context.Context) error {
			_, err := tf.Model("acme/tiny", scripted(modelio.TextPart("hi"))).Generate(ctx, generateRequest("hi"), nil)
			return err
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			together := func(t *tbtest.TB, tf *traceforgetest.Recorder) {
				ctx, cancel := context.WithCancel(context.Background())
				errs := make(chan error, 2)
				go func() { errs <- asksFor("fast")(tf, ctx) }()
				go func() { errs <- c.slow(tf, ctx) }()
				first := <-errs
				cancel()
				if second := <-errs; first != nil || !errors.Is(second, context.Canceled) {
					t.Errorf("got %v, then %v", first, second)
				}
			}
			inOrder := func(cancels bool) func(*tbtest.TB, *traceforgetest.Recorder) {
				return func(t *tbtest.TB, tf *traceforgetest.Recorder) {
					ctx, cancel := context.WithCancel(context.Background())
					first := asksFor("fast")(tf, ctx)
					if cancels {
						cancel()
					}
					if second := c.slow(tf, ctx); first != nil || !errors.Is(second, ctx.Err()) {
						t.Errorf("got %v, then %v", first, second)
					}
					cancel()
				}
			}
			s := newScene(t)
			for _, mode := range []string{"1", "new"} {
				requirePass(t, s.update(mode, "Test"+mode, inOrder(true), allowed))
				requirePass(t, s.replay("Test"+mode, inOrder(true), allowed))
				for range 3 {
					requirePass(t, s.replay("Test"+mode, together, allowed))
				}
				before := s.files()
				requirePass(t, s.update(mode, "Test"+mode, inOrder(true), allowed))
				s.requireFiles(before)
			}
			s.record("TestAnswered", inOrder(false), allowed)
			requirePass(t, s.replay("TestAnswered", inOrder(true), allowed))
			s.requireWhole()
		})
	}
}

// TestAllowCancelledCallAlone records a call that nothing answers, and follows what the failure advises.
func TestAllowCancelledCallAlone(t *testing.T) {
	s := newScene(t)
	hanging := roundTripper(func(req *http.Request) (*http.Response, error) {
		<-req.Context().Done()
		return nil, req.Context().Err()
	})
	test := func(t *tbtest.TB, tf *traceforgetest.Recorder) {
		ctx, cancel := context.WithCancel(context.Background())
		time.AfterFunc(20*time.Millisecond, cancel)
		req, _ := http.NewRequestWithContext(ctx, "POST", "https://api.openai.com/v1/chat/completions",
			strings.NewReader(`{"model":"m","temperature":0,"seed":1,"messages":[{"role":"user","content":"a"}]}`))
		if _, err := tf.Client().Do(req); !errors.Is(err, context.Canceled) || ctx.Err() == nil {
			t.Errorf("got %v before it was cancelled", err)
		}
	}
	t.Setenv("OPENAI_API_KEY", "one that is no secret of anybody")
	synctest.Test(t, func(t *testing.T) { // where what cancels the call is never faster than what makes it
		t.Setenv("TRACEFORGE_UPDATE", "1")
		tb := s.run("TestIt", test, traceforgetest.Upstream(hanging))
		require.Contains(t, tb.Logged(), "openai gave no answer: context canceled: it was not recorded")
		require.Contains(t, tb.Logged(), "or keep the error: traceforgetest.New(t, traceforgetest.Allow(traceforgetest.TransportErrors))")
		requirePass(t, s.run("TestIt", test, traceforgetest.Upstream(hanging), traceforgetest.Allow(traceforgetest.TransportErrors)))
		require.Equal(t, "canceled", s.records("openai")[0].Response.Error.Code)
		t.Setenv("TRACEFORGE_UPDATE", "")
		requirePass(t, s.replay("TestIt", test))
	})
	s.requireWhole()

	tb := s.update("1", "TestTool", func(_ *tbtest.TB, tf *traceforgetest.Recorder) {
		tf.Tool("add", func(context.Context, json.RawMessage) (json.RawMessage, error) { return nil, context.Canceled })(context.Background(), nil)
	}, traceforgetest.Allow(traceforgetest.TransportErrors))
	require.Contains(t, tb.Logged(), "tool add gave no answer: context canceled: it was not recorded")
	require.NotContains(t, tb.Logged(), "keep the error", "an error of its context is no result of a tool")

	tb = s.update("1", "TestCause", func(_ *tbtest.TB, tf *traceforgetest.Recorder) {
		ctx, cancel := context.WithCancelCause(context.Background())
		tf.Tool("add", func(ctx context.Context, _ json.RawMessage) (json.RawMessage, error) {
			cancel(errors.New("enough"))
			return nil, context.Cause(ctx)
		})(ctx, nil)
	}, traceforgetest.Allow(traceforgetest.TransportErrors))
	require.Contains(t, tb.Logged(), "tool add gave no answer: enough: it was not recorded")
	require.NotContains(t, tb.Logged(), "keep the error", "nor is one that says why")
}

// TestAllowCancelledWithCause records a call that its caller cancels, and says why, as one that it cancels: replay waits until it
// does, and gives it its own error.
func TestAllowCancelledWithCause(t *testing.T) {
	enough := errors.New("another was faster")
	s := newScene(t)
	hanging := roundTripper(func(req *http.Request) (*http.Response, error) {
		<-req.Context().Done()
		return nil, context.Cause(req.Context())
	})
	test := func(t *tbtest.TB, tf *traceforgetest.Recorder) {
		ctx, cancel := context.WithCancelCause(context.Background())
		time.AfterFunc(20*time.Millisecond, func() { cancel(enough) })
		req, _ := http.NewRequestWithContext(ctx, "POST", "https://api.openai.com/v1/chat/completions",
			strings.NewReader(`{"model":"m","temperature":0,"seed":1,"messages":[{"role":"user","content":"a"}]}`))
		if _, err := tf.Client().Do(req); !errors.Is(err, enough) || ctx.Err() == nil {
			t.Errorf("got %v before it was cancelled", err)
		}
	}
	allowed := traceforgetest.Allow(traceforgetest.TransportErrors)
	synctest.Test(t, func(t *testing.T) { // where what cancels the call is never faster than what makes it
		t.Setenv("TRACEFORGE_UPDATE", "1")
		requirePass(t, s.run("TestIt", test, traceforgetest.Upstream(hanging), allowed))
		said := s.records("openai")[0].Response.Error
		require.Equal(t, "canceled", said.Code)
		require.Equal(t, enough.Error(), said.Message)
		t.Setenv("TRACEFORGE_UPDATE", "")
		requirePass(t, s.replay("TestIt", test))
	})
	s.requireWhole()
}

// TestCancelledWithCauseBeforeSent: a call that its caller cancelled before it was sent ends with the reason that the caller
// gave, in any mode, as it does without traceforge.
func TestCancelledWithCauseBeforeSent(t *testing.T) {
	enough := errors.New("another was faster")
	s := newScene(t)
	test := func(t *tbtest.TB, tf *traceforgetest.Recorder) {
		asks(newChat("a"))(t, tf)
		ctx, cancel := context.WithCancelCause(context.Background())
		cancel(enough)
		req, _ := http.NewRequestWithContext(ctx, "POST", "https://api.openai.com/v1/chat/completions",
			strings.NewReader(`{"model":"m","temperature":0,"seed":1,"messages":[{"role":"user","content":"b"}]}`))
		if _, err := tf.Client().Do(req); !errors.Is(err, enough) {
			t.Errorf("got %v", err)
		}
	}
	for _, opts := range [][]traceforgetest.Option{nil, {traceforgetest.Allow(traceforgetest.TransportErrors)}} {
		s.recordAll("TestIt", asks(newChat("a")), opts...)
		requirePass(t, s.replay("TestIt", test, opts...))
		for _, mode := range []string{"1", "", "new", "all", ""} {
			requirePass(t, s.update(mode, "TestIt", test, opts...))
		}
		requirePass(t, s.replay("TestIt", test))
	}
}

// TestAllowCutByContext records streams that the context of their caller cuts, and whose caller goes on to read.
func TestAllowCutByContext(t *testing.T) {
	for _, c := range []struct {
		name string
		ends func() (context.Context, context.CancelFunc)
		want error
	}{
		{"deadline", func() (context.Context, context.CancelFunc) {
			return context.WithTimeout(context.Background(), 50*time.Millisecond)
		}, context.DeadlineExceeded},
		{"cancelled", func() (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancel(context.Background())
			time.AfterFunc(50*time.Millisecond, cancel)
			return ctx, cancel
		}, context.Canceled},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newScene(t)
			live := roundTripper(func(req *http.Request) (*http.Response, error) {
				event := `data: {"id":"1","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"one"}}]}` + "\n\n"
				return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"text/event-stream"}}, Request: req,
					Body: io.NopCloser(io.MultiReader(strings.NewReader(event), untilOver{req.Context()}))}, nil
			})
			test := func(t *tbtest.TB, tf *traceforgetest.Recorder) {
				ctx, cancel := c.ends()
				defer cancel()
				data, _ := json.Marshal(newChat("a").with("stream", true))
				req, _ := http.NewRequestWithContext(ctx, "POST", "https://api.openai.com/v1/chat/completions", bytes.NewReader(data))
				resp, err := tf.Client().Do(req)
				if err != nil {
					t.Fatalf("%v", err)
				}
				defer resp.Body.Close()
				if answer, err := io.ReadAll(resp.Body); !errors.Is(err, c.want) || !strings.Contains(string(answer), "one") {
					t.Errorf("got %s, %v", answer, err)
				}
			}
			synctest.Test(t, func(t *testing.T) { // where the stream begins in time
				t.Setenv("TRACEFORGE_UPDATE", "1")
				requirePass(t, s.run("TestIt", test, traceforgetest.Upstream(live), traceforgetest.Allow(traceforgetest.CutStreams)))
				t.Setenv("TRACEFORGE_UPDATE", "")
				requirePass(t, s.replay("TestIt", test))
			})
		})
	}
}

// untilOver is a body of which nothing comes until a context is over.
type untilOver struct{ ctx context.Context }

func (u untilOver) Read([]byte) (int, error) {
	<-u.ctx.Done()
	return 0, u.ctx.Err()
}

// TestStreamThatItsReaderLeaves keeps no stream that its reader closes before its last event, or is still reading when the test
// ends. With the option a closed one is kept, and replayed as far.
func TestStreamThatItsReaderLeaves(t *testing.T) {
	const first = `data: {"id":"x","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":"Hel"}}]}` + "\n\n"
	live := roundTripper(func(r *http.Request) (*http.Response, error) {
		body, more := io.Pipe()
		go io.WriteString(more, first)
		return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"text/event-stream"}}, Request: r, Body: body}, nil
	})
	reads := func(closes bool) func(*tbtest.TB, *traceforgetest.Recorder) {
		return func(t *tbtest.TB, tf *traceforgetest.Recorder) {
			resp, err := tf.Client().Post("https://api.openai.com/v1/chat/completions", "application/json",
				strings.NewReader(`{"model":"m","temperature":0,"seed":1,"stream":true,"messages":[]}`))
			if err != nil {
				t.Fatalf("%v", err)
			}
			answer := make([]byte, len(first))
			if _, err := io.ReadFull(resp.Body, answer); err != nil || string(answer) != first {
				t.Errorf("got %q, %v", answer, err)
			}
			if closes {
				resp.Body.Close()
			}
		}
	}
	cuts := traceforgetest.Allow(traceforgetest.CutStreams)
	s := newScene(t)
	t.Setenv("TRACEFORGE_UPDATE", "1")
	tb := s.run("TestIt", reads(true), traceforgetest.Upstream(live))
	require.True(t, tb.Failed())
	require.Contains(t, tb.Logged(), "openai answer was cut by the caller: it was not recorded")
	tb = s.run("TestIt", reads(false), traceforgetest.Upstream(live), cuts)
	require.True(t, tb.Failed())
	require.Contains(t, tb.Logged(), "openai answer was neither read to its end nor closed: it was not recorded")
	require.Empty(t, s.records("openai"))
	requirePass(t, s.run("TestIt", reads(true), traceforgetest.Upstream(live), cuts))
	require.Equal(t, "aborted", s.records("openai")[0].Response.Incomplete)
	t.Setenv("TRACEFORGE_UPDATE", "")
	requirePass(t, s.replay("TestIt", reads(true)))
	s.requireWhole()
}

// TestAllowNoCalls passes rows of a table that call nothing, and no row whose calls are not made any more.
func TestAllowNoCalls(t *testing.T) {
	none := traceforgetest.Allow(traceforgetest.NoCalls)
	s := newScene(t)
	requirePass(t, s.replay("TestIt", asks(), none))
	requirePass(t, s.update("1", "TestIt", asks(), none))
	require.NoDirExists(t, s.dir, "nothing is written of it")

	s.record("TestIt", asks(newChat("a")), none)
	requirePass(t, s.replay("TestIt", asks(newChat("a")), none))
	tb := s.replay("TestIt", asks(), none)
	require.Contains(t, tb.Logged(), "no model call was made, but 1 is recorded")
	require.Contains(t, tb.Logged(), "accept: go test ")

	before := s.files()
	for name := range before {
		if strings.HasSuffix(name, "1.json") {
			continue
		}
		if path := filepath.Join(s.dir, name); strings.HasSuffix(name, ".json") && strings.HasPrefix(name, "openai/") {
			require.NoError(t, os.WriteFile(path, []byte("{"), 0o644))
			require.True(t, s.replay("TestIt", asks(), none).Failed(), "a document that cannot be read is none that is missing")
			require.NoError(t, os.WriteFile(path, []byte(before[name]), 0o644))
		}
	}
	s.record("TestIt", asks(), none)
	require.Empty(t, s.documents("openai"), "an update removes what is not called any more")
}

// TestAllowCutStreams replays a stream as it ended: as if it were whole, with an error of the connection, and
// with one behind its last event (finding F12).
func TestAllowCutStreams(t *testing.T) {
	const begin = `data: {"id":"x","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":"Hel"}}]}` + "\n\n"
	const end = `data: {"id":"x","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}` +
		"\n\ndata: [DONE]\n\n"
	broke := errors.New("the connection broke")
	for _, c := range []struct {
		name, why, body string
		err             error
		incomplete      string
		replayed        error
	}{
		{"clean end", "it ends as a whole one does", begin, nil, "ended", nil},
		{"broken", "it ends with an error", begin, broke, "error", io.ErrUnexpectedEOF},
		{"broken within an event", "no program reads the half", begin + `data: {"id":`, broke, "error", io.ErrUnexpectedEOF},
		{"broken behind the end", "its reader saw an error too", begin + end, broke, "error", io.ErrUnexpectedEOF},
		{"whole", "nothing was cut", begin + end, nil, "", nil},
	} {
		t.Run(strings.ReplaceAll(c.name, " ", "-"), func(t *testing.T) {
			s := newScene(t)
			live := roundTripper(func(r *http.Request) (*http.Response, error) {
				var body io.Reader = strings.NewReader(c.body)
				if c.err != nil {
					body = io.MultiReader(body, failingReader{c.err})
				}
				return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: io.NopCloser(body), Request: r}, nil
			})
			ask := func(got *error) func(*tbtest.TB, *traceforgetest.Recorder) {
				return func(t *tbtest.TB, tf *traceforgetest.Recorder) {
					var answer string
					if answer, *got = send(tf.Client(), newChat("a").with("stream", true)); answer != c.body {
						t.Errorf("got %q", answer)
					}
				}
			}
			var recorded, replayed error
			t.Setenv("TRACEFORGE_UPDATE", "1")
			requirePass(t, s.run("TestIt", ask(&recorded), traceforgetest.Upstream(live), traceforgetest.Allow(traceforgetest.CutStreams)))
			require.ErrorIs(t, recorded, c.err)
			require.Equal(t, c.incomplete, s.records("openai")[0].Response.Incomplete, c.why)
			require.Empty(t, s.records("openai")[0].Response.Readings, c.why)
			t.Setenv("TRACEFORGE_UPDATE", "")
			requirePass(t, s.replay("TestIt", ask(&replayed)))
			require.ErrorIs(t, replayed, c.replayed, c.why)
			s.requireWhole()
		})
	}
}

// TestAllowCutAnswer replays an answer that is no stream and broke. Its length is not known: that of what is left would say
// that it is whole.
func TestAllowCutAnswer(t *testing.T) {
	const body = `{"id":"x","object":"chat.completion","choi`
	s := newScene(t)
	live := roundTripper(func(r *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"application/json"}}, Request: r, ContentLength: 500,
			Body: io.NopCloser(io.MultiReader(strings.NewReader(body), failingReader{io.ErrUnexpectedEOF}))}, nil
	})
	ask := func(length *int64) func(*tbtest.TB, *traceforgetest.Recorder) {
		return func(t *tbtest.TB, tf *traceforgetest.Recorder) {
			data, _ := json.Marshal(newChat("a"))
			resp, err := tf.Client().Post("https://api.openai.com/v1/chat/completions", "application/json", bytes.NewReader(data))
			if err != nil {
				t.Fatalf("%v", err)
			}
			defer resp.Body.Close()
			*length = resp.ContentLength
			if answer, err := io.ReadAll(resp.Body); string(answer) != body || !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Errorf("got %q, %v", answer, err)
			}
		}
	}
	var recorded, replayed int64
	t.Setenv("TRACEFORGE_UPDATE", "1")
	requirePass(t, s.run("TestIt", ask(&recorded), traceforgetest.Upstream(live), traceforgetest.Allow(traceforgetest.CutStreams)))
	require.EqualValues(t, 500, recorded)
	require.Equal(t, "error", s.records("openai")[0].Response.Incomplete)
	t.Setenv("TRACEFORGE_UPDATE", "")
	requirePass(t, s.replay("TestIt", ask(&replayed)))
	require.EqualValues(t, -1, replayed)
}

type failingReader struct{ err error }

func (r failingReader) Read([]byte) (int, error) { return 0, r.err }

// TestCutBehindTheEnd records a stream that broke behind its last event without an option, as clients stop there.
func TestCutBehindTheEnd(t *testing.T) {
	s := newScene(t)
	const body = `data: {"id":"x","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":"Hi"},"finish_reason":"stop"}]}` +
		"\n\ndata: [DONE]\n\n"
	live := roundTripper(func(r *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"text/event-stream"}}, Request: r,
			Body: io.NopCloser(io.MultiReader(strings.NewReader(body), failingReader{context.DeadlineExceeded}))}, nil
	})
	t.Setenv("TRACEFORGE_UPDATE", "1")
	requirePass(t, s.run("TestIt", func(t *tbtest.TB, tf *traceforgetest.Recorder) {
		_, _ = send(tf.Client(), newChat("a").with("stream", true))
	}, traceforgetest.Upstream(live)))
	require.Empty(t, s.records("openai")[0].Response.Incomplete)
}

// TestStreamWithoutAnEvent refuses a stream that has ended before its first event, as one that has ended before its last:
// programs read an empty answer.
func TestStreamWithoutAnEvent(t *testing.T) {
	s := newScene(t)
	upstream := roundTripper(func(r *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: http.NoBody, Request: r}, nil
	})
	test := func(tb *tbtest.TB, tf *traceforgetest.Recorder) {
		answer, err := send(tf.Client(), newChat("a").with("stream", true))
		require.NoError(t, err)
		require.Empty(t, answer)
	}
	t.Setenv("TRACEFORGE_UPDATE", "1")
	tb := s.run("TestIt", test, traceforgetest.Upstream(upstream))
	require.True(t, tb.Failed())
	require.Contains(t, tb.Logged(), "openai answer was cut before its end: it was not recorded")
	require.Contains(t, tb.Logged(), "traceforgetest.Allow(traceforgetest.CutStreams)")

	allowed := traceforgetest.Allow(traceforgetest.CutStreams)
	requirePass(t, s.run("TestIt", test, traceforgetest.Upstream(upstream), allowed))
	response := s.records("openai")[0].Response
	require.Equal(t, "ended", response.Incomplete)
	require.Equal(t, "openai.chat: the answer is empty", response.Note)
	requirePass(t, s.replay("TestIt", test))
	s.requireWhole()
}
