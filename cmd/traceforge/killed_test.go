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
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/fakeprovider"
)

// TestKilledWriters kills test processes at random moments while sixteen of them record into one
// store. No file is ever half written, no lock blocks the next, and the next writer or
// traceforge manifest repairs the store.
func TestKilledWriters(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("runs many processes")
	}
	s := newScene(t, 16, 8)
	s.record("round 0 ")
	s.requireClean()

	for round := range 6 {
		before, now := s.prompt, "round "+string(rune('1'+round))+" "
		whole := s.recordAndKill(now)
		t.Logf("round %d: killed in %v", round+1, whole)
		s.requireEither(before, now, 1) // of one test at most the commit was under way
		if round%2 == 0 {
			code, _, said := run("", "manifest", s.store)
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
	s := newScene(t, 4, 30)
	for range 2 {
		cmd := s.command("go", "some ", "test", "-p", "4", "./...", "-update")
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		require.NoError(t, cmd.Start())
		require.Eventually(t, func() bool { // recording has begun
			files, _ := filepath.Glob(filepath.Join(s.store, "openai", "*"))
			return len(files) > 0
		}, time.Minute, time.Millisecond)
		time.Sleep(rand.N(100 * time.Millisecond))
		require.NoError(t, syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL))
		cmd.Wait() // it was killed
		out, err := s.command("go", "other ", "test", "-p", "4", "./...", "-update").CombinedOutput()
		require.NoError(t, err, "%s", out)
		s.requireClean()
		require.NoError(t, os.RemoveAll(s.store))
	}
}

// A scene is a toy module whose packages record, compiled.
type scene struct {
	t        *testing.T
	dir      string
	store    string
	env      []string
	binaries []string // as go test -c makes them
	next     string   // the binary of one more package
	prompt   string   // of the last whole recording
	took     time.Duration
}

func newScene(t *testing.T, packages, subtests int) *scene {
	s := &scene{t: t, dir: t.TempDir()}
	s.store = filepath.Join(s.dir, ".ai-snapshots")
	require.NoError(t, makeToy(s.dir))
	require.NoError(t, makePackages(s.dir, packages+1, subtests))
	provider := fakeprovider.New(t)
	provider.Handle(fakeprovider.Echo())
	s.env = append(append(os.Environ(), toyEnv(t)...), "MODEL_URL="+provider.URL())
	out, err := s.command("go", "", "test", "-c", "-o", "bin/", "./...").CombinedOutput()
	require.NoError(t, err, "%s", out)
	s.binaries, err = filepath.Glob(filepath.Join(s.dir, "bin", "*.test"))
	require.NoError(t, err)
	require.Len(t, s.binaries, packages+1)
	s.next, s.binaries = s.binaries[0], s.binaries[1:]
	return s
}

// command returns a command in the toy module, whose prompts begin with prompt.
func (s *scene) command(program, prompt string, args ...string) *osexec.Cmd {
	cmd := osexec.Command(program, args...)
	cmd.Dir = s.dir
	if name, ok := strings.CutSuffix(filepath.Base(program), ".test"); ok {
		cmd.Dir = filepath.Join(s.dir, name)
	}
	cmd.Env = append(slices.Clip(s.env), "PROMPT="+prompt)
	return cmd
}

func (s *scene) run(binary, prompt string, flags ...string) (string, error) {
	out, err := s.command(binary, prompt, flags...).CombinedOutput()
	return string(out), err
}

// record records with all binaries at once.
func (s *scene) record(prompt string) {
	start := time.Now()
	s.each(func(binary string) {
		if out, err := s.run(binary, prompt, "-update"); err != nil {
			s.t.Error(out)
		}
	})
	s.prompt, s.took = prompt, time.Since(start)
}

func (s *scene) each(f func(binary string)) {
	var all sync.WaitGroup
	for _, binary := range s.binaries {
		all.Go(func() { f(binary) })
	}
	all.Wait()
}

// recordAndKill records with all binaries at once, and kills them at a random moment.
func (s *scene) recordAndKill(prompt string) time.Duration {
	after := rand.N(s.took)
	s.each(func(binary string) {
		cmd := s.command(binary, prompt, "-update")
		require.NoError(s.t, cmd.Start())
		kill := time.AfterFunc(after, func() { cmd.Process.Signal(syscall.SIGKILL) })
		defer kill.Stop()
		var exit *osexec.ExitError
		if err := cmd.Wait(); err != nil && !(errors.As(err, &exit) && exit.ProcessState.Sys().(syscall.WaitStatus).Signaled()) {
			s.t.Errorf("%s: %v", binary, err)
		}
	})
	return after
}

func (s *scene) requireClean() {
	s.t.Helper()
	code, found, said := run("", "verify", s.store)
	require.Equal(s.t, exitClean, code, found+said)
}

var passed = regexp.MustCompile(`(?m)^ +--- PASS: (\S+)`)
var failed = regexp.MustCompile(`(?m)^ +--- FAIL: (\S+)`)

// requireEither requires that every test replays with one of two prompts, but for so many.
func (s *scene) requireEither(one, other string, but int) {
	s.t.Helper()
	var mu sync.Mutex
	var neither []string
	s.each(func(binary string) {
		first, _ := s.run(binary, one, "-test.v")
		second, _ := s.run(binary, other, "-test.v")
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
