package recorder

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/modelio"
	"github.com/traceforge/traceforge-go/snapshot"
)

// A dialect is a stream of one API, for a call with a prompt.
type dialect struct {
	name, path, body string
	events           []string
	last             string // the line that a client waits for
}

var dialects = []dialect{
	{
		name: "chat", path: "/v1/chat/completions",
		body:   `{"model":"m","temperature":0,"seed":1,"stream":true,"messages":[{"role":"user","content":%q}]}`,
		events: []string{`{"id":"c","model":"m","choices":[{"index":0,"delta":{"content":"yes"},"finish_reason":"stop"}]}`, "[DONE]"},
		last:   "data: [DONE]",
	},
	{
		name: "mcp", path: "/mcp",
		body:   `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q}}`,
		events: []string{`{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"yes"}]}}`},
		last:   `data: {"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"yes"}]}}`,
	},
	{
		name: "mcp_resumable", path: "/mcp",
		body:   `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q}}`,
		events: []string{"\nid: 1", `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"yes"}]}}` + "\nid: 2"},
		last:   `data: {"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"yes"}]}}`,
	},
}

// TestOrderOfSequentialStreams holds that a call ends with the event that ends its answer, whenever the body ends: what
// is asked after it comes after it, in Calls and in the document, while recording and in replay.
func TestOrderOfSequentialStreams(t *testing.T) {
	t.Parallel()
	const open = 20 * time.Millisecond // a body stays so long behind its last event
	for _, d := range dialects {
		for _, leaves := range []bool{false, true} { // by closing the body, instead of reading on to its end
			t.Run(fmt.Sprintf("%s/leaves=%t", d.name, leaves), func(t *testing.T) {
				t.Parallel()
				held := make(chan struct{})
				release := sync.OnceFunc(func() { close(held) })
				server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
					body, _ := io.ReadAll(req.Body)
					w.Header().Set("Content-Type", "text/event-stream")
					for _, event := range d.events {
						fmt.Fprintf(w, "data: %s\n\n", event)
						w.(http.Flusher).Flush()
					}
					if strings.Contains(string(body), "news") {
						<-held // it is the last call: its body ends after Calls
					}
					time.Sleep(open)
					fmt.Fprint(w, "\n") // says nothing
				}))
				defer server.Close()
				defer release()
				s := newScene(t)
				var records []snapshot.Snapshot
				program := func(mode Mode) []*modelio.Call {
					var calls []*modelio.Call
					told, _ := s.run(mode, func(r *Recorder) {
						var group sync.WaitGroup
						for _, prompt := range []string{"weather", "news"} {
							d.ask(t, r, &group, prompt, leaves)
						}
						var err error
						calls, err = r.Calls()
						require.NoError(t, err)
						release()
						group.Wait()
						records, err = r.Snapshots()
						require.NoError(t, err)
						for _, a := range r.run.takes {
							require.Equal(t, whole, a.ending())
						}
					}, func(o *Options) { o.Upstream = towards(server.URL) })
					require.Empty(t, told)
					return calls
				}
				recorded := program(UpdateAll)
				require.Equal(t, []string{"weather", "news"}, prompts(recorded))
				require.Len(t, records, 2)
				over := records[0].Timestamp.Add(time.Duration(records[0].Response.LatencyMS) * time.Millisecond)
				require.False(t, records[1].Timestamp.Before(over), "the records do not overlap")
				require.Equal(t, []string{"weather", "news"}, prompts(program(Replay)))
				require.Equal(t, []int{1, 2}, []int{records[0].Number(), records[1].Number()})
			})
		}
	}
}

// TestCallsLackWhatIsToCome holds that a stream without its end is not in Calls, whatever has come of it.
func TestCallsLackWhatIsToCome(t *testing.T) {
	t.Parallel()
	for _, d := range dialects {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			rest := make(chan struct{})
			release := sync.OnceFunc(func() { close(rest) })
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "text/event-stream")
				fmt.Fprint(w, "id: 0\ndata:\n\n")
				for _, event := range d.events {
					if strings.Contains(event, "yes") {
						w.(http.Flusher).Flush() // the head of the answer, and what is no answer yet
						<-rest
					}
					fmt.Fprintf(w, "data: %s\n\n", event)
				}
			}))
			defer server.Close()
			defer release()
			s := newScene(t)
			told, _ := s.run(UpdateAll, func(r *Recorder) {
				resp := d.post(t, r, "weather")
				_, err := resp.Body.Read(make([]byte, 1<<10))
				require.NoError(t, err)
				calls, err := r.Calls()
				require.NoError(t, err)
				require.Empty(t, calls)
				release()
				_, err = io.Copy(io.Discard, resp.Body)
				require.NoError(t, err)
				calls, err = r.Calls()
				require.NoError(t, err)
				require.Len(t, calls, 1)
			}, func(o *Options) { o.Upstream = towards(server.URL) })
			require.Empty(t, told)
		})
	}
}

func (d *dialect) post(t *testing.T, r *Recorder, prompt string) *http.Response {
	at := "https://api.openai.com" + d.path
	req, err := http.NewRequestWithContext(context.Background(), http.MethodPost, at, strings.NewReader(fmt.Sprintf(d.body, prompt)))
	require.NoError(t, err)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	resp, err := (&http.Client{Transport: r}).Do(req)
	require.NoError(t, err)
	return resp
}

// ask makes a call and returns when its last event has come. What is left of the body is left to the group.
func (d *dialect) ask(t *testing.T, r *Recorder, group *sync.WaitGroup, prompt string, leaves bool) {
	resp := d.post(t, r, prompt)
	lines := bufio.NewScanner(resp.Body)
	for lines.Scan() && lines.Text() != d.last {
	}
	require.Equal(t, d.last, lines.Text())
	for lines.Text() != "" {
		require.True(t, lines.Scan())
	}
	group.Go(func() {
		for !leaves && lines.Scan() {
		}
		resp.Body.Close()
	})
}

// towards returns a transport that sends everything to one server.
func towards(server string) http.RoundTripper {
	return roundTripper(func(req *http.Request) (*http.Response, error) {
		to, err := url.Parse(server)
		if err != nil {
			return nil, err
		}
		req.URL.Scheme, req.URL.Host = to.Scheme, to.Host
		return http.DefaultTransport.RoundTrip(req)
	})
}

// prompts returns which of the two words each call has.
func prompts(calls []*modelio.Call) (said []string) {
	for _, call := range calls {
		text, _ := json.Marshal(call.Request)
		if strings.Contains(string(text), "weather") {
			said = append(said, "weather")
		} else {
			said = append(said, "news")
		}
	}
	return said
}

// TestOverlappingEqualCallsAreEncodedOnce orders equal calls that overlap by their answers, each of which is encoded once.
func TestOverlappingEqualCallsAreEncodedOnce(t *testing.T) {
	cost := func(calls int) uint64 {
		s := newScene(t)
		var all, done sync.WaitGroup
		all.Add(calls)
		before := allocated()
		failures, _ := s.run(Update, func(r *Recorder) {
			for range calls {
				done.Go(func() { posts(new(string), chatURL, askedBody)(r) })
			}
			done.Wait()
		}, func(o *Options) {
			o.Upstream = roundTripper(func(req *http.Request) (*http.Response, error) {
				all.Done()
				all.Wait()
				return (&upstream{body: strings.Replace(honest, "four", strings.Repeat("word ", 4000), 1)}).RoundTrip(req)
			})
		})
		require.Empty(t, failures)
		return allocated() - before
	}
	require.Less(t, float64(cost(80))/float64(cost(20)), 6.0)
}
