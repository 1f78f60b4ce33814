package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/traceforge/traceforge-go/internal/pack"
	"github.com/traceforge/traceforge-go/internal/page"
	"github.com/traceforge/traceforge-go/internal/usage"
	"github.com/traceforge/traceforge-go/snapshot/store"
)

// A packed is what pack prints for a program.
type packed struct {
	Dir          string `json:"dir"`
	Outcome      string `json:"outcome"`
	Tests        int    `json:"tests"`
	Failed       int    `json:"failed"`
	Interactions int    `json:"interactions"`
	Files        int    `json:"files"`
}

// packRun packs a run of the tests: one that left receipts, or one that it makes itself.
func packRun(c *call) error {
	out, left := c.value("output"), c.value("receipt")
	switch {
	case out == "":
		return usageError{errors.New("-o must name the directory to write")}
	case left != "" && (len(c.args) > 0 || c.forwarded != nil):
		return usageError{errors.New("--receipt packs a run that was: it takes no packages and no flags of go test")}
	}
	code := exitClean
	if left == "" {
		dir, keep, err := receiptsDir()
		if err != nil {
			return err
		}
		defer keep()
		if left, err = besideModule(dir); err != nil {
			return err
		}
		if c.is("json") { // whose reader takes nothing else
			c.out = c.stderr
		}
		packages := c.args
		if len(packages) == 0 {
			packages = []string{"./..."}
		}
		if code, err = c.goTest(append(packages, c.forwarded...), left); err != nil {
			return err
		}
	}
	receipts, killed, err := usage.ReadReceipts(left)
	if errors.Is(err, fs.ErrNotExist) && c.value("receipt") == "" || err == nil && len(receipts) == 0 {
		c.say("no test of the run had a recorder: there is nothing to pack")
		return exitWith(max(code, exitFindings))
	}
	if err != nil {
		return err
	}
	s, _, err := c.store()
	if err != nil {
		return err
	}
	run, err := pack.Write(out, pack.Source{Store: s, Receipts: receipts, Killed: killed})
	if err != nil {
		return err
	}
	if err := c.tellPacked(out, run); err != nil {
		return err
	}
	if code != exitClean {
		c.say("go test failed: what its tests did up to then is in the pack")
	}
	return exitWith(code)
}

// tellPacked says what a pack holds, and which tests failed.
func (c *call) tellPacked(out string, run *pack.Run) error {
	failed := run.Failed()
	said := packed{Dir: out, Outcome: run.Outcome, Tests: len(run.Tests), Failed: len(failed), Files: len(run.Files) + 1}
	for _, t := range run.Tests {
		if t.Session != nil {
			said.Interactions += len(t.Session.Calls)
		}
	}
	err := c.answer(said, func() {
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
	return err
}

func verifyPack(c *call) error {
	return judgePack(c.args[0], func(report pack.Report, _ string) error {
		c.canonical(report.String())
		if !report.OK() {
			return exit{code: exitFindings}
		}
		return nil
	})
}

// judgePack verifies a pack, whose documents it asks what verify asks of a store. scratch is removed afterwards.
func judgePack(dir string, then func(report pack.Report, scratch string) error) error {
	scratch, err := os.MkdirTemp("", "traceforge-pack-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	report, err := pack.Verify(dir, scratch, func(s *store.Store) (*store.Result, error) { return proven(s) })
	if err != nil {
		return err
	}
	return then(report, scratch)
}
