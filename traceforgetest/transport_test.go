package traceforgetest_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/tbtest"
	"github.com/traceforge/traceforge-go/traceforgetest"
)

// TestTransportErrors provokes real errors of the transport, records them, and compares what
// the caller sees in replay.
func TestTransportErrors(t *testing.T) {
	plain := httptest.NewServer(http.NotFoundHandler())
	defer plain.Close()
	done := make(chan struct{})
	hanging := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-done }))
	defer hanging.Close()
	defer close(done)
	resetting := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err == nil {
			conn.(*net.TCPConn).SetLinger(0)
			conn.Close()
		}
	}))
	defer resetting.Close()
	untrusted := httptest.NewTLSServer(http.NotFoundHandler())
	defer untrusted.Close()

	cases := []struct {
		name, why, url string
		same           func(error) bool
	}{
		{"refused", "nobody listens", "http://127.0.0.1:1", func(err error) bool { return errors.Is(err, syscall.ECONNREFUSED) }},
		{"reset", "the peer gave up", resetting.URL, func(err error) bool { return errors.Is(err, syscall.ECONNRESET) }},
		{"timeout", "the client gave up", hanging.URL, func(err error) bool {
			var netErr net.Error
			return errors.As(err, &netErr) && netErr.Timeout()
		}},
		{"certificate", "nobody vouches for the peer", untrusted.URL, func(err error) bool {
			var cert *tls.CertificateVerificationError
			return errors.As(err, &cert)
		}},
		{"unknown host", "no such name", "http://nobody.invalid", func(err error) bool {
			var dns *net.DNSError
			return errors.As(err, &dns)
		}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := newScene(t)
			live := &http.Transport{}
			if c.url == hanging.URL { // the others answer, or end, when it is their turn on a busy machine
				live.ResponseHeaderTimeout = 50 * time.Millisecond
			}
			var recorded, replayed error
			test := func(err *error) func(*tbtest.TB, *traceforgetest.Recorder) {
				return func(tb *tbtest.TB, tf *traceforgetest.Recorder) {
					_, *err = post(tf.Client(), c.url+"/v1/chat/completions", newChat("a"))
				}
			}
			t.Setenv("TRACEFORGE_UPDATE", "1")
			requirePass(t, s.run("TestIt", test(&recorded), traceforgetest.Upstream(live), traceforgetest.Allow(traceforgetest.TransportErrors)))
			require.True(t, c.same(recorded), "%v", recorded)
			t.Setenv("TRACEFORGE_UPDATE", "")
			requirePass(t, s.replay("TestIt", test(&replayed)))
			require.True(t, c.same(replayed), "%s: %v", c.why, replayed)
			require.Equal(t, recorded.Error(), replayed.Error())
			s.requireWhole()
		})
	}
}

func TestTransportErrorsBeforeSuccess(t *testing.T) {
	s := newScene(t)
	tries := 0
	flaky := roundTripper(func(r *http.Request) (*http.Response, error) {
		if tries++; tries == 1 {
			return nil, syscall.ECONNRESET
		}
		return s.provider.Transport().RoundTrip(r)
	})
	twice := func(t *tbtest.TB, tf *traceforgetest.Recorder) {
		if _, err := send(tf.Client(), newChat("a")); !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("got %v", err)
		}
		asks(newChat("a"))(t, tf)
	}
	t.Setenv("TRACEFORGE_UPDATE", "1")
	requirePass(t, s.run("TestIt", twice, traceforgetest.Upstream(flaky), traceforgetest.Allow(traceforgetest.TransportErrors)))
	t.Setenv("TRACEFORGE_UPDATE", "")
	requirePass(t, s.replay("TestIt", twice))
}

func TestPassThrough(t *testing.T) {
	telemetry := traceforgetest.PassThrough("telemetry.example")
	visits := 0
	live := roundTripper(func(r *http.Request) (*http.Response, error) {
		if r.URL.Hostname() == "eu.telemetry.example" {
			visits++
			return &http.Response{StatusCode: 204, Body: http.NoBody}, nil
		}
		return nil, context.Canceled
	})
	s := newScene(t)
	s.record("TestIt", asks(newChat("a")))
	visit := func(want string) func(*tbtest.TB, *traceforgetest.Recorder) {
		return func(t *tbtest.TB, tf *traceforgetest.Recorder) {
			resp, err := tf.Client().Post("https://eu.telemetry.example/v1", "text/plain", strings.NewReader("x"))
			if err != nil {
				t.Fatalf("%v", err)
			}
			answer, err := io.ReadAll(resp.Body)
			if err != nil || want == "" && resp.StatusCode != 204 || want != "" && (resp.StatusCode != 400 || !strings.Contains(string(answer), want)) {
				t.Errorf("got %d %s %v", resp.StatusCode, answer, err)
			}
		}
	}
	requirePass(t, s.replay("TestIt", func(t *tbtest.TB, tf *traceforgetest.Recorder) {
		visit("eu.telemetry.example is passed through while recording only")(t, tf)
		asks(newChat("a"))(t, tf)
	}, telemetry))
	t.Setenv("TRACEFORGE_UPDATE", "1")
	tb := s.run("TestIt", visit(""), telemetry, traceforgetest.Upstream(live))
	require.Contains(t, tb.Logged(), "no model call was made", "a passed call is none")
	require.Equal(t, 1, visits)
}

// TestReadAfterClose: a body that was closed cannot be read, in replay as in a recording.
func TestReadAfterClose(t *testing.T) {
	s := newScene(t)
	test := func(t *tbtest.TB, tf *traceforgetest.Recorder) {
		for _, stream := range []bool{false, true} {
			body, _ := json.Marshal(newChat("a").with("stream", stream))
			resp, err := tf.Client().Post("https://api.openai.com/v1/chat/completions", "application/json", bytes.NewReader(body))
			if err != nil {
				t.Fatalf("%v", err)
			}
			_ = resp.Body.Close()
			if read, err := io.ReadAll(resp.Body); err == nil || len(read) > 0 {
				t.Errorf("read %q, %v", read, err)
			}
		}
	}
	s.record("TestIt", test, traceforgetest.Allow(traceforgetest.CutStreams))
	requirePass(t, s.replay("TestIt", test, traceforgetest.Allow(traceforgetest.CutStreams)))
}

// TestTimeoutOfClient: the timeout of an http.Client, which cancels a request in two ways, is recorded as one.
func TestTimeoutOfClient(t *testing.T) {
	s := newScene(t)
	hanging := roundTripper(func(req *http.Request) (*http.Response, error) {
		//lint:ignore SA1019 net/http sets it
		if cancelled := req.Cancel; cancelled != nil {
			<-cancelled // which may be the faster way
			return nil, errors.New("net/http: request canceled")
		}
		<-req.Context().Done()
		return nil, req.Context().Err()
	})
	var timeout time.Duration
	test := func(t *tbtest.TB, tf *traceforgetest.Recorder) {
		client := &http.Client{Transport: tf, Timeout: timeout}
		if _, err := send(client, newChat("a")); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
	}
	allowed := traceforgetest.Allow(traceforgetest.TransportErrors)
	for _, timeout = range []time.Duration{20 * time.Millisecond, time.Nanosecond} { // which may pass before the call is made
		t.Setenv("TRACEFORGE_UPDATE", "all")
		requirePass(t, s.run("TestIt", test, traceforgetest.Upstream(hanging), allowed))
		require.Equal(t, "deadline", s.records("openai")[0].Response.Error.Code)
		t.Setenv("TRACEFORGE_UPDATE", "")
		for _, timeout = range []time.Duration{20 * time.Millisecond, time.Nanosecond} {
			requirePass(t, s.replay("TestIt", test, allowed))
		}
		timeout = time.Minute
		requirePass(t, s.replay("TestIt", test))
	}
	s.requireWhole()
}

// TestEndlessRequest: a call whose body does not end ends with its context.
func TestEndlessRequest(t *testing.T) {
	s := newScene(t)
	s.record("TestIt", asks(newChat("a")))
	synctest.Test(t, func(t *testing.T) {
		tb := s.replay("TestIt", func(t *tbtest.TB, tf *traceforgetest.Recorder) {
			body, _ := io.Pipe()
			ctx, cancel := context.WithTimeout(context.Background(), time.Second)
			defer cancel()
			req, _ := http.NewRequestWithContext(ctx, http.MethodPost, "https://api.openai.com/v1/chat/completions", body)
			if _, err := tf.Client().Do(req); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("got %v", err)
			}
			asks(newChat("a"))(t, tf)
		})
		requirePass(t, tb)
	})
}
