package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/signal"
	"path"
	"slices"
	"strings"
	"syscall"

	"github.com/traceforge/traceforge-go/internal/inorder"
	"github.com/traceforge/traceforge-go/internal/pack"
	"github.com/traceforge/traceforge-go/internal/page"
	"github.com/traceforge/traceforge-go/internal/place"
	"github.com/traceforge/traceforge-go/internal/recorder"
	"github.com/traceforge/traceforge-go/internal/store"
	"github.com/traceforge/traceforge-go/snapshot"
)

// replayPack serves what a pack holds: to tests that a command runs, or of one test under base URLs.
func replayPack(c *call) error {
	if c.value("test") == "" && len(c.forwarded) == 0 {
		return usagef("name the command that runs the tests, as in -- go test ./..., or with --test the test whose calls are served under a URL")
	}
	return judgePack(c.args[0], c.replayJudged)
}

// replayJudged serves a pack that was verified, which has left its store in scratch.
func (c *call) replayJudged(report pack.Report, scratch string) error {
	if !report.OK() {
		for _, f := range report.Findings {
			f.File = path.Join(c.args[0], f.File)
			c.say("%s", f)
		}
		c.say("what is not as it was packed is not replayed")
		return exit{code: exitFindings}
	}
	if report.Other {
		return fmt.Errorf("%s is a pack of another system, which has no answers of providers: traceforge modelio replay %s answers prompts",
			c.args[0], path.Join(c.args[0], "model_io.json"))
	}
	s, err := pack.StoreIn(scratch)
	if err != nil {
		return err
	}
	if c.value("test") == "" {
		return c.runWith(c.ctx, place.DirEnv+"="+s.Dir())
	}
	return c.servePacked(s, report.Run)
}

// runWith runs the command that follows "--" with more in its environment, and ends as it ends.
func (c *call) runWith(ctx context.Context, env ...string) error {
	code, err := c.runCommand(ctx, c.forwarded, env...)
	return cmp.Or(err, exitWith(code))
}

// packedTest returns the test of a run that the flags name.
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
		return found, fmt.Errorf("%s has no test %s: %s lists those that it has", c.args[0], strings.TrimSpace(name+" "+pkg), pack.RunFile)
	case len(in) > 1:
		return found, usagef("several packages have a test %s: name one with --package:\n  %s", name, strings.Join(in, "\n  "))
	case found.Document == nil:
		return found, fmt.Errorf("%s has no document of %s, whose outcome is %s: no call of it is recorded", c.args[0], name, found.Outcome)
	}
	return found, nil
}

// servePacked serves the calls of a test under a base URL for each of its providers, to a command or until it is
// interrupted. It fails as a test fails: where calls drift, or records are not asked for.
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
	records, of := doc.Records(), page.Test{Package: test.Package, Test: test.Test}
	r, err := recorder.Open(recorder.Options{
		Dir: s.Dir(), Shown: c.args[0], Package: test.Package, Test: test.Test, Mode: recorder.Replay,
		Ignored: records[0].Source.Ignored, Accept: recordAgain(of, records[0].Source.Function) + "   # in its repository, and pack it again",
		Source: func() snapshot.Source { return snapshot.Source{} },
		Fail:   func() { failed = true },
		Tell:   func(f *recorder.Failure) { failed = true; c.say("%s", f.Text) },
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
	ctx, stop := signal.NotifyContext(c.ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	if len(c.forwarded) > 0 {
		err = c.runWith(ctx, env...)
	} else {
		<-ctx.Done()
	}
	r.Finish(recorder.Outcome{})
	return withFindings(failed, err)
}
