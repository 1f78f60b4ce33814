package main

import (
	"errors"
	"fmt"
	"os"
	osexec "os/exec"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/traceforge/traceforge-go/internal/page/pagetest"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"traceforge": checkedMain,
		"record":     runRecord,
		"session":    runSession,
		"asker":      runAsker,
	})
}

func TestScript(t *testing.T) {
	t.Parallel()
	cache := t.TempDir()
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("TRACEFORGE_DIR", "")
			env.Setenv("NO_COLOR", "")
			env.Setenv("XDG_CACHE_HOME", cache)
			env.Setenv("COLUMNS", "")
			env.Setenv("GORACE", "atexit_sleep_ms=0") // else each command of a script sleeps for a second
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits":   exits,
			"replace": replace,
		},
	})
}

// exits is the script command exits CODE PROGRAM [ARGUMENT…], which is exec for programs that must
// exit with the given code.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE PROGRAM [ARGUMENT…]")
	}
	code := 0
	var exit *osexec.ExitError
	if err := ts.Exec(args[1], args[2:]...); errors.As(err, &exit) {
		code = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if want := args[0]; fmt.Sprint(code) != want {
		ts.Fatalf("exit code %d, want %s", code, want)
	}
}

// replace is the script command replace FILE OLD NEW, which replaces the first OLD in FILE by NEW, in
// which \n is a line end.
func replace(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: replace FILE OLD NEW")
	}
	before := ts.ReadFile(args[0])
	after := strings.Replace(before, args[1], strings.ReplaceAll(args[2], `\n`, "\n"), 1)
	if after == before {
		ts.Fatalf("%s has no %q", args[0], args[1])
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(after), 0o666))
}

// runRecord is the command that scripts make stores with: record DIR NAME…
func runRecord() {
	if err := pagetest.MakeStore(os.Args[1], os.Args[2:]...); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
