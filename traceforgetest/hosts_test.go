package traceforgetest_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/tbtest"
	"github.com/traceforge/traceforge-go/traceforgetest"
)

// A site is what a test of Record calls: paths with what they answer.
type site map[string]*http.Response

func (s site) RoundTrip(r *http.Request) (*http.Response, error) {
	page, ok := s[r.Method+" "+r.URL.Path]
	if !ok {
		return &http.Response{StatusCode: 404, Header: http.Header{"Content-Type": {"text/plain"}}, Body: io.NopCloser(strings.NewReader("no such page")), Request: r}, nil
	}
	answer := *page
	body, err := io.ReadAll(page.Body)
	page.Body = io.NopCloser(bytes.NewReader(body))
	answer.Body, answer.Request = io.NopCloser(bytes.NewReader(body)), r
	return &answer, err
}

func answers(status int, contentType, body string, headers ...string) *http.Response {
	resp := &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body))}
	if contentType != "" {
		resp.Header.Set("Content-Type", contentType)
	}
	for i := 0; i < len(headers); i += 2 {
		resp.Header.Set(headers[i], headers[i+1])
	}
	return resp
}

// A fetched is what a program saw of an answer.
type fetched struct {
	status            int
	contentType, body string
}

// fetch asks for each target, "GET https://…", and returns what came.
func fetch(client *http.Client, targets ...string) (all []fetched, err error) {
	for _, target := range targets {
		method, url, _ := strings.Cut(target, " ")
		url, body, _ := strings.Cut(url, " ")
		req, err := http.NewRequest(method, url, strings.NewReader(body))
		if err != nil {
			return nil, err
		}
		resp, err := client.Do(req)
		if err != nil {
			return nil, err
		}
		data, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil {
			return nil, err
		}
		all = append(all, fetched{resp.StatusCode, resp.Header.Get("Content-Type"), string(data)})
	}
	return all, nil
}

// TestRecordHosts records pages, downloads, redirects and errors of a listed host and the hosts below it, and replays
// them offline, byte for byte.
func TestRecordHosts(t *testing.T) {
	png := "\x89PNG\r\n\x1a\n" + strings.Repeat("\x00\xff", 600)
	live := site{
		"GET /search":    answers(200, "application/json", `{"Results":[{"Name":"a","Text":"b"}],"Type":"search"}`),
		"GET /page":      answers(200, "text/html; charset=utf-8", "<html>caf\u00e9</html>"),
		"GET /yaml":      answers(200, "text/yaml", "id: 5\ntitle: x\n"),
		"GET /image.png": answers(200, "image/png", png),
		"GET /tiny":      answers(200, "", "\x00\x01"),
		"GET /old":       answers(302, "", "", "Location", "https://docs.example.com/page?token=abc"),
		"HEAD /page":     answers(200, "text/html", ""),
		"GET /none":      answers(204, "", ""),
		"POST /form":     answers(201, "application/xml", "<ok/>"),
		"GET /events":    answers(200, "text/event-stream", "event: a\ndata: {\"Content\":\"x\"}\n\ndata: two\n\n"),
	}
	targets := []string{
		"GET https://docs.example.com/search?q=go&page=2", "GET https://example.com/page", "GET https://example.com/yaml",
		"GET https://cdn.example.com/image.png?access_token=abc", "GET https://example.com/tiny", "GET https://example.com/old",
		"HEAD https://example.com/page", "GET https://example.com/none", "POST https://example.com/form a=1&b=2",
		"GET https://example.com/missing", "GET https://example.com/events",
	}
	get := func(got *[]fetched, targets ...string) func(*tbtest.TB, *traceforgetest.Recorder) {
		return func(t *tbtest.TB, tf *traceforgetest.Recorder) {
			var err error
			if *got, err = fetch(tf.Client(), targets...); err != nil {
				t.Errorf("%v", err)
			}
		}
	}
	s := newScene(t)
	hosts := traceforgetest.Record("example.com")
	var recorded, replayed []fetched
	t.Setenv("TRACEFORGE_UPDATE", "all")
	requirePass(t, s.run("TestIt", get(&recorded, targets...), hosts, traceforgetest.Upstream(live)))
	before := s.files()
	requirePass(t, s.run("TestIt", get(&recorded, targets...), hosts, traceforgetest.Upstream(live)))
	s.requireFiles(before)
	t.Setenv("TRACEFORGE_UPDATE", "")
	requirePass(t, s.replay("TestIt", get(&replayed, targets...), hosts))
	require.Equal(t, recorded, replayed)
	require.Equal(t, png, replayed[3].body)
	require.Contains(t, replayed[2].body, "title: x")
	s.requireWhole()
	for name, data := range before {
		require.NotContains(t, data, "token=abc", name)
	}
	image, err := filepath.Glob(filepath.Join(s.dir, "*", "*", "*.png"))
	require.NoError(t, err)
	require.NotEmpty(t, image, "a download has its own bytes and its extension")

	for _, c := range []struct{ name, changed, want string }{
		{"query", "GET https://docs.example.com/search?q=rust&page=2", "rust"},
		{"method", "POST https://docs.example.com/search?q=go&page=2", `-   "method": "GET"`},
		{"body", "POST https://example.com/form a=1&b=3", "b=3"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []fetched
			log := s.replay("TestIt", get(&got, c.changed), hosts).Logged()
			require.Contains(t, log, "request drifted from ")
			require.Contains(t, log, c.want)
		})
	}

	// What is a model call stays one, with its rules.
	tb := s.update("1", "TestModel", func(t *tbtest.TB, tf *traceforgetest.Recorder) {
		_, _ = post(tf.Client(), "https://llm.example.com/v1/chat/completions", newChat("a").with("temperature", 1))
	}, hosts)
	require.Contains(t, tb.Logged(), "is not deterministic")
}

// TestUnlistedHost names the option that records a call before the one that lets it pass.
func TestUnlistedHost(t *testing.T) {
	s := newScene(t)
	tb := s.replay("TestIt", func(t *tbtest.TB, tf *traceforgetest.Recorder) {
		_, _ = fetch(tf.Client(), "GET https://notexample.com/page")
	}, traceforgetest.Record("example.com"))
	log := tb.Logged()
	record, pass := strings.Index(log, `traceforgetest.Record("notexample.com")`), strings.Index(log, `traceforgetest.PassThrough("notexample.com")`)
	require.True(t, 0 < record && record < pass, log)
}

func TestHostsAreChecked(t *testing.T) {
	s := newScene(t)
	for _, c := range []struct {
		name, why string
		option    traceforgetest.Option
		want      string
	}{
		{"scheme", "a URL", traceforgetest.Record("https://example.com"), `Record("https://example.com"): want a host without scheme, port and path, as in Record("example.com"): its subdomains are included`},
		{"port", "ports are no identity", traceforgetest.Record("example.com:8080"), `Record("example.com:8080"): want a host`},
		{"star", "subdomains are meant anyway", traceforgetest.PassThrough("*.example.com"), `PassThrough("*.example.com"): want a host`},
		{"empty", "names nothing", traceforgetest.Record(""), `Record(""): want a host`},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Contains(t, s.run("TestIt", asks(), c.option).Logged(), "traceforge: "+c.want, c.why)
		})
	}
	requirePass(t, s.run("TestIt", asks(), traceforgetest.Record("::1", "127.0.0.1", "Example.COM"), traceforgetest.Allow(traceforgetest.NoCalls)))
}

// TestRecordKeepsSecretsOut refuses a token that an answer of a listed host gives.
func TestRecordKeepsSecretsOut(t *testing.T) {
	const secret = "ghp_0123456789abcdefghijABCDEFGHIJ012345"
	s := newScene(t)
	live := site{"GET /token": answers(200, "text/plain", "your token: "+secret)}
	t.Setenv("TRACEFORGE_UPDATE", "1")
	tb := s.run("TestIt", func(t *tbtest.TB, tf *traceforgetest.Recorder) {
		_, _ = fetch(tf.Client(), "GET https://example.com/token")
	}, traceforgetest.Record("example.com"), traceforgetest.Upstream(live))
	require.Contains(t, tb.Logged(), "nothing was recorded")
	require.NotContains(t, tb.Logged(), secret)
}

// TestRecordCutStream refuses a stream of an unknown API that broke, as nothing in it says that it was whole.
func TestRecordCutStream(t *testing.T) {
	s := newScene(t)
	live := roundTripper(func(r *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"text/event-stream"}}, Request: r,
			Body: io.NopCloser(io.MultiReader(strings.NewReader("data: one\n\n"), failingReader{io.ErrClosedPipe}))}, nil
	})
	var got error
	watch := func(t *tbtest.TB, tf *traceforgetest.Recorder) {
		_, got = fetch(tf.Client(), "GET https://example.com/events")
	}
	requireCut(s, live, watch, "answer was cut before its end: io: read/write on closed pipe")
	require.ErrorIs(t, got, io.ErrUnexpectedEOF)
}

// requireCut holds that a stream of example.com is refused with a reason, and recorded and replayed as cut with the option.
func requireCut(s *scene, live roundTripper, watch func(*tbtest.TB, *traceforgetest.Recorder), why string) {
	s.t.Helper()
	hosts := traceforgetest.Record("example.com")
	s.t.Setenv("TRACEFORGE_UPDATE", "1")
	require.Contains(s.t, s.run("TestIt", watch, hosts, traceforgetest.Upstream(live)).Logged(), why)
	requirePass(s.t, s.run("TestIt", watch, hosts, traceforgetest.Upstream(live), traceforgetest.Allow(traceforgetest.CutStreams)))
	s.t.Setenv("TRACEFORGE_UPDATE", "")
	requirePass(s.t, s.replay("TestIt", watch, hosts))
}

// TestRecordStreamThatItsCallerLeft refuses a stream of an unknown API that its caller's context cut, and with the option
// replays it as cut: whether the last event had come is not known.
func TestRecordStreamThatItsCallerLeft(t *testing.T) {
	for name, reads := range map[string]bool{"while it reads": true, "before it closes": false} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			live := roundTripper(func(r *http.Request) (*http.Response, error) {
				rest, stop := io.Pipe()
				context.AfterFunc(r.Context(), func() { stop.CloseWithError(context.Cause(r.Context())) })
				return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"text/event-stream"}}, Request: r,
					Body: struct {
						io.Reader
						io.Closer
					}{io.MultiReader(strings.NewReader("data: one\n\n"), rest), rest}}, nil
			})
			var got error
			watch := func(t *tbtest.TB, tf *traceforgetest.Recorder) {
				ctx, cancel := context.WithCancel(context.Background())
				defer cancel()
				req, _ := http.NewRequestWithContext(ctx, http.MethodGet, "https://example.com/events", nil)
				resp, err := tf.Client().Do(req)
				if got = err; err != nil {
					return
				}
				defer resp.Body.Close()
				_, _ = io.ReadFull(resp.Body, make([]byte, len("data: one\n\n")))
				if cancel(); reads {
					_, got = io.ReadAll(resp.Body)
				}
			}
			requireCut(s, live, watch, "answer was cut by the caller: it was not recorded")
			if reads {
				require.ErrorIs(t, got, context.Canceled)
			}
		})
	}
}
