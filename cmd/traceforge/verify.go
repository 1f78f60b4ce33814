package main

import (
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/traceforge/traceforge-go/internal/annotation"
	"github.com/traceforge/traceforge-go/internal/page"
	"github.com/traceforge/traceforge-go/internal/place"
	"github.com/traceforge/traceforge-go/internal/usage/coverage"
	"github.com/traceforge/traceforge-go/snapshot"
	"github.com/traceforge/traceforge-go/snapshot/store"
)

func verifyCommand(con *console) *cobra.Command {
	c := &cobra.Command{
		Use:   "verify [DIR]",
		Short: "check that the store is what was recorded",
		Long: `Reads every file of the store and prints a line for each thing that is wrong:

  file: pointer: rule: message

It finds files that were altered, are missing, were added or renamed, raw answers that
no record names, files that are not written as traceforge writes them, conflict markers,
and a manifest that is wrong. What to do about them is said on standard error. A manifest
that is only behind the documents is no finding, unless git tracks it. On GitHub Actions
findings are annotations too.

With --receipt it also tells how a run of the tests used the store, by package: the
records that were played, those that were not, those that no test can use any more (see
prune), and calls that no record answered. The last two are findings. The run must have
had TRACEFORGE_RECEIPT=DIR in its environment. Put what go test -json printed into a file
in DIR too: only so it is known which tests ran and used nothing.

The object of --json has:

  ok         true where nothing was found
  documents  how many documents the store has
  snapshots  how many records they hold
  findings   of each: file, its path in the store, empty for the store itself; pointer,
             a JSON pointer into the file, empty for all of it; rule, a word that
             docs/format.md explains, or unused or unrecorded of --receipt; message
  notes      the same of what is worth saying and no failure
  coverage   ` + coverage.PackageFields + `;
             only with --receipt
`,
		Args: arguments(0, 1),
	}
	asJSON := jsonFlag(c)
	left := receiptFlag(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		v := verification{con: con, named: strings.Join(args, "")}
		if err := v.run(c.Context(), *left); err != nil {
			return err
		}
		return v.write(*asJSON)
	}
	return c
}

func receiptFlag(c *cobra.Command) *string {
	return c.Flags().String("receipt", "", "read what a run of the tests left in `DIR`")
}

// A verification is what verify found.
type verification struct {
	con   *console
	named string // the store, as the user named it
	dir   string // the store, as messages name it

	result   *store.Result
	found    []snapshot.Finding
	coverage *coverage.Report // nil: none was asked for
}

func (v *verification) run(ctx context.Context, left string) error {
	s, dir, err := place.OpenStore(v.named)
	if err != nil {
		return err
	}
	v.dir = dir
	if v.result, err = s.Verify(); err != nil {
		return err
	}
	v.found = v.result.Findings
	if left == "" {
		return nil
	}
	run, err := coverage.ReadRun(ctx, left, dir)
	if err != nil {
		return err
	}
	if v.coverage, err = run.Report(s); err != nil && len(v.found) == 0 {
		return err
	}
	v.found = append(v.found, v.coverage.Findings()...)
	return nil
}

func (v *verification) write(asJSON bool) error {
	if asJSON {
		if err := v.writeJSON(); err != nil {
			return err
		}
	} else {
		for _, f := range v.found {
			f.File = path.Join(filepath.ToSlash(v.dir), f.File)
			writeFinding(v.con, f)
		}
		if v.coverage != nil {
			v.coverage.Write(v.con.stdout)
		}
	}
	for _, f := range v.result.Notes {
		v.con.say("%s", f)
	}
	if annotation.Wanted() {
		for _, f := range v.found {
			annotate(v.con, v.dir, f)
		}
	}
	if v.coverage != nil {
		v.con.sayAll(v.coverage.Reasons())
	}
	tally := page.Count(v.result.Documents, "document", "documents") + " of " + page.Count(v.result.Calls, "call", "calls")
	if len(v.found) == 0 {
		v.con.say("%s: %s, nothing is wrong", v.dir, tally)
		return nil
	}
	v.con.say("%s: %s, %s", v.dir, tally, page.Count(len(v.found), "finding", "findings"))
	v.con.sayAll(remediesOf(v.found, v.dir, v.named))
	if v.coverage != nil && len(v.coverage.Missing) > 0 {
		v.con.say("record calls that have no snapshot, or accept what drifted, with %s", updateOf(v.coverage.Missing))
	}
	if v.coverage != nil && len(v.coverage.Orphans) > 0 {
		v.con.say("remove what no test uses with traceforge prune --write")
	}
	return exit{code: exitFindings}
}

func (v *verification) writeJSON() error {
	answer := struct {
		OK        bool                     `json:"ok"`
		Documents int                      `json:"documents"`
		Snapshots int                      `json:"snapshots"`
		Findings  []finding                `json:"findings"`
		Notes     []finding                `json:"notes,omitempty"`
		Coverage  []coverage.PackageReport `json:"coverage,omitempty"`
	}{
		OK: len(v.found) == 0, Documents: v.result.Documents, Snapshots: v.result.Calls,
		Findings: findings(v.found), Notes: findings(v.result.Notes),
	}
	if v.coverage != nil {
		answer.Coverage = v.coverage.Packages
	}
	return v.con.json(answer)
}

// writeFinding writes a line for a finding.
func writeFinding(con *console, f snapshot.Finding) {
	lines := strings.Split(f.Message, "\n") // as SF words the rejection of a version
	for i := range lines {
		lines[i] = strings.TrimSpace(lines[i])
	}
	f.Message = strings.Join(lines, "; ")
	fmt.Fprintln(con.stdout, page.Printable(f.String()))
}

// annotate tells GitHub Actions of a finding, which shows it at its file.
func annotate(con *console, dir string, f snapshot.Finding) {
	file := path.Join(filepath.ToSlash(dir), f.File)
	if wd, err := os.Getwd(); err == nil && !filepath.IsAbs(dir) {
		file = annotation.Path(wd, file)
	}
	text := f.Message
	if f.Pointer != "" {
		text = f.Pointer + ": " + text
	}
	con.say("%s", annotation.Error(file, 0, "traceforge verify: "+f.Rule, text))
}

// A finding is a snapshot.Finding for a program to read.
type finding struct {
	File    string `json:"file"`
	Pointer string `json:"pointer"`
	Rule    string `json:"rule"`
	Message string `json:"message"`
}

func findings(found []snapshot.Finding) []finding {
	all := []finding{}
	for _, f := range found {
		all = append(all, finding(f))
	}
	return all
}
