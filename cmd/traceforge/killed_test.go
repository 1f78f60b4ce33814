//go:build unix

package main

import (
	"errors"
	"math/rand/v2"
	"os"
	osexec "os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/fakeprovider"
	"github.com/traceforge/traceforge-go/internal/tbtest/toy"
)

// TestKilledWriters kills test processes at random moments while sixteen of them record into one
// store. No file is ever half written, no lock blocks the next, and the next writer or
// traceforge repair --manifest repairs the store.
func TestKilledWriters(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("runs many processes")
	}
	const writers = 16
	s := newScene(t, 1, writers+1, 8)
	s.build(writers)
	s.record("round 0 ")
	s.requireClean()

	for round := range 6 {
		before, now := s.prompt, "round "+string(rune('1'+round))+" "
		whole := s.recordAndKill(now)
		t.Logf("round %d: killed in %v", round+1, whole)
		s.requireEither(before, now, 1) // of one test at most the commit was under way
		if round%2 == 0 {
			code, _, said := run("", "repair", "--manifest", "--dir", s.store)
			require.Equal(t, exitClean, code, said)
		} else {
			out, err := s.run(s.next, now, "-update")
			require.NoError(t, err, out)
		}
		s.requireClean()
		s.requireEither(before, now, 0)
		s.record(now)
		s.requireClean()
	}
}

// TestKilledGoTest kills go test itself, with all that it runs.
func TestKilledGoTest(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("runs go test many times")
	}
	s := newScene(t, 4, 1, 30)
	for range 2 {
		cmd := s.command("go", "some ", "test", "-p", "4", "./...", "-update")
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		require.NoError(t, cmd.Start())
		ended := make(chan bool)
		go func() {
			cmd.Wait() // it was killed
			close(ended)
		}()
		begun := func() bool {
			files, _ := filepath.Glob(filepath.Join(s.store, "openai", "*"))
			return len(files) > 0
		}
		for !begun() { // however long go compiles
			select {
			case <-ended:
				require.True(t, begun(), "go test ended before it recorded")
			case <-time.After(time.Millisecond):
			}
		}
		time.Sleep(rand.N(100 * time.Millisecond))
		if err := syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL); err != nil {
			require.ErrorIs(t, err, syscall.ESRCH) // it has ended
		}
		<-ended
		out, err := s.command("go", "other ", "test", "-p", "4", "./...", "-update").CombinedOutput()
		require.NoError(t, err, "%s", out)
		s.requireClean()
		require.NoError(t, os.RemoveAll(s.store))
	}
}

// A scene is a toy module whose packages record.
type scene struct {
	t      *testing.T
	dir    string
	store  string
	env    []string
	binary string   // of the first package, as go test -c makes it
	tests  []string // of that package: a process runs each
	next   string   // one more of them
	prompt string   // of the last whole recording
	took   time.Duration
}

func newScene(t *testing.T, packages, tests, subtests int) *scene {
	s := &scene{t: t, dir: toy.Dir(t)}
	s.store = filepath.Join(s.dir, ".ai-snapshots")
	require.NoError(t, makeToy(s.dir))
	require.NoError(t, makePackages(s.dir, packages, tests, subtests))
	provider := fakeprovider.New(t)
	provider.Handle(fakeprovider.Echo())
	goEnv, err := toy.Env()
	require.NoError(t, err)
	s.env = append(append(os.Environ(), goEnv...), "MODEL_URL="+provider.URL())
	return s
}

// build compiles the first package, of which so many tests record at once.
func (s *scene) build(writers int) {
	s.binary = filepath.Join(s.t.TempDir(), "p1.test")
	out, err := s.command("go", "", "test", "-c", "-o", s.binary, "./p1").CombinedOutput()
	require.NoError(s.t, err, "%s", out)
	for i := range writers {
		s.tests = append(s.tests, testName(i))
	}
	s.next = testName(writers)
}

// command returns a command in the toy module, whose prompts begin with prompt.
func (s *scene) command(program, prompt string, args ...string) *osexec.Cmd {
	cmd := osexec.Command(program, args...)
	cmd.Dir = s.dir
	cmd.Env = append(slices.Clip(s.env), "PROMPT="+prompt)
	return cmd
}

// process returns a process of the first package, which runs one test as go test does.
func (s *scene) process(test, prompt string, flags ...string) *osexec.Cmd {
	cmd := s.command(s.binary, prompt, append(flags, "-test.run=^"+test+"$")...)
	cmd.Dir = filepath.Join(s.dir, "p1")
	return cmd
}

func (s *scene) run(test, prompt string, flags ...string) (string, error) {
	out, err := s.process(test, prompt, flags...).CombinedOutput()
	return string(out), err
}

// record records with all tests at once.
func (s *scene) record(prompt string) {
	start := time.Now()
	s.each(func(test string) {
		if out, err := s.run(test, prompt, "-update"); err != nil {
			s.t.Error(out)
		}
	})
	s.prompt, s.took = prompt, time.Since(start)
}

func (s *scene) each(f func(test string)) {
	var all sync.WaitGroup
	for _, test := range s.tests {
		all.Go(func() { f(test) })
	}
	all.Wait()
}

// recordAndKill records with all tests at once, and kills them at a random moment.
func (s *scene) recordAndKill(prompt string) time.Duration {
	after := rand.N(s.took)
	s.each(func(test string) {
		cmd := s.process(test, prompt, "-update")
		require.NoError(s.t, cmd.Start())
		kill := time.AfterFunc(after, func() { cmd.Process.Signal(syscall.SIGKILL) })
		defer kill.Stop()
		var exit *osexec.ExitError
		if err := cmd.Wait(); err != nil && !(errors.As(err, &exit) && exit.ProcessState.Sys().(syscall.WaitStatus).Signaled()) {
			s.t.Errorf("%s: %v", test, err)
		}
	})
	return after
}

func (s *scene) requireClean() {
	s.t.Helper()
	code, found, said := run("", "verify", "--dir", s.store)
	require.Equal(s.t, exitClean, code, found+said)
}

var passed = regexp.MustCompile(`(?m)^ +--- PASS: (\S+)`)
var failed = regexp.MustCompile(`(?m)^ +--- FAIL: (\S+)`)

// requireEither requires that every test replays with one of two prompts, but for so many.
func (s *scene) requireEither(one, other string, but int) {
	s.t.Helper()
	var mu sync.Mutex
	var neither []string
	s.each(func(test string) {
		first, _ := s.run(test, one, "-test.v")
		second, _ := s.run(test, other, "-test.v")
		replayed := map[string]bool{}
		for _, m := range passed.FindAllStringSubmatch(first+second, -1) {
			replayed[m[1]] = true
		}
		mu.Lock()
		defer mu.Unlock()
		for _, m := range failed.FindAllStringSubmatch(first, -1) {
			if !replayed[m[1]] {
				neither = append(neither, first, second)
			}
		}
	})
	require.LessOrEqual(s.t, len(neither), 2*but, "%s", neither)
}
