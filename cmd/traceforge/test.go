package main

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	osexec "os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/traceforge/traceforge-go/internal/annotation"
	"github.com/traceforge/traceforge-go/internal/page"
	"github.com/traceforge/traceforge-go/internal/place"
	"github.com/traceforge/traceforge-go/internal/store"
	"github.com/traceforge/traceforge-go/internal/store/audit"
	"github.com/traceforge/traceforge-go/internal/usage"
	"github.com/traceforge/traceforge-go/internal/usage/coverage"
	"github.com/traceforge/traceforge-go/snapshot"
)

// test runs go test with the given arguments, and reports causes and counts from the receipts of the tests.
func test(c *call) error {
	args, file, err := cutResult(c.args)
	if err != nil {
		return err
	}
	args, helps := goTestArgs(args)
	if helps {
		return c.cmd.Help()
	}
	if c.result, err = emptied(file); err != nil {
		return err
	}
	run, err := c.goTest(args)
	if err != nil {
		return err
	}
	if run.unread != nil {
		c.say("traceforge test: %v", run.unread)
	}
	calls := coverage.CallsOf(run.receipts)
	c.secrets.Hide(calls.Causes)
	if slices.ContainsFunc(args, isJSONFlag) { // its reader accepts only JSON
		c.stdout, c.color = bufio.NewWriter(c.stderr), false
	}
	broken := brokenOf(c, run.receipts)
	c.ending(calls, broken, run.receipts)
	if run.code != 0 {
		c.brokenConfig()
	}
	failed := slices.DeleteFunc(calls.FailedOtherwise(), func(t page.Test) bool { return broken.of[t] })
	c.answer(testReport{run.code == 0, run.code, calls, calls.Adopt(), broken.findings(), orEmpty(failed)}, func() {})
	if annotation.Wanted() && !annotation.Left() {
		c.annotateCauses(calls, func(at page.Place) string {
			src, err := c.sources()
			c.fail(err)
			return annotation.Path(src.Module(at.Package), at.File)
		})
	}
	return exitWith(run.code)
}

// goTestArgs returns the arguments for go test, and whether they request help.
func goTestArgs(args []string) (forGo []string, helps bool) {
	for i, arg := range args {
		switch arg {
		case "--":
			return slices.Concat(args[:i], args[i+1:]), false
		case "-args", "--args":
			return args, false
		case "-h", "-help", "--help":
			return nil, true
		}
	}
	return args, false
}

func isJSONFlag(arg string) bool { return arg == "-json" || arg == "-json=true" }

// A testRun is the result of a run of go test.
type testRun struct {
	code     int // exit code of go test
	receipts []usage.Receipt
	killed   []string // packages whose test processes ended before they wrote their receipts
	unread   error    // why some receipts are missing
}

// goTest runs go test.
func (c *call) goTest(args []string) (run testRun, err error) {
	left, keep, err := receiptsDir()
	if err != nil {
		return run, err
	}
	defer keep()
	words := append([]string{"go", "test"}, args...)
	run.code, err = c.runCommand(words, usage.ReceiptEnv+"="+left, annotation.Env+"=off")
	if err != nil {
		return run, fmt.Errorf("go test: %w", err)
	}
	if by := run.code - 128; by > 0 { // go test itself ends with 0, 1 or 2
		c.say("go test: signal: %v", syscall.Signal(by))
	}
	run.receipts, run.killed, run.unread = readReceipts(left)
	return run, nil
}

// runCommand runs a command with additional environment variables to its end, and returns its exit code. It passes
// signals on. A signal that ends the command results in 128 plus its number, as in shells.
func (c *call) runCommand(words []string, env ...string) (code int, err error) {
	cmd := osexec.Command(words[0], words[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = c.stdin, c.out, c.stderr
	cmd.Env = append(os.Environ(), env...)
	started := make(chan *os.Process, 1)
	defer passSignals(started)() // from now on, since the command may be interrupted as soon as it runs
	if err := cmd.Start(); err != nil {
		close(started)
		return 0, err
	}
	started <- cmd.Process
	var ended *osexec.ExitError
	if err := cmd.Wait(); !errors.As(err, &ended) {
		return 0, err
	}
	return exitCodeOf(cmd.ProcessState), nil
}

// ending writes the causes, the command that accepts them, and counts; it writes nothing if no test used a recorder.
func (c *call) ending(calls *coverage.Calls, broken breakage, receipts []usage.Receipt) {
	if calls.Tests += len(broken.of); calls.Tests == 0 {
		return
	}
	c.causes(calls)
	broken.write(c)
	tally := "traceforge: " + calls.Tally()
	if n := len(broken.of); n > 0 {
		tally += fmt.Sprintf(", %d with a broken snapshot", n)
	}
	c.line(tally)
	if slices.ContainsFunc(receipts, func(r usage.Receipt) bool { return r.Update != nil }) {
		c.line(summarize(receipts).lines()...)
	}
	c.sayGone(receipts)
}

// A testReport is the output of test --json=FILE.
type testReport struct {
	OK       bool `json:"ok"`        // whether all tests passed
	ExitCode int  `json:"exit_code"` // exit code of go test
	*coverage.Calls
	// command that keeps the stored answers of the calls that drifted
	WithoutKey string             `json:"without_key,omitempty"`
	Broken     []snapshot.Finding `json:"broken"` // problems of snapshots that their tests could not read
	Failed     []page.Test        `json:"failed"` // tests with a recorder that failed for other reasons
}

// A breakage lists problems, by store, with the snapshots of tests that failed before they used any.
type breakage struct {
	of    map[page.Test]bool
	found map[string][]snapshot.Finding
}

// brokenOf checks the snapshots of the tests that failed without a call.
func brokenOf(c *call, receipts []usage.Receipt) breakage {
	b := breakage{of: map[page.Test]bool{}, found: map[string][]snapshot.Finding{}}
	for _, r := range receipts {
		test := page.Test{Package: r.Package, Name: r.Test}
		if used := len(r.Played) + len(r.Recorded) + len(r.Drifts) + r.Missing; r.Outcome != "fail" || used > 0 ||
			b.of[test] {
			continue
		}
		src, err := c.sources()
		c.fail(err)
		dir := cmp.Or(src.StoreOf(r), filepath.FromSlash(r.Store))
		s, err := store.Open(dir)
		if err != nil {
			c.fail(err)
			return b
		}
		name := snapshot.DocumentName(r.Package, r.Test)
		result, err := audit.VerifyFiles(s, []string{"any/" + name + ".json"})
		if err != nil {
			continue // there is no store
		}
		wrong := slices.DeleteFunc(result.Findings,
			func(f snapshot.Finding) bool { return !strings.Contains(f.File, "/"+name) })
		if len(wrong) > 0 {
			b.of[test] = true
			b.found[dir] = append(b.found[dir], wrong...)
		}
	}
	return b
}

// findings returns the problems. The paths of files below the working directory are relative to it.
func (b breakage) findings() []snapshot.Finding {
	all := []snapshot.Finding{}
	for _, dir := range slices.Sorted(maps.Keys(b.found)) {
		for _, f := range b.found[dir] {
			shown, _ := namesOf(dir)
			all = append(all, below(shown, f))
		}
	}
	return all
}

// namesOf returns the directory of a store for messages, and the name by which the user refers to it. The name is "" if
// the store is found from here.
func namesOf(dir string) (shown, named string) {
	shown, err := place.StoreDir("")
	if abs, unknown := filepath.Abs(shown); err == nil && unknown == nil && abs == filepath.Clean(dir) {
		return shown, ""
	}
	return dir, dir
}

// write writes the problems, and how to fix them.
func (b breakage) write(c *call) {
	if len(b.of) == 0 {
		return
	}
	c.line("", page.Count(len(b.of), "test has a broken snapshot:", "tests have broken snapshots:"))
	for _, at := range slices.Sorted(maps.Keys(b.found)) {
		var dir string
		var lines []string
		dir, c.named = namesOf(at)
		for _, f := range b.found[at] {
			lines = append(lines, below(dir, f).String())
		}
		for _, line := range page.Most(20, lines, "more") {
			c.line("  " + line)
		}
		c.line(remediesOf(c, b.found[at], dir)...)
	}
	c.named = ""
}

// brokenConfig reports problems in the configuration of the store: tests that use it cannot start and leave no receipt.
func (c *call) brokenConfig() {
	s, _, _ := place.OpenStore("")
	if s == nil {
		return // it is not known where
	}
	if _, err := s.Config(); err != nil {
		c.line("", "no test with a recorder could begin, by one cause:")
		for line := range strings.Lines(err.Error()) {
			c.line("  " + strings.TrimRight(line, "\n"))
		}
	}
}
