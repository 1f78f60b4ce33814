package traceforgetest

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/tbtest"
	"github.com/traceforge/traceforge-go/internal/usage"
	"github.com/traceforge/traceforge-go/snapshot"
)

// TestKnownTo gives a test the documents of its store, at a cost that does not grow with their number: each test of an
// update asks for them.
func TestKnownTo(t *testing.T) {
	defer func(was func() (map[string][]usage.Known, error)) { known = was }(known)
	dir := usage.RealPath(t.TempDir())
	all := map[string][]usage.Known{dir: make([]usage.Known, 10_000), dir + "other": make([]usage.Known, 10_000)}
	known = func() (map[string][]usage.Known, error) { return all, nil }
	require.Less(t, testing.AllocsPerRun(5, func() {
		found, err := knownTo(dir)
		require.NoError(t, err)
		require.Len(t, found, 10_000)
	}), 100.)
}

// TestStoreDir finds the store that an option or the variable names, and how messages name it.
func TestStoreDir(t *testing.T) {
	root, wd := t.TempDir(), t.TempDir()
	t.Chdir(wd)
	for _, c := range []struct{ root, option, variable, dir, shown, why string }{
		{root, "", "", root + "/.ai-snapshots", ".ai-snapshots", "next to go.mod"},
		{root, "", "snaps", root + "/snaps", "snaps", "the variable is of the module"},
		{root, "", wd + "/snaps", wd + "/snaps", wd + "/snaps", "the variable may name another place"},
		{root, "snaps", "other", wd + "/snaps", wd + "/snaps", "the option is of the working directory"},
		{root, root + "/a/snaps", "", root + "/a/snaps", "a/snaps", "below the module"},
		{"", "", wd + "/snaps", wd + "/snaps", wd + "/snaps", "no module is needed"},
		{"", "snaps", "", wd + "/snaps", wd + "/snaps", "no module is needed"},
	} {
		t.Setenv("TRACEFORGE_DIR", filepath.FromSlash(c.variable))
		dir, shown, err := place{root: c.root}.storeDir(filepath.FromSlash(c.option))
		require.NoError(t, err)
		require.Equal(t, filepath.FromSlash(c.dir), dir, c.why)
		require.Equal(t, filepath.ToSlash(c.shown), shown, c.why)
	}
	t.Setenv("TRACEFORGE_DIR", "")
	_, _, err := place{}.storeDir("")
	require.EqualError(t, err, "no go.mod was found from the working directory upwards: "+
		"name the store with the option Dir or with TRACEFORGE_DIR")
}

// TestSource finds where calls come from in stacks, innermost frame first.
func TestSource(t *testing.T) {
	made := snapshot.Source{File: "a_test.go", Line: 7, Function: "TestIt"}
	p := place{root: "/src/m", module: "example.com/m", pkg: "example.com/m/agents"}
	frame := func(function, file string) runtime.Frame {
		return runtime.Frame{Function: function, File: file, Line: 3}
	}
	for _, c := range []struct {
		name, why string
		frames    []runtime.Frame
		want      snapshot.Source
	}{
		{"code", "what the test calls, not the test", []runtime.Frame{
			frame("net/http.(*Client).Do", "/go/src/net/http/client.go"),
			frame("example.com/m/agents.Ask", "/src/m/agents/ask.go"),
			frame("example.com/m/agents_test.TestIt", "/src/m/agents/ask_test.go"),
		}, snapshot.Source{File: "agents/ask.go", Line: 3, Function: "Ask"}},
		{"trimpath", "files are named by import path", []runtime.Frame{
			frame("example.com/m/agents.Ask", "example.com/m/agents/ask.go"),
		}, snapshot.Source{File: "agents/ask.go", Line: 3, Function: "Ask"}},
		{"inlined", "a closure of the SDK that is named after the function it is inlined into", []runtime.Frame{
			frame("example.com/m/agents.New.WithRetries.func1", "/go/pkg/mod/example.org/sdk@v1.2.0/option.go"),
			frame("example.com/m/agents.Ask", "/src/m/agents/ask.go"),
		}, snapshot.Source{File: "agents/ask.go", Line: 3, Function: "Ask"}},
		{"inlined-trimpath", "so here", []runtime.Frame{
			frame("example.com/m/agents.New.WithRetries.func1", "example.org/sdk@v1.2.0/option.go"),
			frame("example.com/m/agents.Ask", "example.com/m/agents/ask.go"),
		}, snapshot.Source{File: "agents/ask.go", Line: 3, Function: "Ask"}},
		{"vendored", "so here", []runtime.Frame{
			frame("example.com/m/agents.New.WithRetries.func1", "/src/m/vendor/example.org/sdk/option.go"),
			frame("example.com/m/agents.Ask", "/src/m/agents/ask.go"),
		}, snapshot.Source{File: "agents/ask.go", Line: 3, Function: "Ask"}},
		{"nested", "a module below the main one's path is another", []runtime.Frame{
			frame("example.com/m/sdk.Ask", "example.com/m/sdk@v1.2.0/ask.go"),
			frame("example.com/m/agents.Ask", "example.com/m/agents/ask.go"),
		}, snapshot.Source{File: "agents/ask.go", Line: 3, Function: "Ask"}},
		{"tests", "the outermost function of the tests", []runtime.Frame{
			frame("example.com/m/agents_test.help", "/src/m/agents/help_test.go"),
			frame("example.com/m/agents_test.TestIt", "/src/m/agents/ask_test.go"),
		}, snapshot.Source{File: "agents/ask_test.go", Line: 3, Function: "TestIt"}},
		{"wrapper", "a transport of the project's own, and what it calls, is the way to the model", []runtime.Frame{
			frame("example.com/m/web.log", "/src/m/web/log.go"),
			frame("example.com/m/web.Logging.RoundTrip.func1", "/src/m/web/log.go"),
			frame("example.com/m/web.Logging.RoundTrip", "/src/m/web/log.go"),
			frame("net/http.(*Client).Do", "/go/src/net/http/client.go"),
			frame("example.com/m/agents.Ask", "/src/m/agents/ask.go"),
		}, snapshot.Source{File: "agents/ask.go", Line: 3, Function: "Ask"}},
		{"foreign-wrapper", "one of another module calls a function of this one", []runtime.Frame{
			frame("example.com/m/web.sign", "/src/m/web/sign.go"),
			frame("example.org/signing.(*Transport).RoundTrip", "/go/pkg/mod/example.org/signing@v1.0.0/signing.go"),
			frame("example.com/m/agents.Ask", "/src/m/agents/ask.go"),
		}, snapshot.Source{File: "agents/ask.go", Line: 3, Function: "Ask"}},
		{"test-wrapper", "one of the tests", []runtime.Frame{
			frame("example.com/m/agents_test.transport.RoundTrip", "/src/m/agents/ask_test.go"),
		}, made},
		{"doer", "a client of the project's own, and what it calls", []runtime.Frame{
			frame("example.com/m/web.(*Client).try", "/src/m/web/client.go"),
			frame("example.com/m/web.(*Client).Do", "/src/m/web/client.go"),
			frame("example.com/m/agents.Ask", "/src/m/agents/ask.go"),
		}, snapshot.Source{File: "agents/ask.go", Line: 3, Function: "Ask"}},
		{"only-doer", "a Do that is what the test calls has a call in it", []runtime.Frame{
			frame("example.com/m/agents.Ask", "/src/m/agents/ask.go"),
			frame("example.com/m/agents.(*Job).Do", "/src/m/agents/job.go"),
			frame("example.com/m/agents_test.TestIt", "/src/m/agents/ask_test.go"),
		}, snapshot.Source{File: "agents/ask.go", Line: 3, Function: "Ask"}},
		{"goroutine", "a stack with nothing of the module's", []runtime.Frame{
			frame("example.org/sdk.(*pool).run", "/go/pkg/mod/example.org/sdk@v1.2.0/pool.go"),
		}, made},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Equal(t, c.want, p.sourceIn(slices.Values(c.frames), made), c.why)
		})
	}

	moved := slices.Values([]runtime.Frame{
		frame("example.com/m/agents.Ask", "/built/elsewhere/agents/ask.go"),
		frame("example.com/m/agents_test.TestIt", "/built/elsewhere/agents/ask_test.go"),
	})
	require.False(t, p.builtElsewhere(slices.Values([]runtime.Frame{frame("example.com/m/agents_test.TestIt", "/src/m/agents/ask_test.go")})))
	p.moved = p.builtElsewhere(moved)
	require.True(t, p.moved)
	require.Equal(t, snapshot.Source{File: "ask.go", Line: 3, Function: "Ask"}, p.sourceIn(moved, made), "a binary that was copied still names the function")
}

// TestModuleThatCannotBeRead fails a test whose go.mod nobody can look at, here as it is a link to itself: the module above
// is another one, and has a store of its own.
func TestModuleThatCannotBeRead(t *testing.T) {
	outer := t.TempDir()
	inner := filepath.Join(outer, "inner")
	require.NoError(t, os.Mkdir(inner, 0o777))
	require.NoError(t, os.WriteFile(filepath.Join(outer, "go.mod"), []byte("module example.com/outer\n"), 0o666))
	if err := os.Symlink("go.mod", filepath.Join(inner, "go.mod")); err != nil {
		t.Skipf("no links here: %v", err)
	}
	startIn(t, inner)
	t.Setenv("TRACEFORGE_UPDATE", "1")
	tb := tbtest.Run("TestIt", func(tb *tbtest.TB) { New(tb) })
	require.True(t, tb.Failed())
	require.Contains(t, tb.Logged(), "looking for go.mod: stat "+filepath.Join(inner, "go.mod"))
	require.NoDirExists(t, filepath.Join(outer, ".ai-snapshots"))
}

// startIn has the process look started in a directory.
func startIn(t *testing.T, dir string) {
	before := started
	started = dir
	t.Cleanup(func() { started = before })
}

// TestDirectoryThatChanges finds the store of a test's own module when the test has gone into one that it made: what was
// stored there was deleted with it, and bought again by each update.
func TestDirectoryThatChanges(t *testing.T) {
	before, err := findPlace(callers())
	require.NoError(t, err)
	made := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(made, "go.mod"), []byte("module example.com/made\n"), 0o666))
	t.Chdir(made)
	after, err := findPlace(callers())
	require.NoError(t, err)
	require.Equal(t, before, after)

	startIn(t, t.TempDir()) // as a binary that was copied may be
	wd, err := os.Getwd()
	require.NoError(t, err)
	p, err := findPlace(callers())
	require.NoError(t, err)
	require.Equal(t, wd, p.root, "TestMain may go where the module is")
}
