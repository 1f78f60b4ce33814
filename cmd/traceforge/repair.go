package main

import "github.com/traceforge/traceforge-go/internal/page"

func repair(c *call) error {
	s, dir, err := c.store()
	if err != nil {
		return err
	}
	theirs, err := c.cmd.Flags().GetStringSlice("theirs")
	if err != nil {
		return err
	}
	report, err := s.Repair(theirs...)
	if report != nil {
		c.text(spelled(report.String()))
	}
	if err != nil || report.String() != "" {
		return err
	}
	c.say("%s: nothing to merge", dir)
	if found, err := s.Verify(); err == nil && len(found.Findings) > 0 {
		c.say("traceforge verify%s has %s", option(" ", c.named()), page.Count(len(found.Findings), "finding", "findings"))
	}
	return nil
}
