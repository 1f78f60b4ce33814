package recorder

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/usage"
)

const askedBody = `{"model":"m","temperature":0,"seed":1,"messages":[{"role":"user","content":"a"}]}`

// An upstream is a provider that notes what it is asked, and answers as it is told.
type upstream struct {
	asked  []*http.Request
	header http.Header
	body   string
	status int // 0: 200
}

func (u *upstream) RoundTrip(req *http.Request) (*http.Response, error) {
	u.asked = append(u.asked, req)
	body := u.body
	if body == "" {
		body = `{"id":"1","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"four"},"finish_reason":"stop"}]}`
	}
	header := http.Header{"Content-Type": {"application/json"}}
	maps.Copy(header, u.header)
	return &http.Response{StatusCode: cmp.Or(u.status, http.StatusOK), Header: header, Request: req,
		Body: io.NopCloser(strings.NewReader(body)), ContentLength: int64(len(body))}, nil
}

// TestGatewayAstray: a client that drops the path of its base URL, and has a key of its own, is told how it is answered, and so is
// whoever reads that the test made no call.
func TestGatewayAstray(t *testing.T) {
	t.Setenv("MISTRAL_API_KEY", "one that is no secret of anybody")
	s := newScene(t)
	told, _ := s.run(Replay, func(r *Recorder) {
		base, closeServer, err := r.Serve("mistral")
		require.NoError(t, err)
		defer closeServer()
		u, err := url.Parse(base)
		require.NoError(t, err)
		resp, err := http.Post("http://"+u.Host+"/v1/chat/completions", "application/json", strings.NewReader(askedBody))
		require.NoError(t, err)
		defer resp.Body.Close()
		said, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		require.Contains(t, string(said), "a client that drops the path of its base URL must send the key that is in MISTRAL_API_KEY")
	})
	require.Len(t, told, 1)
	require.Equal(t, "no model call was made\na request was turned away: the path does not begin as that of the base URL: append to that "+
		"what follows the provider's host; a client that drops the path of its base URL must send the key that is in MISTRAL_API_KEY", told[0].Text)
}

// TestGatewayAnswersOnlyItsCaller asks the server of a URL as others than the code under test would:
// none of it reaches the provider, whose answers cost the caller's money.
func TestGatewayAnswersOnlyItsCaller(t *testing.T) {
	for _, c := range []struct {
		name, why string
		edit      func(*http.Request)
		want      int
	}{
		{"asked", "the code under test", func(*http.Request) {}, 200},
		{"own origin", "a program of its own page", func(r *http.Request) { r.Header.Set("Origin", "http://"+r.URL.Host) }, 200},
		{"no page", "a browser's own address bar", func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "none") }, 200},
		{"host", "a name that was bound to the loopback address (DNS rebinding)", func(r *http.Request) { r.Host = "evil.example" }, 421},
		{"host's port", "another server of this machine", func(r *http.Request) { r.Host = "127.0.0.1:1" }, 421},
		{"localhost", "a name that a page can have too", func(r *http.Request) { r.Host = "localhost:" + r.URL.Port() }, 421},
		{"origin", "a page that asks across sites", func(r *http.Request) { r.Header.Set("Origin", "https://evil.example") }, 403},
		{"null origin", "a page in a sandbox", func(r *http.Request) { r.Header.Set("Origin", "null") }, 403},
		{"cross-site", "a form of a page, which sends no Origin in old browsers", func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") }, 403},
		{"same-site", "another port of this machine", func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "same-site") }, 403},
		{"no path", "who does not know the URL", func(r *http.Request) { r.URL.Path = "/v1/chat/completions" }, 404},
		{"guessed path", "who guesses it", func(r *http.Request) { r.URL.Path = "/aaaaaaaaaaaaaaaaaaaaaaaaaa/v1/chat/completions" }, 404},
		{"longer path", "a longer one is another", func(r *http.Request) { r.URL.Path = strings.Replace(r.URL.Path, "/v1", "x/v1", 1) }, 404},
		{"options", "a browser asks whether it may", func(r *http.Request) { r.Method = http.MethodOptions }, 405},
		{"trace", "gives what was sent back, its key too", func(r *http.Request) { r.Method, r.Body, r.ContentLength = http.MethodTrace, nil, 0 }, 405},
		{"connect", "is for proxies", func(r *http.Request) { r.Method, r.Body, r.ContentLength = http.MethodConnect, nil, 0 }, 405},
		{"own method", "no API has it", func(r *http.Request) { r.Method = "PROPFIND" }, 405},
		{"upgrade", "a connection of another protocol is not recorded", func(r *http.Request) {
			r.Header.Set("Connection", "Upgrade")
			r.Header.Set("Upgrade", "websocket")
		}, 400},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, u := newScene(t), &upstream{}
			s.run(Update, func(r *Recorder) {
				base, closeServer, err := r.Serve("openai")
				require.NoError(t, err)
				defer closeServer()
				req, err := http.NewRequest("POST", base+"/v1/chat/completions", strings.NewReader(askedBody))
				require.NoError(t, err)
				req.Header.Set("Content-Type", "application/json")
				c.edit(req)
				resp, err := http.DefaultTransport.RoundTrip(req)
				require.NoError(t, err)
				defer resp.Body.Close()
				said, err := io.ReadAll(resp.Body)
				require.NoError(t, err)
				require.Equal(t, c.want, resp.StatusCode, "%s: %s", c.why, said)
				if c.want == 200 {
					require.Len(t, u.asked, 1, c.why)
					require.Equal(t, "https://api.openai.com/v1/chat/completions", u.asked[0].URL.String())
					require.Equal(t, "api.openai.com", u.asked[0].Host)
				} else {
					require.Empty(t, u.asked, c.why)
				}
			}, func(o *Options) { o.Upstream = u })
		})
	}
}

// TestGatewayTakes each method that APIs use, and a call without the server's path that has the provider's key, as the header of
// either kind. What it cannot pass on it refuses in words.
func TestGatewayTakes(t *testing.T) {
	t.Setenv("ANTHROPIC_API_KEY", "one that is no secret of anybody")
	s := newScene(t)
	s.run(Update, func(r *Recorder) {
		base, closeServer, err := r.Serve("anthropic")
		require.NoError(t, err)
		defer closeServer()
		ask := func(method, address, header, value string) (status int, said string) {
			req, err := http.NewRequest(method, address, nil)
			require.NoError(t, err)
			req.Header.Set(header, value)
			resp, err := http.DefaultTransport.RoundTrip(req)
			require.NoError(t, err)
			defer resp.Body.Close()
			text, err := io.ReadAll(resp.Body)
			require.NoError(t, err)
			return resp.StatusCode, resp.Header.Get("Content-Type") + ": " + string(text)
		}
		for method := range strings.FieldsSeq("GET POST PUT PATCH DELETE HEAD") {
			status, _ := ask(method, base+"/v1/models", "X-Test", "1")
			require.NotEqual(t, http.StatusMethodNotAllowed, status, method)
		}
		at, err := url.Parse(base)
		require.NoError(t, err)
		for header, key := range map[string]string{"X-Api-Key": "", "Authorization": "Bearer "} {
			status, _ := ask("GET", "http://"+at.Host+"/v1/models", header, key+"one that is no secret of anybody")
			require.NotEqual(t, http.StatusNotFound, status, header)
			status, _ = ask("GET", "http://"+at.Host+"/v1/models", header, key+"another")
			require.Equal(t, http.StatusNotFound, status, header)
		}
		status, said := ask("GET", base+"/v1/models", "Authorization", "AWS4-HMAC-SHA256 Credential=x")
		require.Equal(t, http.StatusBadRequest, status)
		require.Regexp(t, "^application/json: .*the request is signed for the server that it was sent to", said)
	}, func(o *Options) { o.Upstream = &upstream{body: `{"data":[]}`} })
}

// TestGatewayIsNoProxy sends whole URLs as targets, as to a proxy: their host and credentials go nowhere.
func TestGatewayIsNoProxy(t *testing.T) {
	for _, c := range []struct{ name, target string }{
		{"own host", "http://user:secret@HOST/PREFIX/v1/models"},
		{"other host", "http://user:secret@evil.example/PREFIX/v1/models"},
	} {
		s, u := newScene(t), &upstream{}
		s.run(Update, func(r *Recorder) {
			base, closeServer, err := r.Serve("openai")
			require.NoError(t, err)
			defer closeServer()
			at, err := url.Parse(base)
			require.NoError(t, err)
			conn, err := net.Dial("tcp", at.Host)
			require.NoError(t, err)
			defer conn.Close()
			target := strings.NewReplacer("HOST", at.Host, "/PREFIX", at.Path).Replace(c.target)
			fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: %s\r\n\r\n", target, at.Host)
			resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
			require.NoError(t, err)
			resp.Body.Close()
			require.GreaterOrEqual(t, resp.StatusCode, 400, c.name)
			require.Empty(t, u.asked, c.name)
		}, func(o *Options) { o.Upstream = u })
	}
}

// TestGatewayPassesNoConnectionOn keeps what concerns one connection, and what is said to browsers,
// from the other side.
func TestGatewayPassesNoConnectionOn(t *testing.T) {
	perHop := []string{"Connection", "Proxy-Connection", "Keep-Alive", "Proxy-Authenticate", "Proxy-Authorization",
		"Te", "Trailer", "Transfer-Encoding", "X-Named", "X-Forwarded-For", "Forwarded"}
	s, u := newScene(t), &upstream{header: http.Header{
		"Connection": {"X-Named"}, "X-Named": {"1"}, "Keep-Alive": {"timeout=5"}, "Proxy-Authenticate": {"Basic"},
		"Set-Cookie": {"session=secret"}, "Access-Control-Allow-Origin": {"*"}, "Access-Control-Allow-Credentials": {"true"},
		"X-Kept": {"1"},
	}}
	s.run(Update, func(r *Recorder) {
		base, closeServer, err := r.Serve("openai")
		require.NoError(t, err)
		defer closeServer()
		req, err := http.NewRequest("POST", base+"/v1/chat/completions?a=1;b", strings.NewReader(askedBody))
		require.NoError(t, err)
		for _, name := range perHop {
			req.Header.Set(name, "x")
		}
		req.Header.Set("Connection", "X-Named")
		req.Header.Set("Authorization", "Bearer k")
		resp, err := http.DefaultTransport.RoundTrip(req)
		require.NoError(t, err)
		resp.Body.Close()
		require.Equal(t, 200, resp.StatusCode)
		require.Len(t, u.asked, 1)
		require.Equal(t, "Bearer k", u.asked[0].Header.Get("Authorization"), "what is for the provider reaches it")
		require.Equal(t, "a=1;b", u.asked[0].URL.RawQuery)
		for _, name := range perHop {
			require.Empty(t, u.asked[0].Header.Values(name), name)
		}
		require.Equal(t, "1", resp.Header.Get("X-Kept"))
		for _, name := range []string{"X-Named", "Keep-Alive", "Proxy-Authenticate", "Set-Cookie",
			"Access-Control-Allow-Origin", "Access-Control-Allow-Credentials"} {
			require.Empty(t, resp.Header.Values(name), name)
		}
	}, func(o *Options) { o.Upstream = u })
}

// TestGatewayPathIsOfOneServer gives each server a path of its own, too long to guess.
func TestGatewayPathIsOfOneServer(t *testing.T) {
	s := newScene(t)
	s.run(Update, func(r *Recorder) {
		paths := map[string]bool{}
		for range 3 {
			base, closeServer, err := r.Serve("openai")
			require.NoError(t, err)
			closeServer()
			at, err := url.Parse(base)
			require.NoError(t, err)
			require.Regexp(t, "^/[a-z2-7]{26}$", at.Path)
			paths[at.Path] = true
		}
		require.Len(t, paths, 3)
	})
}

// TestServeAt keeps a call what it is for the provider, wherever it is made.
func TestServeAt(t *testing.T) {
	parse := func(text string) *url.URL {
		u, err := url.Parse(text)
		require.NoError(t, err)
		return u
	}
	openai := parse("https://api.openai.com/v1")
	for _, c := range []struct {
		name, why string
		endpoint  Endpoint
		path      string
		want      string
	}{
		{"home", "nobody said otherwise", Endpoint{Home: openai, Path: "/v1"}, "/chat/completions", "https://api.openai.com/v1/chat/completions"},
		{"gateway", "a company's own, with a path of its own", Endpoint{Home: openai, Path: "/v1", Upstream: parse("http://gw.example/a%2Fb/llm/")},
			"/chat/completions", "http://gw.example/a%2Fb/llm/chat/completions"},
		{"another", "the variable names another provider", Endpoint{Home: parse("https://api.groq.com/openai/v1"), Path: "/v1"},
			"/chat/completions", "https://api.groq.com/openai/v1/chat/completions"},
		{"no_path", "SDKs have the version in each path", Endpoint{Home: parse("https://api.openai.com")}, "/v1/chat/completions",
			"https://api.openai.com/v1/chat/completions"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, u, base := newScene(t), &upstream{}, ""
			failures, _ := s.run(Update, func(r *Recorder) {
				var closeServer func()
				var err error
				base, closeServer, err = r.ServeAt(c.endpoint)
				require.NoError(t, err)
				defer closeServer()
				resp, err := http.Post(base+c.path, "application/json", strings.NewReader(askedBody))
				require.NoError(t, err)
				resp.Body.Close()
			}, func(o *Options) { o.Upstream = u })
			require.Empty(t, failures, c.why)
			require.Len(t, u.asked, 1)
			require.Equal(t, c.want, u.asked[0].URL.String(), c.why)
			require.True(t, strings.HasSuffix(base, c.endpoint.Path), base)

			failures, _ = s.run(Check, func(r *Recorder) {
				at, closeServer, err := r.ServeAt(c.endpoint)
				require.NoError(t, err)
				defer closeServer()
				resp, err := http.Post(at+c.path, "application/json", strings.NewReader(askedBody))
				require.NoError(t, err)
				resp.Body.Close()
			}, func(o *Options) {
				o.Upstream, o.Checking = u, usage.CheckOptions{Repeat: 1, Percent: 100, Shard: 1, Shards: 1}
			})
			require.Empty(t, failures, c.why)
			require.Len(t, u.asked, 2)
			require.Equal(t, c.want, u.asked[1].URL.String(), "a check asks there too")
		})
	}
}

// TestConnectionsWithoutARequest holds that they end with the server, which waits for all others: also one that came while
// it ended.
func TestConnectionsWithoutARequest(t *testing.T) {
	unused := &unusedConns{}
	isOpen := func(states ...http.ConnState) func() bool {
		here, there := net.Pipe()
		t.Cleanup(func() { here.Close(); there.Close() })
		for _, state := range states {
			unused.note(here, state)
		}
		return func() bool { return here.SetDeadline(time.Time{}) == nil }
	}
	idle, active, done := isOpen(http.StateNew), isOpen(http.StateNew, http.StateActive), isOpen(http.StateNew, http.StateActive, http.StateIdle)
	require.True(t, idle())
	unused.close()
	require.Equal(t, []bool{false, true, true}, []bool{idle(), active(), done()})
	require.False(t, isOpen(http.StateNew)())
}

// TestHeadersOfBedrock: what AWS's SDK makes fields of an output of is there in replay too.
func TestHeadersOfBedrock(t *testing.T) {
	s, answered := newScene(t), http.Header{}
	for _, name := range []string{"X-Amzn-Bedrock-Content-Type", "X-Amzn-Bedrock-Performanceconfig-Latency", "X-Amzn-Bedrock-Service-Tier"} {
		answered.Set(name, "x")
	}
	for _, mode := range []Mode{Update, Replay} {
		told, _ := s.run(mode, func(r *Recorder) {
			resp, err := (&http.Client{Transport: r}).Post("https://bedrock-runtime.us-east-1.amazonaws.com/model/m/invoke", "application/json",
				strings.NewReader(`{"prompt":"hi","temperature":0}`))
			require.NoError(t, err)
			_, err = io.Copy(io.Discard, resp.Body)
			require.NoError(t, err)
			require.NoError(t, resp.Body.Close())
			for name := range answered {
				require.Equal(t, "x", resp.Header.Get(name), name)
			}
		}, func(o *Options) {
			o.Upstream = &upstream{header: answered, body: `{"generation":"hello","stop_reason":"stop"}`}
		})
		require.Empty(t, told)
	}
}

// TestGatewayRedirects: a redirect of the provider leads back to the server of its base URL, and no redirect leads past it.
func TestGatewayRedirects(t *testing.T) {
	for _, c := range []struct{ to, ends string }{
		{"/v2/chat/completions?a=b", "/v2/chat/completions?a=b"},
		{"https://api.mistral.ai/v2/chat/completions", "/v2/chat/completions"},
		{"http://evil.example/v2/chat/completions", ""},
		{"//evil.example", ""},
	} {
		s := newScene(t)
		u := &upstream{}
		ask := func(said *string) func(*Recorder) {
			return func(r *Recorder) {
				base, closeServer, err := r.Serve("mistral")
				require.NoError(t, err)
				defer closeServer()
				resp, err := http.Post(base+"/v1/chat/completions", "application/json", strings.NewReader(askedBody))
				require.NoError(t, err)
				defer resp.Body.Close()
				text, err := io.ReadAll(resp.Body)
				require.NoError(t, err)
				*said = resp.Status + string(text)
			}
		}
		moves := func(o *Options) {
			o.Recorded = []string{"api.mistral.ai"}
			o.Upstream = roundTripper(func(req *http.Request) (*http.Response, error) {
				u.status, u.header, u.body = 0, nil, ""
				if strings.HasPrefix(req.URL.Path, "/v1/") {
					u.status, u.header, u.body = http.StatusTemporaryRedirect, http.Header{"Location": {c.to}}, `{"message":"moved"}`
				}
				return u.RoundTrip(req)
			})
		}
		for _, mode := range []Mode{Update, Replay} {
			var said string
			told, _ := s.run(mode, ask(&said), moves)
			if c.ends == "" {
				require.NotEmpty(t, told, "%s", c.to)
				require.Contains(t, said, "400 ")
				require.Contains(t, told[0].Text, "the answer redirects to evil.example, for which the base URL does not stand")
				break
			}
			require.Empty(t, told, "%s", c.to)
			require.Contains(t, said, "four")
			require.Equal(t, c.ends, u.asked[len(u.asked)-1].URL.RequestURI())
		}
	}
}
