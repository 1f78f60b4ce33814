package traceforgetest_test

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/tbtest"
	"github.com/traceforge/traceforge-go/traceforgetest"
)

// An agentsAPI is an API of agents that a provider runs, with the events that its server sends. A call and a result have
// %s for the id of the call.
type agentsAPI struct {
	name, sessions, events, stream string
	say, result                    string // bodies that a client posts: a message, with %s for its text, and a result
	call, echo, answer, done       string
}

var agentsAPIs = []agentsAPI{
	{
		name: "anthropic", sessions: "https://api.anthropic.com/v1/sessions", events: "/events", stream: "/events/stream",
		say:    `{"events":[{"type":"user.message","content":[{"type":"text","text":%q}]}]}`,
		result: `{"events":[{"type":"user.custom_tool_result","custom_tool_use_id":%q,"content":[{"type":"text","text":"21"}]}]}`,
		call:   `{"type":"agent.custom_tool_use","id":%q,"name":"weather","input":{}}`,
		echo:   `{"type":"user.custom_tool_result","custom_tool_use_id":%q}`,
		answer: `{"type":"agent.message","content":[{"type":"text","text":"It is warm."}]}`,
		done:   `{"type":"session.status_idle","stop_reason":{"type":"end_turn"}}`,
	},
	{
		name: "openai", sessions: "https://api.openai.com/v1/agents/sessions", events: "/events", stream: "/events",
		say:    `{"events":[{"type":"agent.session.input.message","input":[{"role":"user","content":[{"type":"input_text","text":%q}]}]}]}`,
		result: `{"events":[{"type":"agent.session.input.tool_result","call_id":%q,"output":"21"}]}`,
		call: `{"type":"agent.session.turn.item.added","item":{"id":"fc_1","type":"function_call","call_id":%q,` +
			`"name":"weather","arguments":{}}}`,
		echo: `{"type":"agent.session.turn.item.added","item":{"id":"fo_1","type":"function_call_output","call_id":%q,"output":"21"}}`,
		answer: `{"type":"agent.session.turn.item.done","item":{"id":"msg_1","type":"message","role":"assistant",` +
			`"content":[{"type":"output_text","text":"It is warm."}]}}`,
		done: `{"type":"agent.session.idle","session":{"status":"idle"}}`,
	},
}

// server returns an upstream that runs agents: each calls a tool, and answers when it has the result. Ids are new in each
// session, and the stream stays open.
func (a *agentsAPI) server(t *testing.T) traceforgetest.Option {
	var streams sync.Map // of events, by session: a stream that its client has left may not know that yet
	sessions := 0
	return upstreamAt(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		call := fmt.Sprintf("call_%08d", sessions)
		stream, _ := streams.LoadOrStore(sessions, make(chan string, 9))
		said := stream.(chan string)
		switch {
		case r.Method == http.MethodGet:
			w.Header().Set("Content-Type", "text/event-stream")
			for w.(http.Flusher).Flush(); ; w.(http.Flusher).Flush() {
				select {
				case event := <-said:
					fmt.Fprintf(w, "data: %s\n\n", event)
				case <-r.Context().Done():
					return
				}
			}
		case !strings.HasSuffix(r.URL.Path, a.events):
			sessions++
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"id":"sess_%08d","status":"idle","created_at":%d}`, sessions, time.Now().Unix())
			return
		case strings.Contains(string(body), "result"):
			said <- fmt.Sprintf(a.echo, call)
			said <- a.answer
			said <- a.done
		case strings.Contains(string(body), "weather"):
			said <- fmt.Sprintf(a.call, call)
		}
		w.WriteHeader(http.StatusNoContent)
	})
}

// upstreamAt returns an upstream in which a handler answers for every host.
func upstreamAt(t *testing.T, handler http.HandlerFunc) traceforgetest.Option {
	live := httptest.NewServer(handler)
	t.Cleanup(live.Close)
	return traceforgetest.Upstream(roundTripper(func(r *http.Request) (*http.Response, error) {
		r = r.Clone(r.Context())
		r.URL.Scheme, r.URL.Host = "http", strings.TrimPrefix(live.URL, "http://")
		return http.DefaultTransport.RoundTrip(r)
	}))
}

// begin makes a session, and returns its path and a function that posts to a path.
func (a *agentsAPI) begin(t *testing.T, tb *tbtest.TB, tf *traceforgetest.Recorder) (session string, post func(path, body string) string) {
	post = func(path, body string) string {
		resp, err := tf.Client().Post(a.sessions+path, "application/json", strings.NewReader(body))
		require.NoError(t, err)
		defer resp.Body.Close()
		answer, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		if resp.StatusCode >= 300 {
			tb.Fatalf("status %d", resp.StatusCode)
		}
		return string(answer)
	}
	made := post("", `{"environment":"none"}`)
	return "/" + made[strings.Index(made, "sess_"):][:len("sess_00000000")], post
}

// talk returns a test that says something to an agent, and runs the tool that it calls while it reads on.
func (a *agentsAPI) talk(t *testing.T, texts ...string) func(*tbtest.TB, *traceforgetest.Recorder) {
	return func(tb *tbtest.TB, tf *traceforgetest.Recorder) {
		session, post := a.begin(t, tb, tf)
		stream, err := tf.Client().Get(a.sessions + session + a.stream)
		require.NoError(t, err)
		defer stream.Body.Close()
		for _, text := range texts {
			post(session+a.events, fmt.Sprintf(a.say, text))
		}
		var replied atomic.Bool
		var posts sync.WaitGroup
		defer posts.Wait()
		for lines := bufio.NewScanner(stream.Body); lines.Scan(); {
			switch event := strings.TrimPrefix(lines.Text(), "data: "); {
			case event == a.done:
				return
			case strings.HasPrefix(event, a.echo[:strings.Index(a.echo, "%q")]):
				require.True(t, replied.Load(), "the server had the result before it repeated it")
			case strings.Contains(event, "call_"):
				posts.Go(func() {
					time.Sleep(20 * time.Millisecond) // time for events that do not wait
					replied.Store(true)
					post(session+a.events, fmt.Sprintf(a.result, event[strings.Index(event, "call_"):][:len("call_00000000")]))
				})
			}
		}
		tb.Errorf("the stream ended")
	}
}

// TestAgentSessionsThatAreGone: a stream that the provider refuses is an error like any other, and ends.
func TestAgentSessionsThatAreGone(t *testing.T) {
	for _, api := range agentsAPIs {
		s := newScene(t)
		upstream := traceforgetest.Upstream(roundTripper(func(r *http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: http.StatusNotFound, Header: http.Header{"Content-Type": {"application/json"}},
				Body: io.NopCloser(strings.NewReader(`{"error":{"type":"not_found_error","message":"gone"}}`)), Request: r}, nil
		}))
		test := func(tb *tbtest.TB, tf *traceforgetest.Recorder) {
			resp, err := tf.Client().Get(api.sessions + "/sess_00000001" + api.stream)
			require.NoError(t, err)
			defer resp.Body.Close()
			said, err := io.ReadAll(resp.Body)
			require.NoError(t, err)
			require.Contains(t, string(said), "gone")
		}
		for _, mode := range []string{"1", ""} {
			t.Setenv("TRACEFORGE_UPDATE", mode)
			requirePass(t, s.run("TestIt", test, upstream))
		}
	}
}

// TestAgentSessions: a session's stream stays open, as at the provider, until its client closes it. In replay its events
// wait for what was posted before them. What an agent answers comes on the stream, so a changed message needs it all.
func TestAgentSessions(t *testing.T) {
	for _, api := range agentsAPIs {
		t.Run(api.name, func(t *testing.T) {
			s := newScene(t)
			upstream := api.server(t)
			run := func(mode, text string) *tbtest.TB {
				t.Setenv("TRACEFORGE_UPDATE", mode)
				return s.run("TestIt", api.talk(t, text), upstream)
			}
			requirePass(t, run("1", "The weather?"))
			require.Len(t, s.records(api.name), 4)
			said := s.records(api.name)[1].Response.Candidates[0].Message.Content
			require.Equal(t, "It is warm.", *said[len(said)-1].Text)
			requirePass(t, run("", "The weather?"))
			before := s.files()
			requirePass(t, run("1", "The weather?"))
			s.requireFiles(before)
			require.Contains(t, run("", "The weather now?").Logged(), "accept: TRACEFORGE_UPDATE=all go test ")
			require.Contains(t, run("1", "The weather now?").Logged(), "buy the whole conversation: TRACEFORGE_UPDATE=all go test ")
			s.requireFiles(before)
			requirePass(t, run("all", "The weather now?"))
			requirePass(t, run("", "The weather now?"))
			api.answer = strings.Replace(api.answer, "warm", "cold", 1)
			requirePass(t, run("all", "The weather now?"))
			requirePass(t, run("", "The weather now?")) // all times are of one run
			s.requireWhole()
		})
	}
}

// TestAgentSessionsWithoutAMessage: the events of a stream do not wait forever for a message that a test no longer posts.
func TestAgentSessionsWithoutAMessage(t *testing.T) {
	for _, api := range agentsAPIs {
		t.Run(api.name, func(t *testing.T) {
			s := newScene(t)
			upstream := api.server(t)
			t.Setenv("TRACEFORGE_UPDATE", "1")
			requirePass(t, s.run("TestIt", api.talk(t, "Hello.", "The weather?"), upstream))
			t.Setenv("TRACEFORGE_UPDATE", "")
			synctest.Test(t, func(t *testing.T) {
				requirePass(t, s.run("TestIt", api.talk(t, "Hello.", "The weather?")))
				begun := time.Now()
				require.Contains(t, s.run("TestIt", api.talk(t, "The weather?")).Logged(), "user: Hello.")
				require.Less(t, time.Since(begun), time.Minute)
			})
		})
	}
}

// TestAgentSessionsThatWait: answers that wait, because their test failed, are served as records are: events wait for what
// was posted before them.
func TestAgentSessionsThatWait(t *testing.T) {
	for _, api := range agentsAPIs {
		t.Run(api.name, func(t *testing.T) {
			s := newScene(t)
			upstream := api.server(t)
			t.Setenv("TRACEFORGE_UPDATE", "1")
			s.run("TestIt", func(tb *tbtest.TB, tf *traceforgetest.Recorder) {
				api.talk(t, "The weather?")(tb, tf)
				tb.Errorf("no")
			}, upstream)
			require.Empty(t, s.documents(api.name))
			requirePass(t, s.run("TestIt", api.talk(t, "The weather?"), traceforgetest.Upstream(unreachable{})))
			require.Len(t, s.records(api.name), 4)
		})
	}
}

// TestAgentSessionsWithoutAStream: a test that no longer listens to the agent fails.
func TestAgentSessionsWithoutAStream(t *testing.T) {
	for _, api := range agentsAPIs {
		t.Run(api.name, func(t *testing.T) {
			s := newScene(t)
			upstream := api.server(t)
			deaf := func(tb *tbtest.TB, tf *traceforgetest.Recorder) {
				session, post := api.begin(t, tb, tf)
				post(session+api.events, fmt.Sprintf(api.say, "The weather?"))
				post(session+api.events, fmt.Sprintf(api.result, "call_00000001"))
			}
			t.Setenv("TRACEFORGE_UPDATE", "1")
			requirePass(t, s.run("TestIt", api.talk(t, "The weather?"), upstream))
			t.Setenv("TRACEFORGE_UPDATE", "")
			tb := s.run("TestIt", deaf)
			require.True(t, tb.Failed())
			require.Contains(t, tb.Logged(), "recorded call was not made")
		})
	}
}

// askTools makes a request to a server of MCP: a GET without a message.
func askTools(t *testing.T, tf *traceforgetest.Recorder, message string) *http.Response {
	req, err := http.NewRequest(http.MethodPost, "https://tools.example.com/mcp", strings.NewReader(message))
	require.NoError(t, err)
	if message == "" {
		req.Method = http.MethodGet
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	req.Header.Set("Mcp-Session-Id", "one")
	resp, err := tf.Client().Do(req)
	require.NoError(t, err)
	return resp
}

var toolOptions = []traceforgetest.Option{traceforgetest.Record("tools.example.com"), traceforgetest.Nondeterministic("a tool")}

// TestServerWithoutAReply: what a server of MCP sends after a question does not wait forever for a reply that a test no longer
// posts, even if its client pings. The reply is told as not made.
func TestServerWithoutAReply(t *testing.T) {
	message := func(id int, rest string) string { return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,%s}`, id, rest) }
	replied := make(chan bool, 1)
	upstream := upstreamAt(t, func(w http.ResponseWriter, r *http.Request) {
		if body, _ := io.ReadAll(r.Body); strings.Contains(string(body), `"accept"`) {
			replied <- true
			w.WriteHeader(http.StatusAccepted)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprintf(w, "data: %s\n\n", message(7, `"method":"elicitation/create","params":{"message":"Sure?"}`))
		w.(http.Flusher).Flush()
		<-replied
		fmt.Fprintf(w, "data: %s\n\n", message(1, `"result":{"content":[{"type":"text","text":"gone"}]}`))
	})
	var left chan bool
	pings := func(tf *traceforgetest.Recorder) { // signs of life are no calls
		for range 60 {
			select {
			case <-left:
				return
			case <-time.After(10 * time.Second):
				askTools(t, tf, message(8, `"method":"ping"`)).Body.Close()
			}
		}
	}
	talk := func(replies bool) func(*tbtest.TB, *traceforgetest.Recorder) {
		return func(_ *tbtest.TB, tf *traceforgetest.Recorder) {
			call := message(1, `"method":"tools/call","params":{"name":"remove","arguments":{}}`)
			resp := askTools(t, tf, call)
			defer resp.Body.Close()
			for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
				switch isAsked := strings.Contains(lines.Text(), "elicitation"); {
				case isAsked && replies:
					askTools(t, tf, message(7, `"result":{"action":"accept"}`)).Body.Close()
				case isAsked:
					go pings(tf)
				}
			}
		}
	}
	s := newScene(t)
	t.Setenv("TRACEFORGE_UPDATE", "1")
	requirePass(t, s.run("TestIt", talk(true), append(toolOptions, upstream)...))
	t.Setenv("TRACEFORGE_UPDATE", "")
	synctest.Test(t, func(t *testing.T) {
		requirePass(t, s.run("TestIt", talk(true), toolOptions...))
		begun := time.Now()
		left = make(chan bool)
		require.Contains(t, s.run("TestIt", talk(false), toolOptions...).Logged(), "accept")
		close(left)
		require.Less(t, time.Since(begun), time.Minute)
	})
}

// TestTimesOfASession: after an update of everything, also of answers that say the same, the times of a session of MCP are of one
// run: a change that its server announces comes after the call that it follows, however long the program took before it.
func TestTimesOfASession(t *testing.T) {
	said, changed := "", make(chan bool, 1)
	upstream := upstreamAt(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":%q}]}}`, said)
			changed <- true
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		w.(http.Flusher).Flush()
		<-changed
		time.Sleep(5 * time.Millisecond)
		fmt.Fprint(w, "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}\n\n")
	})
	talk := func(pause time.Duration) func(*tbtest.TB, *traceforgetest.Recorder) {
		return func(_ *tbtest.TB, tf *traceforgetest.Recorder) {
			stream := askTools(t, tf, "")
			defer stream.Body.Close()
			var posted atomic.Bool
			var posts sync.WaitGroup
			defer posts.Wait()
			posts.Go(func() {
				time.Sleep(pause)
				posted.Store(true)
				resp := askTools(t, tf, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add","arguments":{}}}`)
				_, _ = io.Copy(io.Discard, resp.Body)
				resp.Body.Close()
			})
			lines := bufio.NewScanner(stream.Body)
			require.True(t, lines.Scan())
			require.True(t, posted.Load(), "the change follows the call")
		}
	}
	s := newScene(t)
	for i, mode := range []string{"1", "all", "all"} {
		if i == 2 { // unchanged answers get new times
			s.configured(`{"max_age":{"warn_days":60}}`)
		} else {
			said = fmt.Sprint("added ", i)
		}
		t.Setenv("TRACEFORGE_UPDATE", mode)
		requirePass(t, s.run("TestIt", talk(time.Duration(50*i)*time.Millisecond), append(toolOptions, upstream)...))
		t.Setenv("TRACEFORGE_UPDATE", "")
		requirePass(t, s.run("TestIt", talk(20*time.Millisecond), toolOptions...))
	}
}
