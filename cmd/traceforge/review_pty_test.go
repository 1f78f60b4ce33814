//go:build unix

package main // a pseudo-terminal is a thing of Unix; Windows has another, which no library for tests knows

import (
	"bufio"
	"io"
	"os"
	osexec "os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/hinshun/vt10x"
	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/tbtest"
)

// A terminal is a command that runs in a terminal.
type terminal struct {
	t    *testing.T
	cmd  *osexec.Cmd
	pty  *os.File
	seen vt10x.Terminal
	all  strings.Builder // what came, for after the end; written by one goroutine until eof
	eof  chan bool
}

// startReview runs traceforge review on the store in dir, in a terminal of a size.
func startReview(t *testing.T, dir string, columns, rows int, env ...string) *terminal {
	t.Helper()
	return startOn(t, filepath.Dir(dir), columns, rows, env, "review")
}

// startOn runs traceforge with arguments in a directory, in a terminal of a size.
func startOn(t *testing.T, dir string, columns, rows int, env []string, args ...string) *terminal {
	t.Helper()
	cmd := osexec.Command("traceforge", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "TERM=xterm-256color", "CI=", "TRACEFORGE_DIR=", "NO_COLOR=", "COLUMNS=")
	cmd.Env = append(cmd.Env, env...)
	file, err := pty.StartWithSize(cmd, &pty.Winsize{Cols: uint16(columns), Rows: uint16(rows)})
	require.NoError(t, err)
	term := &terminal{t: t, cmd: cmd, pty: file, seen: vt10x.New(vt10x.WithSize(columns, rows)), eof: make(chan bool)}
	go func() {
		defer close(term.eof)
		for in := bufio.NewReader(io.TeeReader(file, &term.all)); term.seen.Parse(in) == nil; {
		} // until the terminal is closed, which is an error
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // where a test failed
		file.Close()
	})
	return term
}

// screen returns what is seen.
func (term *terminal) screen() string {
	var lines []string
	for line := range strings.Lines(term.seen.String()) {
		lines = append(lines, strings.TrimRight(line, " \n"))
	}
	return strings.Join(lines, "\n")
}

// sees waits until all texts are seen.
func (term *terminal) sees(texts ...string) {
	term.t.Helper()
	deadline := time.Now().Add(time.Minute)
	for {
		screen, missing := term.screen(), ""
		for _, text := range texts {
			if !strings.Contains(screen, text) {
				missing = text
			}
		}
		if missing == "" {
			return
		}
		if time.Now().After(deadline) {
			require.FailNow(term.t, "not seen: "+missing, screen)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func (term *terminal) types(keys string) {
	term.t.Helper()
	_, err := term.pty.WriteString(keys)
	require.NoError(term.t, err)
}

// ends waits for the end, and returns what was printed, and the exit code.
func (term *terminal) ends() (printed string, code int) {
	term.t.Helper()
	select {
	case <-term.eof:
	case <-time.After(time.Minute):
		require.FailNow(term.t, "it does not end", term.screen())
	}
	_ = term.cmd.Wait() // its code tells
	return term.all.String(), term.cmd.ProcessState.ExitCode()
}

// On a real terminal: one cause is accepted, one rejected, and what is left stays when the user quits.
func TestReviewOnTerminal(t *testing.T) {
	t.Parallel()
	dir := newReviewed(t)
	top := filepath.Dir(dir)
	term := startReview(t, dir, 80, 24)
	term.sees("5 causes, 6 tests left", "> pending  user message changed", "- How much is it?",
		"+ How much is it in euros?", "a accept  r reject  s skip")
	term.types("a")
	term.sees("accepted 1 test", "4 causes, 5 tests left", "> changed  system prompt changed",
		"- Never guess.", "+ Do not guess.")
	term.types("a")
	term.sees("1 test waits for a decision on: user message changed", "> changed  user message changed")
	term.types("r")
	term.sees("reject 1 test? y/n: their files become what git has")
	term.types("y")
	term.sees("rejected 1 test", "> changed  1 test added")
	term.types("q")
	printed, code := term.ends()
	require.Equal(t, exitFindings, code, "something is left")
	require.Contains(t, printed, "3 accepted, 1 rejected, 2 left")
	require.Contains(t, printed, "accepted "+documentOf("TestOrder")+"  TestOrder in example.com/shop/agents")
	require.Contains(t, printed, "rejected "+documentOf("TestStock"))

	tbtest.NoPending(t, dir)
	status := gitIn(t, top, "status", "--porcelain")
	require.Contains(t, status, "M  .ai-snapshots/openai/"+documentOf("TestOrder")+".json")
	require.NotContains(t, status, documentOf("TestStock"))
	require.Contains(t, status, "?? .ai-snapshots/openai/"+documentOf("TestNew")+".json", "it was not decided")
	require.Contains(t, status, " M .ai-snapshots/openai/"+documentOf("TestBought")+".json", "it was taken over")
}

// Quitting and an interrupt lose nothing.
func TestReviewQuits(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, key string }{{"q", "q"}, {"interrupt", "\x03"}, {"skip_all", "S"}} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := newReviewed(t)
			before := gitIn(t, filepath.Dir(dir), "status", "--porcelain")
			term := startReview(t, dir, 80, 24)
			term.sees("5 causes, 6 tests left")
			term.types(tt.key)
			printed, code := term.ends()
			require.Equal(t, exitFindings, code)
			require.Contains(t, printed, "0 accepted, 0 rejected, 6 left")
			require.Equal(t, before, gitIn(t, filepath.Dir(dir), "status", "--porcelain"))
			logs, err := filepath.Glob(filepath.Join(dir, ".pending", documentOf("TestBought")+".*.log"))
			require.NoError(t, err)
			require.Len(t, logs, 1)
		})
	}
}

// A terminal that becomes narrow shows the same in shorter lines.
func TestReviewResizes(t *testing.T) {
	t.Parallel()
	term := startReview(t, newReviewed(t), 100, 30)
	term.sees("system prompt changed in 1 package: 3 calls of 3 tests, 1 line")
	term.types("n")
	term.sees("> TestOrder in example.com/shop/agents")
	term.seen.Resize(40, 20)
	require.NoError(t, pty.Setsize(term.pty, &pty.Winsize{Cols: 40, Rows: 20}))
	term.sees("> changed  system prompt changed in 1 p…", "+ Do not guess.", "> TestOrder in example.com/shop/agents")
	term.types("\t\t\r") // to the third test, and unfold it
	term.sees("── test 3 of 3: TestStock in example.co…", "+ Is it in stock?")
	term.types("q")
	_, code := term.ends()
	require.Equal(t, exitFindings, code)
}

// NO_COLOR and CI are kept to, and so is a terminal that has no screens.
func TestReviewOnOtherTerminals(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, env string
		screens   bool
		color     bool
	}{
		{"color", "TERM=xterm-256color", true, true},
		{"no_color", "NO_COLOR=1", true, false},
		{"ci", "CI=true", false, true},
		{"dumb", "TERM=dumb", false, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			term := startReview(t, newReviewed(t), 80, 24, tt.env)
			if tt.screens {
				term.sees("5 causes, 6 tests left")
				term.types("q")
			}
			printed, code := term.ends()
			require.Equal(t, exitFindings, code)
			require.Equal(t, !tt.screens, strings.Contains(printed, "accept: traceforge review --pending --accept "))
			if tt.screens {
				require.Equal(t, tt.color, strings.Contains(printed, "[32m"), "green")
			}
		})
	}
}

// The editor is the user's own, with its arguments, on the terminal; the page is opened by the browser of BROWSER.
func TestReviewOpens(t *testing.T) {
	t.Parallel()
	bin := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(bin, "opener"), []byte("#!/bin/sh\necho \"$@\" >>'"+bin+"/opened'\n"), 0o777))
	opened := func() string {
		data, _ := os.ReadFile(bin + "/opened") // it may not be there yet
		return string(data)
	}
	term := startReview(t, newReviewed(t), 160, 24, "PATH="+bin+":"+os.Getenv("PATH"),
		"VISUAL=opener --wait", "BROWSER=opener page", "TMPDIR="+bin)
	term.sees("5 causes, 6 tests left")
	term.types("e")
	require.Eventually(t, func() bool {
		return strings.Contains(opened(), "--wait "+bin+"/traceforge-review-") &&
			strings.Contains(opened(), "/"+documentOf("TestBought")+".json\n")
	}, time.Minute, 10*time.Millisecond)
	term.sees("5 causes, 6 tests left")
	term.types("nh")
	term.sees("the page is " + bin + "/traceforge-review-")
	require.Eventually(t, func() bool { return strings.Contains(opened(), "page "+bin+"/traceforge-review-") },
		time.Minute, 10*time.Millisecond)
	pages, err := filepath.Glob(bin + "/traceforge-review-*.html")
	require.NoError(t, err)
	require.Len(t, pages, 1)
	text, err := os.ReadFile(pages[0])
	require.NoError(t, err)
	require.True(t, strings.Contains(string(text), "system prompt changed"), "%s is not the page", pages[0])
	term.types("q")
	term.ends()
}
