package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/traceforge/traceforge-go/internal/page"
	"github.com/traceforge/traceforge-go/internal/place"
	"github.com/traceforge/traceforge-go/internal/usage/coverage"
)

func reportCommand(con *console) *cobra.Command {
	c := &cobra.Command{
		Use:   "report --receipt DIR [DIR]",
		Short: "report how a run of the tests used the store",
		Long: `Prints what verify --receipt finds in a run of the tests, for people to read: a line for
each package, with the records that were played, those that were not, those that no test
can use any more, and the calls that no record answered; then why.

For the summary of a job:

  traceforge report --markdown --receipt DIR >> "$GITHUB_STEP_SUMMARY"

The object of --json has:

  coverage   ` + coverage.PackageFields + `
  orphans    of each document that no test can use any more:
             ` + coverage.UnusedFields + `
  unplayed   the same of each other document with records that were not played
  missing    of each test with calls that no record answered: package; test; calls,
             their number; reason
  failed     of each test that used the store and failed: package; test
`,
		Args: arguments(0, 1),
	}
	asJSON := jsonFlag(c)
	asMarkdown := c.Flags().Bool("markdown", false, "print Markdown, as for the summary of a job")
	left := receiptFlag(c)
	c.MarkFlagsMutuallyExclusive("json", "markdown")
	c.RunE = func(c *cobra.Command, args []string) error {
		if *left == "" {
			return usageError{errors.New("--receipt must name what a run of the tests left")}
		}
		s, dir, err := place.OpenStore(strings.Join(args, ""))
		if err != nil {
			return err
		}
		run, err := coverage.ReadRun(c.Context(), *left, dir)
		if err != nil {
			return err
		}
		report, err := run.Report(s)
		if err != nil {
			return err
		}
		return writeReport(con, report, *asJSON, *asMarkdown)
	}
	return c
}

func writeReport(con *console, r *coverage.Report, asJSON, asMarkdown bool) error {
	switch {
	case asJSON:
		return con.json(struct {
			Coverage []coverage.PackageReport `json:"coverage"`
			Orphans  []coverage.Unused        `json:"orphans"`
			Unplayed []coverage.Unused        `json:"unplayed"`
			Missing  []coverage.Unanswered    `json:"missing"`
			Failed   []page.Test              `json:"failed"`
		}{orEmpty(r.Packages), orEmpty(r.Orphans), orEmpty(r.Unplayed), orEmpty(r.Missing), orEmpty(r.Failed)})
	case asMarkdown:
		fmt.Fprint(con.stdout, page.PrintableText(r.Markdown()))
	default:
		r.Write(con.stdout)
		for _, u := range r.Orphans {
			con.line("unused " + u.File + "  " + u.Reason)
		}
		for _, m := range r.Missing {
			con.line("unrecorded " + m.Test.Test + " in " + m.Package + ": " + m.Reason)
		}
		for _, t := range r.Failed {
			con.line("failed " + t.Test + " in " + t.Package)
		}
		con.sayAll(r.Reasons())
	}
	return con.stdout.Flush() // an earlier error is sticky
}

// orEmpty is list as a program likes to read it.
func orEmpty[T any](list []T) []T { return append([]T{}, list...) }
