package traceforgetest_test

import (
	"fmt"
	"regexp"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/fakeprovider"
	"github.com/traceforge/traceforge-go/internal/tbtest/toy"
)

// TestWorkflow runs real go test in toy modules that use this checkout, offline.
func TestWorkflow(t *testing.T) {
	if testing.Short() {
		t.Skip("runs go test many times")
	}
	goEnv, err := toy.Env()
	require.NoError(t, err)

	userCache := t.TempDir()
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/workflow",
		WorkdirRoot:         toy.Dir(t),
		RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			env.Values[runningProvider{}] = new(*fakeprovider.Server)
			env.Vars = append(append(env.Vars, goEnv...), "XDG_CACHE_HOME="+userCache, "GIT_CONFIG_NOSYSTEM=1",
				"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com")
			return toy.Make(env.WorkDir)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"provider": providerCommand,
			"accept":   acceptCommand,
		},
	})
}

// runningProvider is the key under which a script keeps its provider.
type runningProvider struct{}

// providerCommand starts and stops a provider, whose address is in MODEL_URL, and holds how many calls of it were made
// since it was started. One that jitters never answers twice alike.
//
//	provider start|jitter|stop|made N
func providerCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 || len(args) != 1 && args[0] != "made" {
		ts.Fatalf("usage: provider start|jitter|stop|made N")
	}
	running := ts.Value(runningProvider{}).(**fakeprovider.Server)
	switch args[0] {
	case "start", "jitter":
		server, err := fakeprovider.Start()
		ts.Check(err)
		server.Handle(fakeprovider.Echo())
		if args[0] == "jitter" {
			server.Handle(func(c fakeprovider.Call) fakeprovider.Reply {
				return fakeprovider.Text(fmt.Sprintf("answer %d to %s", len(server.Calls()), c.LastUser()))
			})
		}
		ts.Defer(server.Close)
		*running = server
		ts.Setenv("MODEL_URL", server.URL())
	case "stop":
		(*running).Close()
		ts.Setenv("MODEL_URL", "")
	case "made":
		if made := fmt.Sprint(len((*running).Calls())); made != args[1] {
			ts.Fatalf("%s calls were made, want %s", made, args[1])
		}
	default:
		ts.Fatalf("unknown: provider %s", args[0])
	}
}

// acceptCommand runs the command that the last go test printed to accept a change, as a
// shell runs it.
func acceptCommand(ts *testscript.TestScript, neg bool, args []string) {
	m := regexp.MustCompile(`(?m)^\s+accept: (.*)$`).FindStringSubmatch(ts.ReadFile("stdout"))
	if m == nil {
		ts.Fatalf("the output names no command that accepts")
	}
	ts.Logf("$ %s", m[1])
	err := ts.Exec("sh", "-c", m[1])
	if (err != nil) != neg {
		ts.Fatalf("accepting: %v", err)
	}
}
