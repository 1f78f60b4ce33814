package mcptraceforge_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	mcptraceforge "github.com/traceforge/traceforge-go/adapters/mcp"
	"github.com/traceforge/traceforge-go/internal/rehearsal"
	"github.com/traceforge/traceforge-go/internal/tbtest"
	"github.com/traceforge/traceforge-go/traceforgetest"
)

// serveEnv is set where the test binary is to be a server.
const serveEnv = "MCPTRACEFORGE_SERVE"

func TestMain(m *testing.M) {
	if which := os.Getenv(serveEnv); which != "" {
		server := shop("Adds.")
		if which == workingServer {
			server = works(rehearsal.NewWork(1))()
		}
		if err := server.Run(context.Background(), &mcp.StdioTransport{}); err != nil {
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

const workingServer = "work"

// process is a server that is a process of its own, which a replay does not start. started counts; nil: nobody does.
func process(which string, started *atomic.Int32) way {
	return way{"process", func(t testing.TB, tf *traceforgetest.Recorder, recording bool) mcp.Transport {
		if !recording {
			return mcptraceforge.Transport(tf, "shop", nil)
		}
		binary, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(binary)
		cmd.Env = append(os.Environ(), serveEnv+"="+which)
		if started != nil {
			started.Add(1)
		}
		return mcptraceforge.Transport(tf, "shop", &mcp.CommandTransport{Command: cmd})
	}}
}

// TestProcess shows a server that is a process of its own, which a replay does not start.
func TestProcess(t *testing.T) {
	var started atomic.Int32
	s := newStage(t)
	recorded := s.mustRun("all", process("1", &started), everything)
	for range 3 {
		require.Equal(t, recorded, s.mustRun("", process("1", &started), everything))
	}
	require.EqualValues(t, 1, started.Load())
}

// TestClose shows that the server ends when the client's session does.
func TestClose(t *testing.T) {
	for _, protocol := range []string{"2025-11-25", ""} {
		t.Run(protocol, func(t *testing.T) {
			ended := make(chan error, 1)
			s := newStage(t)
			s.protocol = protocol
			s.mustRun("all", way{"memory", func(t testing.TB, tf *traceforgetest.Recorder, _ bool) mcp.Transport {
				here, there := mcp.NewInMemoryTransports()
				session, err := shop("Adds.").Connect(context.Background(), there, nil)
				if err != nil {
					t.Fatal(err)
				}
				go func() { ended <- session.Wait() }()
				return mcptraceforge.Transport(tf, "shop", here)
			}}, adds(sum{1, 2}))
			select {
			case <-ended:
			case <-time.After(10 * time.Second):
				t.Fatal("the server still runs")
			}
		})
	}
}

// TestTwoServers shows that two servers with a tool of one name are told apart.
func TestTwoServers(t *testing.T) {
	dir := filepath.Join(t.TempDir(), ".ai-snapshots")
	visit := func(t testing.TB, recording bool, order ...string) (said []string) {
		tf := traceforgetest.New(t, traceforgetest.Dir(dir))
		sessions := map[string]*mcp.ClientSession{}
		for _, name := range []string{"north", "south"} {
			var inner mcp.Transport
			if recording {
				here, there := mcp.NewInMemoryTransports()
				server := mcp.NewServer(&mcp.Implementation{Name: name}, nil)
				mcp.AddTool(server, &mcp.Tool{Name: "where"}, func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
					return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: name}}}, nil, nil
				})
				if _, err := server.Connect(context.Background(), there, nil); err != nil {
					t.Fatal(err)
				}
				inner = here
			}
			client := mcp.NewClient(&mcp.Implementation{Name: "c"}, nil)
			session, err := client.Connect(context.Background(), mcptraceforge.Transport(tf, name, inner), nil)
			if err != nil {
				t.Fatal(err)
			}
			defer session.Close()
			sessions[name] = session
		}
		for _, name := range order {
			result, err := sessions[name].CallTool(context.Background(), &mcp.CallToolParams{Name: "where"})
			if err != nil {
				t.Fatal(err)
			}
			said = append(said, text(result))
		}
		return said
	}
	for _, run := range []struct{ mode, order string }{{"all", "north south"}, {"", "south north"}} {
		t.Setenv("TRACEFORGE_UPDATE", run.mode)
		var said []string
		tb := tbtest.Run("TestWhere", func(tb *tbtest.TB) { said = visit(tb, run.mode != "", strings.Fields(run.order)...) })
		require.False(t, tb.Failed(), tb.Logged())
		require.Equal(t, run.order, strings.Join(said, " "))
	}
}

// TestKeepAlive shows that a server which asks whether its client is there gets an answer while nobody calls it.
func TestKeepAlive(t *testing.T) {
	const every = 20 * time.Millisecond
	serve := func() *mcp.Server {
		server := mcp.NewServer(&mcp.Implementation{Name: "shop"}, &mcp.ServerOptions{KeepAlive: every})
		mcp.AddTool(server, &mcp.Tool{Name: "add"}, func(_ context.Context, _ *mcp.CallToolRequest, in sum) (*mcp.CallToolResult, map[string]int, error) {
			time.Sleep(5 * every)
			return nil, map[string]int{"sum": in.A + in.B}, nil
		})
		return server
	}
	idle := func(ctx context.Context, connect func(*mcp.ClientOptions) (*mcp.ClientSession, error)) (said []string, err error) {
		session, err := connect(nil)
		if err != nil {
			return nil, err
		}
		defer session.Close()
		for i := range 2 {
			result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "add", Arguments: sum{i, 1}})
			if err != nil {
				return nil, err
			}
			said = append(said, text(result))
			time.Sleep(5 * every)
		}
		return said, nil
	}
	for _, protocol := range []string{"2025-11-25", ""} {
		synctest.Test(t, func(t *testing.T) { // on a busy machine an answer would come late
			s := newStage(t)
			s.protocol = protocol
			said := s.mustRun("all", inMemory(serve), idle)
			require.Equal(t, []string{`{"sum":1}`, `{"sum":2}`}, said)
			require.NotContains(t, s.document(), `"ping"`, "how often it asked is another number in each run")
			require.Equal(t, said, s.mustRun("", inMemory(serve), idle))
		})
	}
}

// TestRefused shows what a test is told that gives the adapter a name that is none, or no way to its server.
func TestRefused(t *testing.T) {
	t.Setenv("TRACEFORGE_UPDATE", "all")
	for _, tc := range []struct{ name, server, want string }{
		{"name", "The Shop", `"The Shop" is no name of a server`},
		{"nothing inside", "shop", "server shop has to be asked"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var err error
			tbtest.Run("TestRefused", func(tb *tbtest.TB) {
				tf := traceforgetest.New(tb, traceforgetest.Dir(t.TempDir()))
				_, err = mcp.NewClient(&mcp.Implementation{Name: "c"}, nil).Connect(t.Context(), mcptraceforge.Transport(tf, tc.server, nil), nil)
			})
			require.ErrorContains(t, err, tc.want)
		})
	}
}
