package traceforgetest_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/fakeprovider"
)

// TestScript runs real go test in toy modules that use this checkout, offline.
func TestScript(t *testing.T) {
	if testing.Short() {
		t.Skip("runs go test many times")
	}
	checkout, err := filepath.Abs("..")
	require.NoError(t, err)
	sums, err := os.ReadFile(filepath.Join(checkout, "go.sum"))
	require.NoError(t, err)
	goEnv, err := exec.Command("go", "env", "GOCACHE", "GOMODCACHE").Output()
	require.NoError(t, err)
	caches := strings.Split(strings.TrimSpace(string(goEnv)), "\n")

	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			env.Values[runningProvider{}] = new(*fakeprovider.Server)
			env.Vars = append(env.Vars,
				"GOCACHE="+caches[0], "GOMODCACHE="+caches[1], "GOFLAGS=-mod=mod -vet=off -ldflags=-w", "GOPROXY=off", "GONOSUMDB=*", "GOWORK=off",
				"TRACEFORGE_UPDATE=", "TRACEFORGE_DIR=", "GIT_CONFIG_NOSYSTEM=1",
				"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com")
			module := fmt.Sprintf("module example.com/toy\n\ngo 1.25\n\nrequire github.com/traceforge/traceforge-go v0.0.0\n\nreplace github.com/traceforge/traceforge-go => %s\n", checkout)
			if err := os.WriteFile(filepath.Join(env.WorkDir, "go.mod"), []byte(module), 0o644); err != nil {
				return err
			}
			return os.WriteFile(filepath.Join(env.WorkDir, "go.sum"), sums, 0o644)
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
