package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	osexec "os/exec"
	"slices"
	"strings"
	"syscall"

	"github.com/traceforge/traceforge-go/internal/annotation"
	"github.com/traceforge/traceforge-go/internal/page"
	"github.com/traceforge/traceforge-go/internal/place"
	"github.com/traceforge/traceforge-go/internal/usage"
	"github.com/traceforge/traceforge-go/internal/usage/coverage"
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
	c.ending(calls, run.receipts)
	if run.code != 0 {
		c.brokenConfig()
	}
	c.answer(testReport{run.code == 0, run.code, calls, calls.Adopt(), orEmpty(calls.FailedOtherwise())}, func() {})
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
func (c *call) ending(calls *coverage.Calls, receipts []usage.Receipt) {
	if calls.Tests == 0 {
		return
	}
	c.causes(calls)
	c.line("traceforge: " + calls.Tally())
	if slices.ContainsFunc(receipts, func(r usage.Receipt) bool { return r.Update != nil }) {
		c.line(summarize(receipts).lines()...)
	}
	c.sayGone(receipts, func(line string) { c.line("traceforge: " + line) })
}

// A testReport is the output of test --json=FILE.
type testReport struct {
	OK       bool `json:"ok"`        // whether all tests passed
	ExitCode int  `json:"exit_code"` // exit code of go test
	*coverage.Calls
	// command that keeps the stored answers of the calls that drifted
	WithoutKey string      `json:"without_key,omitempty"`
	Failed     []page.Test `json:"failed"` // tests with a recorder that failed for other reasons
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
