//lint:file-ignore SA1019 MCP deprecates sampling and roots, and servers ask for them all the same.

package mcptraceforge_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/tbtest"
	"github.com/traceforge/traceforge-go/traceforgetest"
)

// adds lists the tools and adds pairs of numbers.
func adds(pairs ...sum) visit {
	return func(ctx context.Context, connect func(*mcp.ClientOptions) (*mcp.ClientSession, error)) (said []string, err error) {
		session, err := connect(nil)
		if err != nil {
			return nil, err
		}
		defer session.Close()
		tools, err := session.ListTools(ctx, nil)
		if err != nil {
			return nil, err
		}
		for _, tool := range tools.Tools {
			if tool.Name == "add" {
				said = append(said, tool.Description)
			}
		}
		for _, pair := range pairs {
			result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "add", Arguments: pair})
			if err != nil {
				return nil, err
			}
			said = append(said, text(result))
		}
		return said, nil
	}
}

func ways(serve func() *mcp.Server) []way { return []way{overHTTP(serve, nil), inMemory(serve)} }

// TestArgumentDrift shows that other arguments fail a replay by the name of the tool, and what accepts them.
func TestArgumentDrift(t *testing.T) {
	for _, w := range ways(sells("Adds.")) {
		t.Run(w.name, func(t *testing.T) {
			s := newStage(t)
			s.mustRun("all", w, adds(sum{1, 2}, sum{3, 4}))
			_, tb := s.run("", w, adds(sum{1, 2}, sum{3, 5}))
			require.True(t, tb.Failed())
			require.Contains(t, tb.Logged(), "tool add of ")
			require.Contains(t, tb.Logged(), `"b":5`)
			said, tb := s.run("1", w, adds(sum{1, 2}, sum{3, 5}))
			require.False(t, tb.Failed(), tb.Logged())
			require.Contains(t, tb.Logged(), " kept, 1 changed (input of tool add, result of tool add)")
			require.Equal(t, []string{"Adds.", `{"sum":3}`, `{"sum":8}`}, said)
			require.Equal(t, said, s.mustRun("", w, adds(sum{1, 2}, sum{3, 5})))
		})
	}
}

// TestServerDrift shows that what a server says of a tool changes by the tool's name.
func TestServerDrift(t *testing.T) {
	described := ways(sells("Adds two numbers."))
	for i, was := range ways(sells("Adds.")) {
		now := described[i]
		t.Run(now.name, func(t *testing.T) {
			s := newStage(t)
			s.mustRun("all", was, adds(sum{1, 2}))
			require.Equal(t, []string{"Adds.", `{"sum":3}`}, s.mustRun("", now, adds(sum{1, 2})))

			t.Setenv("TRACEFORGE_CHECK", "kind=tools")
			_, tb := s.run("check", now, adds(sum{1, 2}))
			t.Setenv("TRACEFORGE_CHECK", "")
			require.True(t, tb.Failed())
			require.Contains(t, tb.Logged(), "tool add/")
			require.Contains(t, tb.Logged(), "Adds two numbers.")
			require.Contains(t, s.document(), `"Adds."`, "a check writes nothing")

			_, tb = s.run("all", now, adds(sum{1, 2}))
			require.False(t, tb.Failed(), tb.Logged())
			require.Contains(t, tb.Logged(), " kept, 1 changed (tool add)")
			require.Contains(t, s.document(), "Adds two numbers.")
		})
	}
}

// TestOpenedOnce shows that a check, which asks a server to initialize and then opens the recorded session for its calls, opens
// one behind a transport once: servers refuse it again.
func TestOpenedOnce(t *testing.T) {
	var mu sync.Mutex
	var opened []string
	counts := func() *mcp.Server {
		server := shop("Adds.")
		server.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
			return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
				if strings.Contains(method, "initialize") {
					mu.Lock()
					opened = append(opened, method)
					mu.Unlock()
				}
				return next(ctx, method, req)
			}
		})
		return server
	}
	s := newStage(t)
	s.protocol = "2025-11-25"
	s.mustRun("all", inMemory(counts), adds(sum{1, 2}))
	require.Equal(t, []string{"initialize", "notifications/initialized"}, opened)
	opened = nil
	t.Setenv("TRACEFORGE_CHECK", "kind=all")
	s.mustRun("check", inMemory(counts), adds(sum{1, 2}))
	require.Equal(t, []string{"initialize", "notifications/initialized"}, opened)
}

// subtracts is a server whose tool add returns something else.
func subtracts(description string) func() *mcp.Server {
	return func() *mcp.Server {
		server := shop(description)
		server.RemoveTools("add")
		mcp.AddTool(server, &mcp.Tool{Name: "add", Description: description},
			func(_ context.Context, _ *mcp.CallToolRequest, in sum) (*mcp.CallToolResult, map[string]int, error) {
				return nil, map[string]int{"sum": in.A - in.B}, nil
			})
		return server
	}
}

// TestResultDrift shows that another result of a tool is told by its name.
func TestResultDrift(t *testing.T) {
	s := newStage(t)
	s.mustRun("all", inMemory(sells("Adds.")), adds(sum{1, 2}))
	_, tb := s.run("all", inMemory(subtracts("Adds.")), adds(sum{1, 2}))
	require.False(t, tb.Failed(), tb.Logged())
	require.Contains(t, tb.Logged(), "1 changed (result of tool add)")
}

// confirms calls the tool that asks its client, which answers with an action, for each book; by default for one without
// a title.
func confirms(action string, books ...string) visit {
	return func(ctx context.Context, connect func(*mcp.ClientOptions) (*mcp.ClientSession, error)) ([]string, error) {
		session, err := connect(&mcp.ClientOptions{
			CreateMessageHandler: func(context.Context, *mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
				return &mcp.CreateMessageResult{Role: "assistant", Model: "m", Content: &mcp.TextContent{Text: "This one"}}, nil
			},
			ElicitationHandler: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
				return &mcp.ElicitResult{Action: action}, nil
			},
		})
		if err != nil {
			return nil, err
		}
		defer session.Close()
		if books == nil {
			books = []string{""}
		}
		var said []string
		for _, title := range books {
			result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "ask", Arguments: book{title}})
			if err != nil {
				return nil, err
			}
			said = append(said, text(result))
		}
		return said, nil
	}
}

// TestQuestionsOfALiveCall shows that an update sends the replies to what a live call's server asks, although they equal
// recorded ones, and that the store answers those to its own questions.
func TestQuestionsOfALiveCall(t *testing.T) {
	for _, w := range ways(sells("Adds.")) {
		t.Run(w.name, func(t *testing.T) {
			s := newStage(t)
			s.protocol = "2025-11-25"
			s.mustRun("all", w, confirms("accept", "Emma"))
			for _, tc := range []struct {
				mode  string
				books []string
			}{
				{"1", []string{"Ulysses"}},
				{"1", []string{"Ulysses", "Walden"}},
				{"1", []string{"Emma", "Ulysses", "Walden"}},
				{"1", []string{"Emma", "Ulysses", "Walden"}},
				{"new", []string{"Emma", "Ulysses", "Walden", "Dune"}},
			} {
				said := s.mustRun(tc.mode, w, confirms("accept", tc.books...))
				for i, title := range tc.books {
					require.Equal(t, title+"This one accept 1", said[i])
				}
				require.Equal(t, said, s.mustRun("", w, confirms("accept", tc.books...)))
				before := s.document()
				s.mustRun("1", w, confirms("accept", tc.books...))
				require.Equal(t, before, s.document())
			}
		})
	}
}

// TestQuestionsOfALiveCallAfterAFailure: an update also sends replies that equal those of a failed run, which wait.
func TestQuestionsOfALiveCallAfterAFailure(t *testing.T) {
	for _, w := range ways(sells("Adds.")) {
		t.Run(w.name, func(t *testing.T) {
			s := newStage(t)
			s.protocol = "2025-11-25"
			_, tb := s.run("1", w, func(ctx context.Context, connect func(*mcp.ClientOptions) (*mcp.ClientSession, error)) ([]string, error) {
				said, err := confirms("accept", "Emma")(ctx, connect)
				return said, errors.Join(err, errors.New("the test fails"))
			})
			require.True(t, tb.Failed())
			for _, mode := range []string{"1", ""} {
				require.Equal(t, []string{"WaldenThis one accept 1"}, s.mustRun(mode, w, confirms("accept", "Walden")))
			}
		})
	}
}

// TestReplyDrift shows that a client which answers its server in another way fails its test at once, and what accepts it.
func TestReplyDrift(t *testing.T) {
	for _, w := range ways(sells("Adds.")) {
		t.Run(w.name, func(t *testing.T) {
			s := newStage(t)
			s.protocol = "2025-11-25" // later clients answer with the call that they make again
			s.mustRun("all", w, confirms("cancel"))
			for _, mode := range []string{"", "1"} {
				_, tb := s.run(mode, w, confirms("decline"))
				require.True(t, tb.Failed())
				require.Contains(t, tb.Logged(), "TRACEFORGE_UPDATE=all")
				require.NotContains(t, tb.Logged(), context.DeadlineExceeded.Error())
			}
			said := s.mustRun("all", w, confirms("decline"))
			require.Equal(t, []string{"This one decline 1"}, said)
			require.Equal(t, said, s.mustRun("", w, confirms("decline")))
		})
	}
}

// TestSchemaDrift shows that a check finds another schema, and that the tool's result is an error since.
func TestSchemaDrift(t *testing.T) {
	type inEuro struct {
		sum
		Currency string `json:"currency"`
	}
	strict := func() *mcp.Server {
		server := shop("Adds.")
		server.RemoveTools("add")
		mcp.AddTool(server, &mcp.Tool{Name: "add", Description: "Adds."},
			func(context.Context, *mcp.CallToolRequest, inEuro) (*mcp.CallToolResult, map[string]int, error) {
				return nil, map[string]int{}, nil
			})
		return server
	}
	s := newStage(t)
	s.mustRun("all", inMemory(sells("Adds.")), adds(sum{1, 2}))
	t.Setenv("TRACEFORGE_CHECK", "kind=tools")
	_, tb := s.run("check", inMemory(strict), adds(sum{1, 2}))
	require.Contains(t, tb.Logged(), "2 results of tools drifted from ")
	require.Contains(t, tb.Logged(), ": tools/list of shop-mcp, tool add of shop-mcp (")
	require.Contains(t, tb.Logged(), "/tool add/tool/inputSchema/required/2 added\n")
	require.Contains(t, tb.Logged(), "missing properties")
	t.Setenv("TRACEFORGE_CHECK", "")

	// An update keeps what the server said, and one of the tools takes over what it says now.
	now := inMemory(sells("Adds two numbers."))
	s.mustRun("1", now, adds(sum{1, 2}))
	require.NotContains(t, s.document(), "Adds two numbers.")
	s.mustRun("tools", now, adds(sum{1, 2}))
	require.Contains(t, s.document(), "Adds two numbers.")
}

// TestSessionEnds shows that sessions are closed at the server, also where an update made only one of the calls, for
// which the recorder opened a session.
func TestSessionEnds(t *testing.T) {
	var opened, closed atomic.Int32
	counted := way{"http", func(t testing.TB, tf *traceforgetest.Recorder, _ bool) mcp.Transport {
		server := shop("Adds.")
		handler := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, nil)
		listening := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch {
			case r.Method == http.MethodDelete:
				closed.Add(1)
			case r.Method == http.MethodPost && r.Header.Get("Mcp-Session-Id") == "":
				opened.Add(1)
			}
			handler.ServeHTTP(w, r)
		}))
		t.Cleanup(listening.Close)
		return &mcp.StreamableClientTransport{Endpoint: listening.URL, HTTPClient: tf.Client()}
	}}
	s := newStage(t)
	s.protocol = "2025-11-25"
	for _, run := range []struct {
		why, mode string
		pair      sum
		sessions  int32
	}{
		{"a recording opens one", "all", sum{1, 2}, 1},
		{"an update that buys nothing opens none", "1", sum{1, 2}, 1},
		{"an update that buys a call opens one", "1", sum{1, 3}, 2},
		{"a replay opens none", "", sum{1, 3}, 2},
	} {
		s.mustRun(run.mode, counted, adds(run.pair))
		require.Equal(t, [2]int32{run.sessions, run.sessions}, [2]int32{opened.Load(), closed.Load()}, run.why)
	}
}

// TestSessionRefused shows that an update says why a server opens no session, also where the refusal breaks off.
func TestSessionRefused(t *testing.T) {
	refuses := false
	refusing := way{"http", func(t testing.TB, tf *traceforgetest.Recorder, _ bool) mcp.Transport {
		server := shop("Adds.")
		handler := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, nil)
		listening := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if refuses {
				w.Header().Set("Content-Length", "100")
				w.WriteHeader(http.StatusServiceUnavailable)
				return
			}
			handler.ServeHTTP(w, r)
		}))
		t.Cleanup(listening.Close)
		return &mcp.StreamableClientTransport{Endpoint: listening.URL, HTTPClient: tf.Client()}
	}}
	s := newStage(t)
	s.protocol = "2025-11-25"
	s.mustRun("all", refusing, adds(sum{1, 2}))
	refuses = true
	_, tb := s.run("1", refusing, adds(sum{1, 3}))
	require.True(t, tb.Failed())
	require.Contains(t, tb.Logged(), "opening the session again that the store began: answered 503 Service Unavailable")
}

// grown lets a tool add another, waits until the server says so, and lists the tools again.
func grown(ctx context.Context, connect func(*mcp.ClientOptions) (*mcp.ClientSession, error)) (said []string, err error) {
	changed := make(chan struct{}, 10)
	session, err := connect(&mcp.ClientOptions{ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) { changed <- struct{}{} }})
	if err != nil {
		return nil, err
	}
	defer session.Close()
	list := func() error {
		tools, err := session.ListTools(ctx, nil)
		if err != nil {
			return err
		}
		var names strings.Builder
		for _, tool := range tools.Tools {
			names.WriteString(tool.Name + " ")
		}
		said = append(said, names.String())
		return nil
	}
	if err := list(); err != nil {
		return nil, err
	}
	select {
	case <-changed:
		return nil, errors.New("the server says that its tools changed before they did")
	case <-time.After(50 * time.Millisecond):
	}
	if _, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "grow"}); err != nil {
		return nil, err
	}
	select {
	case <-changed:
	case <-ctx.Done():
		return nil, errors.New("the server does not say that its tools changed")
	}
	return said, list()
}

// TestRootsAreAsked: a server that asks for the client's directories when the session is open, as most do, gets the reply
// before or after the first call, by chance. It is no call, so it may come at any time in replay.
func TestRootsAreAsked(t *testing.T) {
	serve := func() *mcp.Server {
		server := mcp.NewServer(&mcp.Implementation{Name: "shop"}, &mcp.ServerOptions{
			InitializedHandler: func(ctx context.Context, req *mcp.InitializedRequest) {
				go func() { // the session's end waits for it, also where the client has ended before it replied
					asking, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
					defer cancel()
					_, _ = req.Session.ListRoots(asking, nil)
				}()
			},
		})
		mcp.AddTool(server, &mcp.Tool{Name: "add", Description: "Adds."},
			func(_ context.Context, _ *mcp.CallToolRequest, in sum) (*mcp.CallToolResult, map[string]int, error) {
				return nil, map[string]int{"sum": in.A + in.B}, nil
			})
		return server
	}
	for _, w := range ways(serve) {
		for _, pause := range []time.Duration{0, 50 * time.Millisecond} {
			t.Run(fmt.Sprint(w.name, " ", pause), func(t *testing.T) {
				visit := func(ctx context.Context, connect func(*mcp.ClientOptions) (*mcp.ClientSession, error)) ([]string, error) {
					session, err := connect(nil)
					if err != nil {
						return nil, err
					}
					defer session.Close()
					time.Sleep(pause)
					result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "add", Arguments: sum{1, 1}})
					if err != nil {
						return nil, err
					}
					return []string{text(result)}, nil
				}
				for range 3 {
					s := newStage(t)
					s.protocol = "2025-11-25"
					for _, mode := range []string{"all", "", "1", ""} {
						s.mustRun(mode, w, visit)
					}
				}
			})
		}
	}
}

// TestListening shows that what a server says of itself comes in replay after the calls that it followed.
func TestListening(t *testing.T) {
	for _, protocol := range []string{"2025-11-25", ""} {
		for _, w := range ways(sells("Adds.")) {
			t.Run(w.name+protocol, func(t *testing.T) {
				s := newStage(t)
				s.protocol = protocol
				recorded := s.mustRun("all", w, grown)
				require.Len(t, recorded, 2)
				require.NotEqual(t, recorded[0], recorded[1])
				for range 5 {
					require.Equal(t, recorded, s.mustRun("", w, grown))
				}
			})
		}
	}
}

// TestResumption shows a stream that its server cuts, and that its client asks the rest of.
func TestResumption(t *testing.T) {
	serve := func() *mcp.Server {
		server := shop("Adds.")
		mcp.AddTool(server, &mcp.Tool{Name: "long"}, func(_ context.Context, req *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
			req.Extra.CloseSSEStream(mcp.CloseSSEStreamArgs{RetryAfter: 10 * time.Millisecond})
			time.Sleep(50 * time.Millisecond)
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "at last"}}}, nil, nil
		})
		return server
	}
	visit := func(ctx context.Context, connect func(*mcp.ClientOptions) (*mcp.ClientSession, error)) ([]string, error) {
		session, err := connect(nil)
		if err != nil {
			return nil, err
		}
		defer session.Close()
		result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "long"})
		if err != nil {
			return nil, err
		}
		return []string{text(result)}, nil
	}
	s := newStage(t)
	s.protocol = "2025-11-25"
	w := overHTTP(serve, &mcp.StreamableHTTPOptions{EventStore: mcp.NewMemoryEventStore(nil)})
	require.Equal(t, []string{"at last"}, s.mustRun("all", w, visit))
	require.Contains(t, s.document(), "last-event-id")
	for range 3 {
		require.Equal(t, []string{"at last"}, s.mustRun("", w, visit))
	}
}

// TestPendingIsWhatIsRecorded holds that what waits of a failed run is what a run that passes records: not the empty stream
// in which a server says nothing of itself.
func TestPendingIsWhatIsRecorded(t *testing.T) {
	s, w := newStage(t), overHTTP(sells("Adds."), nil)
	_, tb := s.run("1", w, func(ctx context.Context, connect func(*mcp.ClientOptions) (*mcp.ClientSession, error)) ([]string, error) {
		said, err := adds(sum{1, 2})(ctx, connect)
		return said, errors.Join(err, errors.New("the test fails"))
	})
	require.True(t, tb.Failed())
	waiting := regexp.MustCompile(`(\d+) new answers wait in `).FindStringSubmatch(tb.Logged())
	require.NotNil(t, waiting, tb.Logged())
	s.mustRun("all", w, adds(sum{1, 2}))
	require.Equal(t, waiting[1], strconv.Itoa(strings.Count(s.document(), `"latency_ms"`)), tb.Logged())
	require.NotContains(t, tb.Logged(), "GET /")
}

// keeps lists the tools of a server twice, so long apart in a recording that its client must ask again. meta is what it
// says with each request.
func keeps(apart time.Duration, meta mcp.Meta) visit {
	return func(ctx context.Context, connect func(*mcp.ClientOptions) (*mcp.ClientSession, error)) (said []string, err error) {
		session, err := connect(nil)
		if err != nil {
			return nil, err
		}
		defer session.Close()
		for range 2 {
			tools, err := session.ListTools(ctx, &mcp.ListToolsParams{Meta: meta})
			if err != nil {
				return nil, err
			}
			said = append(said, fmt.Sprint(len(tools.Tools)))
			time.Sleep(apart)
		}
		return said, nil
	}
}

// TestKeptAnswers shows that a client which keeps an answer for the time that its server allows need not ask again in
// replay, which takes no time, and that an update keeps the record.
func TestKeptAnswers(t *testing.T) {
	tbtest.Unfiltered(t)
	const allowed = 300 * time.Millisecond
	for name, lasts := range map[string]time.Duration{"kept": allowed, "not to be kept": 0} {
		t.Run(name, func(t *testing.T) {
			w := overHTTP(func() *mcp.Server {
				server := shop("Adds.")
				server.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
					return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
						result, err := next(ctx, method, req)
						if list, ok := result.(*mcp.ListToolsResult); ok {
							list.TTLMs = int(lasts.Milliseconds())
						}
						return result, err
					}
				})
				return server
			}, &mcp.StreamableHTTPOptions{Stateless: true})
			s := newStage(t)
			said := s.mustRun("all", w, keeps(allowed*3/2, nil))
			recorded := s.document()
			require.Equal(t, 2, strings.Count(recorded, `"method": "tools/list"`))
			for _, mode := range []string{"", "1", ""} {
				require.Equal(t, said, s.mustRun(mode, w, keeps(0, nil)))
			}
			require.Equal(t, recorded, s.document())
			_, tb := s.run("", w, opensOnly)
			require.Contains(t, tb.Logged(), "recorded call was not made", "a client that asks for no tools has changed")
			for _, mode := range []string{"1", ""} {
				require.Equal(t, said, s.mustRun(mode, w, keeps(0, mcp.Meta{"client": "newer"})), "no record of older requests is left")
			}
			asks := map[time.Duration]int{allowed: 1, 0: 2}[lasts]
			for _, mode := range []string{"all", ""} {
				s.mustRun(mode, w, keeps(0, nil))
				require.Equal(t, asks, strings.Count(s.document(), `"method": "tools/list"`), "a recording takes its time")
			}
		})
	}
}

func opensOnly(_ context.Context, connect func(*mcp.ClientOptions) (*mcp.ClientSession, error)) ([]string, error) {
	session, err := connect(nil)
	if err != nil {
		return nil, err
	}
	return nil, session.Close()
}
