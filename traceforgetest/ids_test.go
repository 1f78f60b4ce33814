package traceforgetest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

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
				require.Empty(t, run("", true, "f"+name, "e", "c"))
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

// A talker is a provider of responses and conversations, which answers by all that was said, and of jobs, whose results do not
// name them. All ids are new.
type talker struct {
	ids  int
	said map[string]string // by id
	live int
}

func (m *talker) RoundTrip(r *http.Request) (*http.Response, error) {
	m.live++
	time.Sleep(2 * time.Millisecond) // records have milliseconds, which say that a call came after another
	var asked struct {
		Input, Conversation string
		Previous            string `json:"previous_response_id"`
	}
	if r.Method == http.MethodPost {
		if err := json.NewDecoder(r.Body).Decode(&asked); err != nil {
			return nil, err
		}
	}
	m.ids++
	number := fmt.Sprintf("%032x", m.ids*0x9e3779b)
	_, job, _ := strings.Cut(r.URL.Path, "/batches/")
	short := fmt.Sprint(m.ids)
	answer := ""
	switch job, isResult := strings.CutSuffix(job, "/results"); {
	case isResult:
		answer = fmt.Sprintf(`{"said":"about %s"}`, m.said[job])
	case strings.HasSuffix(r.URL.Path, "/batches"):
		m.said["msgbatch_"+number] = asked.Input
		answer = fmt.Sprintf(`{"id":"msgbatch_%s","processing_status":"ended"}`, number)
	case r.URL.Path == "/jobs":
		m.said[short] = asked.Input
		answer = `{"job":` + short + `}`
	case strings.HasPrefix(r.URL.Path, "/jobs/"):
		answer = fmt.Sprintf(`{"said":"about %s"}`, m.said[strings.TrimPrefix(r.URL.Path, "/jobs/")])
	case strings.HasSuffix(r.URL.Path, "/conversations"):
		answer = fmt.Sprintf(`{"id":"conv_%s","object":"conversation"}`, number)
	default:
		said := m.said[asked.Previous+asked.Conversation] + " " + asked.Input
		if strings.HasPrefix(asked.Input, "-") { // an answer that does not tell what it follows
			said = " " + asked.Input
		}
		m.said["resp_"+number], m.said[asked.Conversation] = said, said
		delete(m.said, "")
		answer = fmt.Sprintf(`{"id":"resp_%s","object":"response","status":"completed","model":"m","previous_response_id":%q,
			"conversation":{"id":%q},"output":[{"type":"message",
			"id":"msg_%s","role":"assistant","status":"completed","content":[{"type":"output_text","text":"about%s","annotations":[]}]}]}`,
			number, asked.Previous, asked.Conversation, number, said)
	}
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Request: r,
		Body: io.NopCloser(strings.NewReader(answer))}, nil
}

// TestAnswersByID holds that a call with an id of an earlier answer gets the answer that was recorded for what the id stands
// for, although its record numbers the id.
func TestAnswersByID(t *testing.T) {
	var got []string // the answers of a run
	call := func(tb *tbtest.TB, tf *traceforgetest.Recorder, path string, body map[string]any) (id, said string) {
		method, text := http.MethodGet, []byte(nil)
		if body != nil {
			body["model"], body["temperature"] = "m", 0
			method, text = http.MethodPost, must(json.Marshal(body))
		}
		req, err := http.NewRequest(method, path, bytes.NewReader(text))
		require.NoError(t, err)
		req.Header.Set("Content-Type", "application/json")
		resp, err := tf.Client().Do(req)
		if err != nil {
			tb.Fatalf("%v", err)
		}
		answer, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		got = append(got, string(answer))
		var of struct{ ID string }
		require.NoError(t, json.Unmarshal(answer, &of))
		if at := strings.Index(string(answer), `"about `); at >= 0 {
			said, _, _ = strings.Cut(string(answer)[at+len(`"about `):], `"`)
		}
		return of.ID, said
	}
	const openai, anthropic = "https://api.openai.com/v1", "https://api.anthropic.com/v1/messages/batches"
	flows := map[string]func(tb *tbtest.TB, tf *traceforgetest.Recorder, told string){
		"chain": func(tb *tbtest.TB, tf *traceforgetest.Recorder, told string) {
			for chain := range strings.SplitSeq(told, ",") {
				previous, all := "", ""
				for input := range strings.FieldsSeq(chain) {
					body := map[string]any{"input": input}
					if previous != "" {
						body["previous_response_id"] = previous
					}
					id, said := call(tb, tf, openai+"/responses", body)
					if all = strings.TrimSpace(all + " " + input); said != all && said != input {
						tb.Errorf("%q is the answer to %q", said, all)
					}
					previous = id
				}
			}
		},
		"conversation": func(tb *tbtest.TB, tf *traceforgetest.Recorder, told string) {
			conversation, _ := call(tb, tf, openai+"/conversations", map[string]any{})
			all := ""
			for input := range strings.FieldsSeq(told) {
				_, said := call(tb, tf, openai+"/responses", map[string]any{"input": input, "conversation": conversation})
				if all = strings.TrimSpace(all + " " + input); said != all {
					tb.Errorf("%q is the answer to %q", said, all)
				}
			}
		},
		"results": func(tb *tbtest.TB, tf *traceforgetest.Recorder, told string) {
			jobs := map[string]string{}
			for input := range strings.FieldsSeq(told) {
				jobs[input], _ = call(tb, tf, anthropic, map[string]any{"input": input, "requests": []any{}})
			}
			for input := range strings.FieldsSeq(told) {
				if _, said := call(tb, tf, anthropic+"/"+jobs[input]+"/results", nil); said != input {
					tb.Errorf("%q is the answer to %q", said, input)
				}
			}
		},
		"jobs": func(tb *tbtest.TB, tf *traceforgetest.Recorder, told string) {
			for input := range strings.FieldsSeq(told) {
				job, _ := call(tb, tf, anthropic, map[string]any{"input": input, "requests": []any{}})
				if _, said := call(tb, tf, anthropic+"/"+job+"/results", nil); said != input {
					tb.Errorf("%q is the answer to %q", said, input)
				}
			}
		},
		"own id": func(tb *tbtest.TB, tf *traceforgetest.Recorder, told string) {
			own, said, _ := strings.Cut(told, ":")
			all := ""
			for input := range strings.FieldsSeq(said) {
				_, said := call(tb, tf, openai+"/responses", map[string]any{"input": input, "conversation": "conv_of_the_environment_" + own})
				if all = strings.TrimSpace(all + " " + input); said != all {
					tb.Errorf("%q is the answer to %q", said, all)
				}
			}
		},
		"short id": func(tb *tbtest.TB, tf *traceforgetest.Recorder, told string) {
			for input := range strings.FieldsSeq(told) {
				call(tb, tf, "https://api.example.com/jobs", map[string]any{"input": input})
				job := regexp.MustCompile("[0-9]+").FindString(got[len(got)-1])
				if _, said := call(tb, tf, "https://api.example.com/jobs/"+job, nil); said != input {
					tb.Errorf("%q is the answer to %q", said, input)
				}
			}
		},
		"equal": func(tb *tbtest.TB, tf *traceforgetest.Recorder, told string) {
			for input := range strings.FieldsSeq(told) {
				_, said := call(tb, tf, openai+"/responses", map[string]any{"input": input})
				if said != input {
					tb.Errorf("%q is the answer to %q", said, input)
				}
			}
		},
	}
	for _, c := range []struct{ name, flow, why, told, mode, now, said, calls string }{
		{"a turn is gone", "chain", "its answer was to another", "a b c", "1", "a c", "", "1"},
		{"a turn is gone before an equal answer", "chain", "it follows another", "-a -b -c", "1", "-a -c", "", "1"},
		{"all, and a turn is gone", "chain", "the answer follows another", "-a -b -c", "all", "-a -c", "", "2"},
		{"a turn is new", "chain", "those after it follow another answer", "a b c", "1", "a x b c", "", "3"},
		{"turns in another order", "chain", "both follow another answer", "a b c", "", "a c b", "names resp_", "0"},
		{"two chains in another order", "chain", "each has its own", "a go on,b go on", "", "b go on,a go on", "", "0"},
		{"one of two chains", "chain", "it has its own", "a go on,b go on", "1", "b go on", "", "0"},
		{"a changed chain before another", "chain", "the other has its own", "a go on,b go on", "1", "x go on,a go on", "", "3"},
		{"all of a chain", "chain", "it is bought", "a b c", "all", "a x c", "", "3"},
		{"a changed turn", "conversation", "the conversation of the recording has the old one", "a b c", "1", "x b c", "buy the whole conversation: TRACEFORGE_UPDATE=all", "0"},
		{"a changed turn in replay", "conversation", "an update refuses it", "a b c", "", "x b c", "record: TRACEFORGE_UPDATE=all", "0"},
		{"all of a conversation", "conversation", "it is another one", "a b c", "all", "x b c", "", "4"},
		{"one more turn", "conversation", "it has been said in none", "a b", "1", "a b c", "", "1"},
		{"jobs in another order", "results", "the results have no id", "a b", "", "b a", "", "0"},
		{"one of two jobs", "results", "it has its own", "a b", "1", "b", "", "0"},
		{"a changed job", "results", "the other stays", "a b", "1", "x b", "", "2"},
		{"another job", "results", "the others stay", "a b", "1", "a x b", "", "2"},
		{"one more job", "jobs", "the others stay", "a b", "new", "a b x", "", "2"},
		{"another conversation", "own id", "the environment names it, and no answer", "1:a b", "", "2:a b", "", "0"},
		{"an update of it", "own id", "the environment names it, and no answer", "1:a b", "1", "2:a b", "", "0"},
		{"a changed job", "short id", "its result is bought too", "a b", "1", "a x", "", "2"},
		{"a changed job before another", "jobs", "the other stays", "a b", "1", "x a", "", "2"},
		{"an adopted job before another", "jobs", "the other has no answer left", "a b", "rekey", "x a", "a call before it that changed has adopted its answer", "0"},
		{"a job less", "jobs", "the other stays", "a b", "1", "b", "", "0"},
		{"an equal request", "equal", "the first stays the first", "a b", "1", "b b", "", "1"},
		{"all of equal jobs", "jobs", "the first stays the first", "a b", "all", "b b", "", "4"},
		{"equal requests in between", "equal", "the first stays the first", "a b c a", "1", "c a c a", "", "1"},
	} {
		t.Run(c.flow+": "+c.name, func(t *testing.T) {
			s, m := newScene(t), &talker{said: map[string]string{}}
			run := func(mode, told string) *tbtest.TB {
				t.Setenv("TRACEFORGE_UPDATE", mode)
				m.live, got = 0, nil
				return s.run("TestIt", func(tb *tbtest.TB, tf *traceforgetest.Recorder) { flows[c.flow](tb, tf, told) },
					traceforgetest.Upstream(m), traceforgetest.Nondeterministic("jobs have no seed"), traceforgetest.Record("api.example.com"))
			}
			requirePass(t, run("1", c.told))
			requirePass(t, run("", c.told))
			tb := run(c.mode, c.now)
			require.Equal(t, c.calls, fmt.Sprint(m.live), "%s: %s", c.why, tb.Logged())
			require.Equal(t, c.said != "", tb.Failed(), "%s: %s", c.why, tb.Logged())
			require.Contains(t, tb.Logged(), c.said)
			if c.said != "" {
				requirePass(t, run("all", c.now))
			}
			recorded := got
			requirePass(t, run("", c.now))
			require.Equal(t, recorded, got)
			requirePass(t, run("1", c.now))
			require.Equal(t, recorded, got)
			require.Zero(t, m.live)
			s.requireWhole()
		})
	}
}

// TestConversationThatWaits goes on with a conversation whose provider has more than the run has said: answers that wait, and
// what a live run would say.
func TestConversationThatWaits(t *testing.T) {
	for _, c := range []struct{ name, recorded, failed, mode, now, says string }{
		{"a changed turn", "", "a b", "1", "a x", "has also what waits in "},
		{"another turn more", "a", "a b", "1", "a x", "has also what waits in "},
		{"the same", "", "a b", "1", "a b", ""},
		{"one more", "", "a b", "1", "a b c", ""},
		{"a fork", "a b", "", "live", "a x", "has also what was said in it since"},
		{"a fork at the end", "a b", "", "live", "a b x", "has also what was said in it since"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, m := newScene(t), &talker{said: map[string]string{}}
			run := func(mode, told string, passes bool) *tbtest.TB {
				t.Setenv("TRACEFORGE_UPDATE", mode)
				return s.run("TestIt", func(tb *tbtest.TB, tf *traceforgetest.Recorder) {
					ask := func(path, body string) (id, said string) {
						resp, err := tf.Client().Post("https://api.openai.com/v1/"+path, "application/json", strings.NewReader(body))
						require.NoError(t, err)
						defer resp.Body.Close()
						var answer struct {
							ID     string
							Output []struct{ Content []struct{ Text string } }
						}
						require.NoError(t, json.NewDecoder(resp.Body).Decode(&answer))
						if resp.StatusCode != http.StatusOK {
							tb.Fatalf("refused")
						}
						if len(answer.Output) > 0 {
							said = answer.Output[0].Content[0].Text
						}
						return answer.ID, said
					}
					conversation, _ := ask("conversations", "{}")
					var all strings.Builder
					all.WriteString("about")
					for input := range strings.FieldsSeq(told) {
						all.WriteString(" " + input)
						_, said := ask("responses", fmt.Sprintf(`{"model":"m","temperature":0,"input":%q,"conversation":%q}`, input, conversation))
						if said != all.String() {
							tb.Errorf("%q is the answer to %q", said, all.String())
						}
					}
					if !passes {
						tb.Errorf("it fails")
					}
				}, traceforgetest.Upstream(m), traceforgetest.Nondeterministic("jobs have no seed"))
			}
			if c.recorded != "" {
				requirePass(t, run("1", c.recorded, true))
			}
			if c.failed != "" {
				require.True(t, run("1", c.failed, false).Failed())
			}
			if c.mode == "live" {
				t.Setenv("TRACEFORGE_CHECK", "from=3")
			}
			tb := run(c.mode, c.now, true)
			require.Equal(t, c.says != "", tb.Failed(), tb.Logged())
			require.Contains(t, tb.Logged(), c.says)
			if c.mode == "live" {
				t.Setenv("TRACEFORGE_CHECK", "from=1")
				requirePass(t, run("live", c.now, true))
				return
			}
			if tb.Failed() {
				requirePass(t, run("all", c.now, true))
			}
			requirePass(t, run("", c.now, true))
			requirePass(t, run("1", c.now, true))
			s.requireWhole()
		})
	}
}

// TestAnswersByHiddenID holds that a call gets the answer about what it names, although a rule hides the names that earlier
// answers gave out.
func TestAnswersByHiddenID(t *testing.T) {
	for _, c := range []struct {
		name, form string
		rule       traceforgetest.Rule
	}{
		{"volatile", "%08x-1111-4222-8333-444455556666", traceforgetest.Volatile()},
		{"pattern", "ORD-%08d", traceforgetest.Pattern("order", regexp.MustCompile("ORD-[0-9]{8}"))},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, made, runs := newScene(t), map[string]string{}, 0
			run := func(mode, told string) {
				t.Helper()
				t.Setenv("TRACEFORGE_UPDATE", mode)
				runs = 0
				requirePass(t, s.run("TestIt", func(tb *tbtest.TB, tf *traceforgetest.Recorder) {
					tool := func(name string, f func(of string) string) func(of string) string {
						run := tf.Tool(name, func(_ context.Context, input json.RawMessage) (json.RawMessage, error) {
							runs++
							var of string
							require.NoError(t, json.Unmarshal(input, &of))
							return json.Marshal(map[string]string{"id": f(of)})
						})
						return func(of string) string {
							var said struct{ ID string }
							output, err := run(t.Context(), must(json.Marshal(of)))
							require.NoError(t, err)
							require.NoError(t, json.Unmarshal(output, &said))
							return said.ID
						}
					}
					resp, err := tf.Client().Post("https://api.openai.com/v1/conversations", "application/json", strings.NewReader("{}"))
					require.NoError(t, err)
					defer func() { // this answer is open all the time
						_, _ = io.ReadAll(resp.Body)
						resp.Body.Close()
					}()
					create := tool("create", func(item string) string {
						id := fmt.Sprintf(c.form, len(made)+7)
						made[id] = item
						return id
					})
					get := tool("get", func(id string) string { return "item " + made[id] })
					ids := map[string]string{}
					for item := range strings.FieldsSeq("a b c") {
						ids[item] = create(item)
					}
					for item := range strings.FieldsSeq(told) {
						require.Equal(t, "item "+item, get(ids[item]))
					}
				}, traceforgetest.Scrub(c.rule), traceforgetest.Upstream(&talker{said: map[string]string{}})))
			}
			run("1", "a b c")
			run("", "a b c")
			run("", "c a b")
			run("1", "c a b")
			require.Zero(t, runs)
			run("1", "c b")
			require.Zero(t, runs)
			run("", "b c")
			s.requireWhole()
		})
	}
}

// TestTurnThatIsGone leaves a turn of a conversation out: the answers after it were to it too.
func TestTurnThatIsGone(t *testing.T) {
	const gone = "-3 was not made, and its provider answered other calls of its conversation after it"
	for _, c := range []struct{ name, recording, mode, now, says string }{
		{"update", "1", "1", "a c", gone},
		{"replay", "1", "", "a c", "accept: TRACEFORGE_UPDATE=all"},
		{"waiting", "fails", "1", "a c", gone},
		{"the last", "1", "1", "a b", ""},
		{"in another order", "1", "", "b c a", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, m := newScene(t), &talker{said: map[string]string{}}
			run := func(mode, told string, fails bool) *tbtest.TB {
				t.Setenv("TRACEFORGE_UPDATE", mode)
				return s.run("TestIt", func(tb *tbtest.TB, tf *traceforgetest.Recorder) {
					const url = "https://api.openai.com/v1/"
					first, err := post(tf.Client(), url+"conversations", map[string]any{})
					require.NoError(t, err)
					conversation := regexp.MustCompile("conv_[0-9a-f]+").FindString(first)
					for input := range strings.FieldsSeq(told) {
						_, err := post(tf.Client(), url+"responses", map[string]any{
							"model": "m", "temperature": 0, "input": input, "conversation": conversation})
						require.NoError(t, err)
					}
					if fails {
						tb.Errorf("it fails")
					}
				}, traceforgetest.Upstream(m), traceforgetest.Nondeterministic("conversations have no seed"))
			}
			run("1", "a b c", c.recording == "fails")
			tb := run(c.mode, c.now, false)
			require.Equal(t, c.says != "", tb.Failed(), tb.Logged())
			require.Contains(t, tb.Logged(), c.says)
			requirePass(t, run("all", c.now, false))
			requirePass(t, run("", c.now, false))
			s.requireWhole()
		})
	}
}

// TestSecretID records a call with an id that is a secret: its record has a number for it, and no ids.
func TestSecretID(t *testing.T) {
	t.Setenv("TRACEFORGE_UPDATE", "1")
	t.Setenv("BATCH_TOKEN", "msgbatch_q8Zr5xW2nLk0")
	s := newScene(t)
	requirePass(t, s.run("TestIt", func(tb *tbtest.TB, tf *traceforgetest.Recorder) {
		resp, err := tf.Client().Get("https://api.anthropic.com/v1/messages/batches/msgbatch_q8Zr5xW2nLk0/results")
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
	}, traceforgetest.Upstream(&talker{said: map[string]string{}}), traceforgetest.Nondeterministic("jobs have no seed")))
	s.requireWhole()
}

func must(text []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return text
}
