package main

func repair(c *call) error {
	s, _, err := c.store()
	if err != nil {
		return err
	}
	theirs, err := c.cmd.Flags().GetStringSlice("theirs")
	if err != nil {
		return err
	}
	report, err := s.Repair(theirs...)
	if report != nil {
		c.text(report.String())
	}
	return err
}
