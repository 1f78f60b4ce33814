package main

import (
	"github.com/spf13/cobra"

	"github.com/traceforge/traceforge-go/internal/place"
)

func repairCommand(con *console) *cobra.Command {
	c := &cobra.Command{
		Use:   "repair",
		Short: "merge documents after a conflict, and finish what was cut short",
		Long: `Merges documents that a merge of git left in conflict, record by record: what one side
changed or added stays, calls that both sides added are kept and numbered again. Where
both sides changed one record differently, ours is taken, or theirs for those that
--theirs names, by the id of a record or the name of a document. Nothing is staged: until
git add, repair may be run again with another choice.

It also finishes or undoes a recording that was killed while it wrote. It prints what it
did, and says what is left to do.
`,
		Args: arguments(0, 0),
	}
	dir := dirFlag(c)
	theirs := c.Flags().StringSlice("theirs", nil, "take theirs of a record, or of all records of a document: `ID`")
	c.RunE = func(*cobra.Command, []string) error {
		s, _, err := place.OpenStore(*dir)
		if err != nil {
			return err
		}
		report, err := s.Repair(*theirs...)
		if report != nil {
			con.text(report.String())
		}
		return err
	}
	return c
}

func dirFlag(c *cobra.Command) *string {
	return c.Flags().String("dir", "", "the store, or its module: `DIR`")
}
