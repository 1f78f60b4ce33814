package main

import (
	"context"
	"fmt"
	"strings"
)

var reportCommand = command{
	name:     "report",
	synopsis: "[--markdown|--json] --receipt DIR [DIR]",
	summary:  "report how a run of the tests used the store",
	help: `
Prints what verify --receipt finds in a run of the tests, for people to read: a line for
each package, with the records that were played, those that were not, those that no test
can use any more, and the calls that no record answered; then why.

  --receipt DIR  what the run left, see verify
  --markdown     print Markdown, as for the summary of a job:
                 traceforge report --markdown --receipt DIR >> "$GITHUB_STEP_SUMMARY"
  --json         print one object instead

The object of --json has:

  coverage   ` + coverageFields + `
  orphans    of each record that no test can use any more:
             ` + unusedFields + `
  unplayed   the same of each other record that was not played
  missing    of each test with calls that no record answered: package; test; calls,
             their number; reason
  failed     of each test that used the store and failed: package; test
`,
	run: runReport,
}

func runReport(ctx context.Context, con *console, args []string) error {
	flags := newFlags()
	left := flags.String("receipt", "", "")
	asMarkdown := flags.Bool("markdown", false, "")
	asJSON := flags.Bool("json", false, "")
	args, err := arguments(flags, args, 0, 1)
	if err != nil {
		return err
	}
	switch {
	case *left == "":
		return usagef("--receipt must name what a run of the tests left")
	case *asMarkdown && *asJSON:
		return usagef("--markdown and --json exclude each other")
	}
	store, dir, err := openStore(strings.Join(args, ""))
	if err != nil {
		return err
	}
	defer store.Close()
	u, err := readRun(ctx, *left, dir)
	if err != nil {
		return err
	}
	c, err := u.cover(store)
	if err != nil {
		return err
	}
	failed := []testOf{}
	for _, name := range u.failed {
		failed = append(failed, testOf(name))
	}
	switch {
	case *asJSON:
		return con.json(struct {
			Coverage []packageCoverage `json:"coverage"`
			Orphans  []unused          `json:"orphans"`
			Unplayed []unused          `json:"unplayed"`
			Missing  []unanswered      `json:"missing"`
			Failed   []testOf          `json:"failed"`
		}{
			append([]packageCoverage{}, c.packages...), append([]unused{}, c.orphans...), append([]unused{}, c.kept...),
			append([]unanswered{}, c.missing...), failed,
		})
	case *asMarkdown:
		fmt.Fprint(con.stdout, printableText(markdown(c, failed)))
	default:
		c.write(con.stdout)
		for _, r := range c.orphans {
			fmt.Fprintln(con.stdout, printable("unused "+r.File+"  "+r.Reason))
		}
		for _, m := range c.missing {
			fmt.Fprintln(con.stdout, printable("unrecorded "+m.Test+" in "+m.Package+": "+m.Reason))
		}
		for _, t := range failed {
			fmt.Fprintln(con.stdout, printable("failed "+t.Test+" in "+t.Package))
		}
		c.sayKept(con)
	}
	return con.stdout.Flush() // an earlier error is sticky
}

// markdown returns a coverage and the tests that failed as GitHub-flavoured Markdown.
func markdown(c *coverage, failed []testOf) string {
	var b strings.Builder
	t := c.total()
	fmt.Fprintf(&b, "### traceforge: %d played, %d unplayed, %d orphaned, %d missing\n\n", t.Played, t.Unplayed, t.Orphaned, t.Missing)
	b.WriteString("| package | played | unplayed | orphaned | missing |\n|---|--:|--:|--:|--:|\n")
	for _, p := range c.packages {
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %d |\n", code(p.Package), p.Played, p.Unplayed, p.Orphaned, p.Missing)
	}
	list := func(title string, n int, item func(i int) string) {
		const most = 50 // the summary of a step is cut at a megabyte
		if n == 0 {
			return
		}
		fmt.Fprintf(&b, "\n%s\n\n", title)
		for i := range min(n, most) {
			fmt.Fprintf(&b, "- %s\n", item(i))
		}
		if n > most {
			fmt.Fprintf(&b, "- and %d more\n", n-most)
		}
	}
	list("Failed:", len(failed), func(i int) string { return code(failed[i].Test) + " in " + code(failed[i].Package) })
	list("Unrecorded:", len(c.missing), func(i int) string {
		return code(c.missing[i].Test) + " in " + code(c.missing[i].Package) + ": " + code(c.missing[i].Reason)
	})
	list("No test uses these any more; `traceforge prune --write` removes them:", len(c.orphans),
		func(i int) string { return code(c.orphans[i].File) + ": " + code(c.orphans[i].Reason) })
	list("Not played:", len(c.kept), func(i int) string { return code(c.kept[i].File) + ": " + code(c.kept[i].Reason) })
	return b.String()
}

// code quotes text for Markdown, in a table too.
func code(text string) string {
	text = strings.NewReplacer("`", "'", "|", `\|`, "\n", " ").Replace(text)
	return "`" + text + "`"
}
