package traceforgetest_test

import (
	"context"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/tbtest"
	"github.com/traceforge/traceforge-go/traceforgetest"
)

// TestCallsThatOutliveTheTest has goroutines go on with their calls when the test has ended: they
// get errors, and change nothing.
func TestCallsThatOutliveTheTest(t *testing.T) {
	s := newScene(t)
	s.record("TestIt", asks(newChat("a")))
	before := s.files()
	for _, mode := range []string{"", "1"} {
		t.Run("mode="+mode, func(t *testing.T) {
			t.Setenv("TRACEFORGE_UPDATE", mode)
			more, read := make(chan struct{}), make(chan error)
			slow := roundTripper(func(r *http.Request) (*http.Response, error) {
				rest := func(p []byte) (int, error) { <-more; return copy(p, "data: [DONE]\n\n"), io.EOF }
				return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"text/event-stream"}}, Request: r,
					Body: io.NopCloser(io.MultiReader(strings.NewReader("data: {}\n\n"), readerFunc(rest)))}, nil
			})
			var client *http.Client
			tb := s.run("TestIt", func(tb *tbtest.TB, tf *traceforgetest.Recorder) {
				client = tf.Client()
				if mode == "" {
					_, err := send(client, newChat("a"))
					require.NoError(t, err)
					return
				}
				resp, err := client.Post("https://api.openai.com/v1/chat/completions", "application/json",
					strings.NewReader(`{"model":"m","temperature":0,"seed":1,"stream":true,"messages":[]}`))
				require.NoError(t, err)
				go func() {
					_, err := io.ReadAll(resp.Body)
					read <- errors.Join(err, resp.Body.Close())
				}()
			}, traceforgetest.Upstream(slow))
			close(more)
			if mode != "" {
				require.NoError(t, <-read)
				require.True(t, tb.Failed())
				require.Contains(t, tb.Logged(), "answer was neither read to its end nor closed")
			}
			_, err := send(client, newChat("b"))
			require.ErrorContains(t, err, "POST https://api.openai.com/v1/chat/completions was called after TestIt had ended")
			s.requireFiles(before)
		})
	}
}

// TestAnswerThatNobodyOpens records a call of an SDK that neither reads nor closes the body of a method without a result.
func TestAnswerThatNobodyOpens(t *testing.T) {
	for _, status := range []int{200, 204} {
		s := newScene(t)
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if w.WriteHeader(status); status == 200 {
				_, _ = io.WriteString(w, `{"id":"resp_68f0c1d2","object":"response.deleted","deleted":true}`)
			}
		}))
		defer server.Close()
		test := func(tb *tbtest.TB, tf *traceforgetest.Recorder) {
			ctx, cancel := context.WithCancel(context.Background())
			tb.Cleanup(cancel) // as that of t.Context(), which ends before the recorder
			req, _ := http.NewRequestWithContext(ctx, http.MethodDelete, server.URL+"/v1/responses/resp_68f0c1d2", nil)
			resp, err := tf.Client().Do(req) //nolint:bodyclose // that is the test
			require.NoError(t, err)
			require.Equal(t, status, resp.StatusCode)
		}
		t.Setenv("TRACEFORGE_UPDATE", "1")
		requirePass(t, s.run("TestIt", test))
		t.Setenv("TRACEFORGE_UPDATE", "")
		requirePass(t, s.replay("TestIt", test))
		s.requireWhole()
		kept := slices.Collect(maps.Values(s.files()))
		require.Equal(t, status == 200, slices.Contains(kept, `{"id":"resp_68f0c1d2","object":"response.deleted","deleted":true}`))
	}
}

// TestAnswerWithoutABody records an answer of an upstream that says nil where there is no body, as clients accept.
func TestAnswerWithoutABody(t *testing.T) {
	s := newScene(t)
	test := func(tb *tbtest.TB, tf *traceforgetest.Recorder) {
		req, _ := http.NewRequest(http.MethodDelete, "https://api.openai.com/v1/responses/resp_68f0c1d2", nil)
		resp, err := tf.Client().Do(req)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		require.Equal(t, http.StatusNoContent, resp.StatusCode)
	}
	t.Setenv("TRACEFORGE_UPDATE", "1")
	requirePass(t, s.run("TestIt", test, traceforgetest.Upstream(roundTripper(func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: http.StatusNoContent}, nil
	}))))
	t.Setenv("TRACEFORGE_UPDATE", "")
	requirePass(t, s.replay("TestIt", test))
}

// TestCallUnderWayAtTheEnd holds that a call without an answer is told as such, and not as an answer that nobody reads.
func TestCallUnderWayAtTheEnd(t *testing.T) {
	s := newScene(t)
	began, more, done := make(chan bool), make(chan bool), make(chan bool)
	slow := roundTripper(func(r *http.Request) (*http.Response, error) {
		began <- true
		<-more
		return nil, io.EOF
	})
	t.Setenv("TRACEFORGE_UPDATE", "1")
	tb := s.run("TestIt", func(tb *tbtest.TB, tf *traceforgetest.Recorder) {
		go func() {
			_, _ = send(tf.Client(), newChat("a"))
			close(done)
		}()
		<-began
	}, traceforgetest.Upstream(slow))
	close(more)
	<-done
	require.Contains(t, tb.Logged(), "openai request was still under way when the test ended: it was not recorded")
	require.Contains(t, tb.Logged(), "wait for its end")
	require.NotContains(t, tb.Logged(), "nor closed")
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// TestUpstreamsThatMisbehave records from transports that break the rules of http.RoundTripper.
func TestUpstreamsThatMisbehave(t *testing.T) {
	for _, c := range []struct {
		name, why string
		upstream  func(*http.Request) (*http.Response, error)
		says      string
	}{
		{"nothing", "a mock that returns its zero values", func(*http.Request) (*http.Response, error) { return nil, nil },
			"returned neither an answer nor an error"},
		{"panic", "a mock that fails", func(*http.Request) (*http.Response, error) { panic("mock") }, "panic: mock"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newScene(t)
			t.Setenv("TRACEFORGE_UPDATE", "1")
			tb := s.run("TestIt", func(tb *tbtest.TB, tf *traceforgetest.Recorder) {
				_, _ = send(tf.Client(), newChat("a"))
			}, traceforgetest.Upstream(roundTripper(c.upstream)))
			require.True(t, tb.Failed(), c.why)
			require.Contains(t, tb.Logged(), c.says, c.why)
			require.Empty(t, s.records("openai"))
		})
	}
}

// TestRedirect records a call that is redirected: both answers are recorded, and replayed.
func TestRedirect(t *testing.T) {
	s := newScene(t)
	upstream := roundTripper(func(r *http.Request) (*http.Response, error) {
		if r.URL.Host == "eu.api.openai.com" {
			return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(completion)), Request: r}, nil
		}
		return &http.Response{StatusCode: 307, Header: http.Header{"Location": {"https://eu.api.openai.com/v1/chat/completions?b=2&a=1&api_key=sk-secret"}},
			Body: http.NoBody, Request: r}, nil
	})
	test := func(tb *tbtest.TB, tf *traceforgetest.Recorder) {
		answer, err := send(tf.Client(), newChat("a"))
		require.NoError(t, err)
		require.Equal(t, completion, answer)
	}
	t.Setenv("TRACEFORGE_UPDATE", "1")
	requirePass(t, s.run("TestIt", test, traceforgetest.Upstream(upstream)))
	t.Setenv("TRACEFORGE_UPDATE", "")
	requirePass(t, s.replay("TestIt", test))
	require.Len(t, s.records("openai"), 2)
	for name, content := range s.files() {
		require.NotContains(t, content, "sk-secret", name)
	}
	s.requireWhole()
}

// TestRequestBodies sends bodies in every way that net/http knows: the provider gets what it would
// get without a recorder, and replay knows them all for one call.
func TestRequestBodies(t *testing.T) {
	type received struct {
		body, expect string
		length       int64
	}
	var got received
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got = received{string(body), r.Header.Get("Expect"), r.ContentLength}
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, completion)
	}))
	defer server.Close()
	upstream := roundTripper(func(r *http.Request) (*http.Response, error) {
		out := r.Clone(r.Context())
		out.URL.Scheme, out.URL.Host = "http", server.Listener.Addr().String()
		return http.DefaultTransport.RoundTrip(out)
	})
	const body = `{"model":"m","temperature":0,"seed":1,"messages":[{"role":"user","content":"Hi"}]}`
	s := newScene(t)
	for _, c := range []struct {
		name, why string
		change    func(*http.Request)
	}{
		{"plain", "length and GetBody are set", func(*http.Request) {}},
		{"chunked", "the length is not known", func(r *http.Request) {
			r.Body, r.ContentLength, r.GetBody = io.NopCloser(strings.NewReader(body)), -1, nil
		}},
		{"transfer-encoding", "chunks are asked for", func(r *http.Request) { r.TransferEncoding = []string{"chunked"} }},
		{"expect", "the client waits for permission", func(r *http.Request) { r.Header.Set("Expect", "100-continue") }},
		{"wrong-length", "the length is left at 0, which means unknown", func(r *http.Request) { r.ContentLength = 0 }},
	} {
		t.Run(c.name, func(t *testing.T) {
			test := func(tb *tbtest.TB, tf *traceforgetest.Recorder) {
				req, err := http.NewRequest("POST", "https://api.openai.com/v1/chat/completions", strings.NewReader(body))
				require.NoError(t, err)
				req.Header.Set("Content-Type", "application/json")
				c.change(req)
				resp, err := tf.Client().Do(req)
				require.NoError(t, err)
				defer resp.Body.Close()
				answer, err := io.ReadAll(resp.Body)
				require.NoError(t, err)
				require.Equal(t, completion, string(answer))
			}
			t.Setenv("TRACEFORGE_UPDATE", "1")
			requirePass(t, s.run("TestIt", test, traceforgetest.Upstream(upstream)))
			require.Equal(t, body, got.body, c.why)
			t.Setenv("TRACEFORGE_UPDATE", "")
			requirePass(t, s.replay("TestIt", test))
			require.Len(t, s.records("openai"), 1)
		})
	}
}

// TestHTTP2 records from a server that speaks HTTP/2 and sends all that HTTP has beside a body.
func TestHTTP2(t *testing.T) {
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		require.Equal(t, 2, r.ProtoMajor)
		w.Header().Set("Trailer", "X-Checksum")
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("X-Large", strings.Repeat("x", 100<<10))
		w.WriteHeader(http.StatusEarlyHints)
		io.WriteString(w, completion)
		w.Header().Set("X-Checksum", "1")
	}))
	server.EnableHTTP2 = true
	server.StartTLS()
	defer server.Close()
	test := func(tb *tbtest.TB, tf *traceforgetest.Recorder) {
		answer, err := post(tf.Client(), server.URL+"/v1/chat/completions", newChat("a"))
		require.NoError(t, err)
		require.Equal(t, completion, answer)
	}
	s := newScene(t)
	t.Setenv("TRACEFORGE_UPDATE", "1")
	requirePass(t, s.run("TestIt", test, traceforgetest.Upstream(server.Client().Transport)))
	t.Setenv("TRACEFORGE_UPDATE", "")
	requirePass(t, s.replay("TestIt", test))
	for name, content := range s.files() {
		require.NotContains(t, content, strings.Repeat("x", 100), name)
	}
}

// TestOtherRequests records requests that have no body, and answers that have none.
func TestOtherRequests(t *testing.T) {
	upstream := roundTripper(func(r *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: 200, Header: http.Header{"X-Method": {r.Method}}, Body: http.NoBody, Request: r}, nil
	})
	for _, method := range []string{http.MethodHead, http.MethodDelete, http.MethodOptions} {
		t.Run(method, func(t *testing.T) {
			s := newScene(t)
			test := func(tb *tbtest.TB, tf *traceforgetest.Recorder) {
				req, err := http.NewRequest(method, "https://user:secret@api.openai.com/v1/files/f1?key=secret", nil)
				require.NoError(t, err)
				resp, err := tf.Client().Do(req)
				require.NoError(t, err)
				body, err := io.ReadAll(resp.Body)
				require.NoError(t, err)
				require.Empty(t, body)
				require.NoError(t, resp.Body.Close())
			}
			t.Setenv("TRACEFORGE_UPDATE", "1")
			tb := s.run("TestIt", test, traceforgetest.Upstream(upstream))
			t.Setenv("TRACEFORGE_UPDATE", "")
			requirePass(t, tb)
			requirePass(t, s.replay("TestIt", test))
			for name, content := range s.files() {
				require.NotContains(t, content, "secret", name)
			}
		})
	}
}

// TestStoreDirectories records into a link to a directory, and says what is wrong with a file.
func TestStoreDirectories(t *testing.T) {
	dir := t.TempDir()
	linked, link, file := filepath.Join(dir, "linked"), filepath.Join(dir, "link"), filepath.Join(dir, "file")
	require.NoError(t, os.Mkdir(linked, 0o755))
	require.NoError(t, os.WriteFile(file, nil, 0o644))
	if err := os.Symlink(linked, link); err != nil {
		t.Skipf("no symbolic links here: %v", err)
	}
	s := newScene(t)
	s.dir = link
	s.record("TestIt", asks(newChat("a")))
	s.dir = linked
	requirePass(t, s.replay("TestIt", asks(newChat("a"))))
	s.requireWhole()

	for _, s.dir = range []string{file, filepath.Join(file, "below")} {
		tb := s.replay("TestIt", asks(newChat("a")))
		require.True(t, tb.Failed())
		require.Contains(t, tb.Logged(), "traceforge: load document: ")
		require.Contains(t, tb.Logged(), s.dir)
	}
}
