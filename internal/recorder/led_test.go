package recorder

import (
	"encoding/base64"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/usage"
	"github.com/traceforge/traceforge-go/snapshot"
)

// A mover sends the calls of its first host to another one, and notes the hosts that it is asked for.
type mover struct {
	to    string
	hosts []string
}

func (m *mover) RoundTrip(req *http.Request) (*http.Response, error) {
	m.hosts = append(m.hosts, req.URL.Host)
	resp := &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"application/json"}}, Request: req}
	resp.Body = io.NopCloser(strings.NewReader(honest))
	if req.URL.Host == "api.openai.com" {
		resp.StatusCode, resp.Body = http.StatusTemporaryRedirect, io.NopCloser(strings.NewReader(`{"error":{"message":"moved"}}`))
		resp.Header.Set("Location", "https://"+m.to+"/v1/chat/completions")
	}
	return resp, nil
}

// TestStoredAnswersLeadNoLiveCall: a pull request can change where a stored answer leads a client, which sends its key
// along. No live call follows.
func TestStoredAnswersLeadNoLiveCall(t *testing.T) {
	const evil = "evil.example"
	body := `{"error":{"message":"moved"},"to":"https:\/\/\u0065VIL.example"}`
	for _, c := range []struct {
		name  string
		mode  Mode
		forge func(n int, s *snapshot.Snapshot, raw string) string
		asks  func(got *string) func(*Recorder)
	}{
		{"redirect", Update, func(n int, s *snapshot.Snapshot, raw string) string {
			if s.Response.Stale = ""; n == 1 {
				s.Response.Headers["location"] = []string{"https://" + evil + "/v1/chat/completions"}
			}
			return raw
		}, func(got *string) func(*Recorder) { return posts(got, chatURL, askedBody) }},
		{"redirect in a check", Check, func(n int, s *snapshot.Snapshot, raw string) string {
			if n == 1 {
				s.Response.Headers["location"] = []string{"https://" + evil + "/v1/chat/completions"}
			} else {
				s.Provider = "evil-example"
			}
			return raw
		}, func(got *string) func(*Recorder) { return posts(got, chatURL, askedBody) }},
		{"address in a body", Update, func(n int, s *snapshot.Snapshot, raw string) string {
			if n == 1 {
				return body
			}
			return raw
		}, func(got *string) func(*Recorder) {
			return func(r *Recorder) {
				client := &http.Client{Transport: r, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
				resp, err := client.Post(chatURL, "application/json", strings.NewReader(askedBody))
				if err == nil {
					_, _ = io.Copy(io.Discard, resp.Body)
					resp.Body.Close()
					posts(got, "https://"+evil+"/v1/chat/completions", askedBody)(r)
				}
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, got := newScene(t), ""
			m := &mover{to: "other.example"}
			over := func(o *Options) {
				o.Upstream, o.Recorded = m, []string{"other.example", evil}
				o.Checking, _ = usage.ParseCheckOptions("")
			}
			failures, _ := s.run(Update, posts(&got, chatURL, askedBody), over)
			require.Empty(t, failures)
			require.Equal(t, []string{"api.openai.com", "other.example"}, m.hosts)

			s.forge(c.forge)
			m.hosts, got = nil, ""
			failures, _ = s.run(c.mode, c.asks(&got), over)
			require.NotContains(t, m.hosts, evil)
			require.NotEmpty(t, failures)
			require.Contains(t, failures[0].Text, "a stored answer names "+evil)

			m.hosts, got = nil, ""
			failures, _ = s.run(UpdateAll, posts(&got, chatURL, askedBody), over)
			require.Empty(t, failures, "the way out")
			require.Equal(t, []string{"api.openai.com", "other.example"}, m.hosts)
			require.Contains(t, got, "four")
		})
	}
}

// TestLedByOtherSpellings: a stored answer may spell a host as its client decodes it. The transport of net/http takes a
// full-width letter for a letter, and an ideographic stop for a dot.
func TestLedByOtherSpellings(t *testing.T) {
	twice := base64.StdEncoding.EncodeToString([]byte("go to https://evil.example/v1"))
	for name, c := range map[string]struct {
		location, raw, to string
		free              bool
	}{
		"stop":       {"https://evil\u3002example/v1/x", "", "https://evil\u3002example/v1/x", false},
		"full width": {"https://%EF%BD%85vil.example/v1/x", "", "https://%EF%BD%85vil.example/v1/x", false},
		"zone":       {"http://[fe80::1%25eth0]/v1/x", "", "http://[fe80::1%25eth0]/v1/x", false},
		"number":     {"http://2130706433/v1/x", "", "http://2130706433/v1/x", false},
		"base64":     {"", twice, "https://evil.example/v1/x", false},
		"other":      {"https://evil.example/v1/x", "", "https://other.example/v1/x", true},
		"word":       {"", "the gateway", "http://gateway/v1/x", true},
	} {
		t.Run(name, func(t *testing.T) {
			s, got, m := newScene(t), "", &mover{to: "other.example"}
			over := func(o *Options) { o.Upstream, o.Recorded = m, []string{"other.example"} }
			failures, _ := s.run(Update, posts(&got, chatURL, askedBody), over)
			require.Empty(t, failures)
			s.forge(func(n int, s *snapshot.Snapshot, raw string) string {
				if n > 1 {
					return raw
				}
				s.Response.Headers["location"] = []string{c.location}
				return `{"error":{"message":"moved"},"to":"` + c.raw + `"}`
			})
			m.hosts = nil
			s.run(Update, func(r *Recorder) {
				client := &http.Client{Transport: r, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
				resp, err := client.Post(chatURL, "application/json", strings.NewReader(askedBody))
				require.NoError(t, err)
				_, _ = io.Copy(io.Discard, resp.Body)
				resp.Body.Close()
				posts(&got, c.to, askedBody)(r)
			}, over)
			require.Equal(t, c.free, len(m.hosts) > 0, "%v %s", m.hosts, got)
		})
	}
}
