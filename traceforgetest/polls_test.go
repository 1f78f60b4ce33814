package traceforgetest_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/store"
	"github.com/traceforge/traceforge-go/internal/store/audit"
	"github.com/traceforge/traceforge-go/internal/tbtest"
	"github.com/traceforge/traceforge-go/traceforgetest"
)

// A background is a provider of responses that are made in the background: each is in progress for some polls.
type background struct {
	polls   int // until a response is complete
	prompts []string
	polled  []int
	calls   []string // since the last look
}

func (m *background) RoundTrip(r *http.Request) (*http.Response, error) {
	var n int
	status, output := "queued", "[]"
	if r.Method == http.MethodPost {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		var asked struct{ Input string }
		if err := json.Unmarshal(body, &asked); err != nil {
			return nil, err
		}
		n = len(m.prompts)
		m.prompts, m.polled = append(m.prompts, asked.Input), append(m.polled, 0)
		m.calls = append(m.calls, "start")
	} else {
		fmt.Sscanf(r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:], "resp_%d", &n)
		m.calls = append(m.calls, "poll")
		m.polled[n]++
		if status = "in_progress"; m.polled[n] > m.polls {
			status, output = "completed", fmt.Sprintf(`[{"type":"message","id":"msg_%032d","role":"assistant","status":"completed",
				"content":[{"type":"output_text","text":"about %s","annotations":[]}]}]`, n, m.prompts[n])
		}
	}
	answer := fmt.Sprintf(`{"id":"resp_%032d","object":"response","status":%q,"model":"m","background":true,"output":%s}`, n, status, output)
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Request: r,
		Body: io.NopCloser(strings.NewReader(answer))}, nil
}

// TestUpdateOfPolls changes what responses in the background are asked, and how often they are polled: what an update writes
// gives each job its own answer.
func TestUpdateOfPolls(t *testing.T) {
	type job struct {
		ID, Status string
		Output     []struct{ Content []struct{ Text string } }
	}
	const url = "https://api.openai.com/v1/responses"
	for _, jobs := range []int{1, 2, 3} {
		t.Run(fmt.Sprint(jobs), func(t *testing.T) {
			s, m := newScene(t), &background{}
			run := func(mode string, passes bool, prompts ...string) []string {
				t.Helper()
				t.Setenv("TRACEFORGE_UPDATE", mode)
				m.calls = nil
				tb := s.run("TestIt", func(tb *tbtest.TB, tf *traceforgetest.Recorder) {
					call := func(method, path, body string) (said job) {
						req, err := http.NewRequest(method, url+path, strings.NewReader(body))
						require.NoError(t, err)
						req.Header.Set("Content-Type", "application/json")
						resp, err := tf.Client().Do(req)
						if err != nil {
							tb.Errorf("%v", err)
							tb.FailNow()
						}
						require.NoError(t, json.NewDecoder(resp.Body).Decode(&said))
						require.NoError(t, resp.Body.Close())
						return said
					}
					var open []job
					for _, prompt := range prompts[:jobs] {
						open = append(open, call("POST", "", fmt.Sprintf(`{"model":"m","background":true,"temperature":0,"input":%q}`, prompt)))
					}
					for left := len(open); left > 0; {
						for n, j := range open {
							if j.Status == "completed" {
								continue
							}
							now := call("GET", "/"+j.ID, "")
							if now.ID != j.ID {
								tb.Errorf("the answer about %s is about %s", j.ID, now.ID)
							}
							if open[n].Status = now.Status; now.Status != "completed" {
								continue
							}
							left--
							if said := now.Output[0].Content[0].Text; said != "about "+prompts[n] {
								tb.Errorf("%q is the answer to another than %q", said, prompts[n])
							}
						}
					}
					if !passes {
						tb.Errorf("it fails")
					}
				}, traceforgetest.Upstream(m), traceforgetest.Nondeterministic("jobs have no seed"))
				require.Equal(t, !passes, tb.Failed(), tb.Logged())
				require.NotContains(t, tb.Logged(), "is about")
				require.NotContains(t, tb.Logged(), "another than")
				return m.calls
			}
			replays := func(prompts ...string) {
				t.Helper()
				require.Empty(t, run("1", true, prompts...))
				require.Empty(t, run("", true, prompts...))
			}
			for _, polls := range [][2]int{{1, 1}, {0, 1}, {1, 2}, {2, 1}, {1, 0}} {
				name := fmt.Sprint(polls)
				m.polls = polls[0]
				run("all", true, "one"+name, "two", "three")
				replays("one"+name, "two", "three")
				m.polls = polls[1]
				run("1", true, "other"+name, "two", "three")
				replays("other"+name, "two", "three")
				run("1", true, "other"+name, "another", "three")
				replays("other"+name, "another", "three")
				run("1", true, "a"+name, "b", "c")
				replays("a"+name, "b", "c")
				run("all", true, "a"+name, "b", "c")
				replays("a"+name, "b", "c")
				run("1", false, "d"+name, "e", "c")
				run("1", true, "d"+name, "e", "c")
				replays("d"+name, "e", "c")
				run("1", false, "f"+name, "e", "c")
				st, err := store.Open(s.dir)
				require.NoError(t, err)
				_, err = audit.Accept(st, []string{strings.TrimSuffix(filepath.Base(s.document("TestIt")), ".json")})
				require.NoError(t, err)
				replays("f"+name, "e", "c")
			}
			s.requireWhole()
		})
	}
}

// An assistant is a provider of threads, which have all that was said in them.
type assistant struct {
	said  map[string][]string // by thread
	calls int
}

func (m *assistant) RoundTrip(r *http.Request) (*http.Response, error) {
	m.calls++
	var answer string
	_, thread, _ := strings.Cut(r.URL.Path, "/threads/")
	thread, of, _ := strings.Cut(thread, "/")
	switch {
	case of == "":
		thread = fmt.Sprintf("thread_%024d", len(m.said))
		m.said[thread] = nil
		answer = fmt.Sprintf(`{"id":%q,"object":"thread"}`, thread)
	case r.Method == http.MethodPost:
		m.said[thread] = append(m.said[thread], fmt.Sprint("answer ", len(m.said)))
		answer = fmt.Sprintf(`{"id":"run_%024d","object":"thread.run","thread_id":%q,"status":"completed"}`, m.calls, thread)
	default:
		answer = fmt.Sprintf(`{"object":"list","data":[{"id":"msg_%024d","object":"thread.message","thread_id":%q,"content":[{"type":"text",
			"text":{"value":%q}}]}]}`, m.calls, thread, m.said[thread])
	}
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Request: r,
		Body: io.NopCloser(strings.NewReader(answer))}, nil
}

// TestUpdateOfThreads buys a thread again: the record that gives out its id gives out the new one, as those of its messages do.
func TestUpdateOfThreads(t *testing.T) {
	s, m := newScene(t), &assistant{said: map[string][]string{}}
	run := func(mode string) int {
		t.Setenv("TRACEFORGE_UPDATE", mode)
		m.calls = 0
		tb := s.run("TestIt", func(tb *tbtest.TB, tf *traceforgetest.Recorder) {
			call := func(method, path string) (said struct {
				ID   string
				Data []struct {
					Thread string `json:"thread_id"`
				}
			}) {
				req, err := http.NewRequest(method, "https://api.openai.com/v1/threads"+path, nil)
				require.NoError(t, err)
				resp, err := tf.Client().Do(req)
				require.NoError(t, err)
				require.NoError(t, json.NewDecoder(resp.Body).Decode(&said))
				require.NoError(t, resp.Body.Close())
				return said
			}
			thread := call("POST", "").ID
			call("POST", "/"+thread+"/runs")
			require.Equal(t, thread, call("GET", "/"+thread+"/messages").Data[0].Thread)
		}, traceforgetest.Upstream(m), traceforgetest.Nondeterministic("threads have no seed"))
		requirePass(t, tb)
		return m.calls
	}
	for range 2 {
		require.Equal(t, 3, run("all"))
		require.Zero(t, run("1"))
		require.Zero(t, run(""))
	}
	s.requireWhole()
}
