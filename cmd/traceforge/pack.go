package main

import (
	"cmp"
	"fmt"
	"os"
	"os/signal"
	"path"
	"slices"
	"strings"
	"syscall"

	"github.com/traceforge/traceforge-go/internal/gotest"
	"github.com/traceforge/traceforge-go/internal/inorder"
	"github.com/traceforge/traceforge-go/internal/pack"
	"github.com/traceforge/traceforge-go/internal/page"
	"github.com/traceforge/traceforge-go/internal/place"
	"github.com/traceforge/traceforge-go/internal/recorder"
	"github.com/traceforge/traceforge-go/internal/store"
	"github.com/traceforge/traceforge-go/internal/store/audit"
	"github.com/traceforge/traceforge-go/internal/usage"
	"github.com/traceforge/traceforge-go/internal/usage/coverage"
	"github.com/traceforge/traceforge-go/snapshot"
)

// A packReport is the output of pack --json.
type packReport struct {
	Dir          string `json:"dir"`          // directory of the pack
	Outcome      string `json:"outcome"`      // outcome of the run: pass or fail
	Tests        int    `json:"tests"`        // number of tests in the pack
	Failed       int    `json:"failed"`       // number of tests that failed
	Interactions int    `json:"interactions"` // number of interactions in the pack
	Files        int    `json:"files"`        // number of files in the pack
}

// packRun packs a run of the tests: one that left receipts, or a new one.
func packRun(c *call) error {
	out, left := cmp.Or(c.value("output"), c.value("run")), c.value("receipt")
	switch {
	case out == "":
		return usagef("-o must name the directory to write")
	case left != "" && (len(c.args) > 0 || c.forwarded != nil):
		return usagef("--receipt packs a run that was: it takes no packages and no flags of go test")
	}
	var run testRun
	var err error
	if left == "" {
		if c.is("json") { // its reader accepts only JSON
			c.out = c.stderr
		}
		run, err = c.runNamed()
	} else {
		run.receipts, run.killed, err = coverage.ReadReceipts(left)
	}
	if err != nil {
		return err
	}
	if len(run.receipts) == 0 {
		c.say("no test of the run had a recorder: there is nothing to pack")
		return exitWith(max(run.code, exitFindings))
	}
	_, stores, err := c.storesOfTests()
	if err != nil {
		return err
	}
	packed, err := pack.Write(out, pack.Source{Store: stores, Receipts: run.receipts, Killed: run.killed})
	if err != nil {
		return err
	}
	c.tellPacked(out, packed)
	if run.code != exitClean {
		c.say("go test failed: what its tests did up to then is in the pack")
	}
	return exitWith(run.code)
}

// runNamed runs the tests of the named packages, or of all, and returns what they leave.
func (c *call) runNamed() (testRun, error) {
	run, err := c.goTest(append(orOne(c.args, "./..."), c.forwarded...))
	return run, cmp.Or(err, run.unread)
}

// storesOfTests returns the modules, and a function that opens the store of a test. That is the store that the user
// names, or the store in the receipt, below the module of the test's package.
func (c *call) storesOfTests() (*coverage.Sources, func(usage.Receipt) (*store.Store, error), error) {
	sources, err := c.sources()
	if err != nil || c.value("dir") != "" { // without a module, for example in Bazel's runfiles, there is one store
		s, _, err := c.store()
		return sources, pack.In(s), err
	}
	return sources, func(r usage.Receipt) (*store.Store, error) {
		s, _, err := place.OpenStore(sources.StoreOf(r)) // "" for a module that is not here, which means the store here
		return s, err
	}, nil
}

// tellPacked reports the contents of a pack, and which tests failed.
func (c *call) tellPacked(out string, run *pack.Run) {
	failed := run.Failed()
	said := packReport{Dir: out, Outcome: run.Outcome, Tests: len(run.Tests), Failed: len(failed),
		Files: len(run.Files) + 1}
	for _, t := range run.Tests {
		if t.Session != nil {
			said.Interactions += len(t.Session.Calls)
		}
	}
	c.answer(said, func() {
		c.line(fmt.Sprintf("%s: %s, %s, %s", out, page.Count(said.Tests, "test", "tests"),
			page.Count(said.Interactions, "interaction", "interactions"), page.Count(said.Files, "file", "files")))
	})
	for _, t := range failed {
		c.say("failed: %s in %s", t.Test, t.Package)
	}
	for _, name := range run.Killed {
		c.say("failed: %s: a test process ended before it had written its receipt", name)
	}
	for _, t := range run.Tests {
		if t.NoSession != "" {
			c.say("no session: %s in %s: %s: its document is in the pack", t.Test, t.Package, t.NoSession)
		}
	}
}

func verifyPack(c *call) error {
	dir := c.args[0]
	return judgePack(dir, func(report pack.Report, _ string) error {
		c.answer(report.Answer(), func() {
			for _, f := range report.Findings {
				c.finding(below(dir, f))
			}
		})
		files := page.Count(len(report.Files), "file", "files")
		switch {
		case !report.OK():
		case report.Other:
			c.say("%s: a pack of another system, %s, nothing is wrong", dir, files)
		default:
			c.say("%s: %s of a run that ended with %s, %s, nothing is wrong", dir,
				page.Count(len(report.Run.Tests), "test", "tests"),
				report.Run.Outcome, files)
		}
		return withFindings(!report.OK())
	})
}

// judgePack verifies a pack, and checks its documents like verify checks those of a store. scratch is removed
// afterwards.
func judgePack(dir string, then func(report pack.Report, scratch string) error) error {
	scratch, err := os.MkdirTemp("", "traceforge-pack-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	prove := func(s *store.Store) (*audit.Result, error) { return proven(s, nil) }
	report, err := pack.Verify(dir, scratch, prove)
	if err != nil {
		return err
	}
	return then(report, scratch)
}

// replayPack serves the contents of a pack: to tests that a command runs, or for one test under base URLs.
func replayPack(c *call) error {
	if c.value("test") == "" && len(c.forwarded) == 0 {
		return usagef("name the command that runs the tests, as in -- go test ./..., or with --test the test whose calls are served under a URL")
	}
	return judgePack(c.args[0], c.replayJudged)
}

// replayJudged serves a verified pack, whose store is in scratch.
func (c *call) replayJudged(report pack.Report, scratch string) error {
	if !report.OK() {
		for _, f := range report.Findings {
			c.say("%s", below(c.args[0], f))
		}
		c.say("what is not as it was packed is not replayed")
		return exit{code: exitFindings}
	}
	if report.Other {
		return fmt.Errorf(
			"%s is a pack of another system, which has no answers of providers: traceforge modelio replay %s answers prompts",
			c.args[0], path.Join(c.args[0], "model_io.json"))
	}
	s, err := pack.StoreIn(scratch)
	if err != nil {
		return err
	}
	if c.value("test") == "" {
		return c.runWith(gotest.StoreEnv + "=" + s.Dir())
	}
	return c.servePacked(s, report.Run)
}

// runWith runs the command that follows "--" with additional environment variables, and ends with its exit code.
func (c *call) runWith(env ...string) error {
	code, err := c.runCommand(c.forwarded, env...)
	return cmp.Or(err, exitWith(code))
}

// packedTest returns the test of a run that the flags select.
func (c *call) packedTest(run *pack.Run) (found pack.Test, err error) {
	name, pkg := c.value("test"), c.value("package")
	var in []string
	for _, t := range run.Tests {
		if t.Test == name && (pkg == "" || t.Package == pkg) {
			found, in = t, append(in, t.Package)
		}
	}
	switch {
	case len(in) == 0:
		return found, fmt.Errorf("%s has no test %s: %s lists those that it has", c.args[0], strings.TrimSpace(name+" "+pkg),
			pack.RunFile)
	case len(in) > 1:
		return found, usagef("several packages have a test %s: name one with --package:\n  %s", name,
			strings.Join(in, "\n  "))
	case found.Document == nil:
		return found, fmt.Errorf("%s has no document of %s, whose outcome is %s: no call of it is recorded", c.args[0], name,
			found.Outcome)
	}
	return found, nil
}

// servePacked serves the calls of a test under a base URL for each of its providers, to a command or until it is
// interrupted. It fails when a test would fail: if calls drift, or if records are not requested.
func (c *call) servePacked(s *store.Store, run *pack.Run) error {
	test, err := c.packedTest(run)
	if err != nil {
		return err
	}
	doc, err := place.Load(s, strings.TrimPrefix(test.Document.File, "documents/"))
	if err != nil {
		return err
	}
	failed := false
	records, of := doc.Records(), page.Test{Package: test.Package, Name: test.Test}
	r, err := recorder.Open(recorder.Options{
		Dir: s.Dir(), Shown: c.args[0], Package: test.Package, Test: test.Test, Mode: recorder.Replay,
		Ignored: records[0].Source.Ignored,
		Accept:  recordAgain(of, records[0].Source.Function) + "   # in its repository, and pack it again",
		Source:  func() snapshot.Source { return snapshot.Source{} },
		Fail:    func() { failed = true },
		Tell:    func(f *recorder.Failure) { failed = true; c.say("%s", f.Text) },
	})
	if err != nil {
		return err
	}
	var providers, env []string
	for i := range records {
		providers = inorder.With(providers, records[i].Provider)
	}
	slices.Sort(providers)
	for _, name := range providers {
		url, closeServer, err := r.Serve(name)
		if err != nil {
			return fmt.Errorf("%s: %w", test.Document.File, err)
		}
		defer closeServer()
		c.line(name + "  " + url)
		env = append(env, urlVariable(name)+"="+url)
	}
	if err := c.stdout.Flush(); err != nil {
		return err
	}
	if len(c.forwarded) > 0 {
		err = c.runWith(env...)
	} else {
		ctx, stop := signal.NotifyContext(c.ctx, os.Interrupt, syscall.SIGTERM)
		<-ctx.Done()
		stop()
	}
	r.Finish(recorder.TestEnd{})
	return cmp.Or(err, withFindings(failed))
}
