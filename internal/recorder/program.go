package recorder

// A Program is what runs the calls of a recorder that is no Go test, as traceforge exec does. Failures tell whoever
// runs it to use flags, where they tell a test to use options of package traceforgetest.
type Program struct {
	Again func(mode string) string // the command that runs it in another mode, one of --update
}

// Hosts are the providers of hosts that the repository's configuration names.
func (r *Recorder) Hosts() map[string]string { return r.config.Hosts }

// again returns the command that records the test in the mode of this run; -update where that records nothing.
func (r *Recorder) again() string {
	if r.Mode == UpdateNew || r.Mode == UpdateTools || r.Mode == UpdateAll {
		return r.with(modes[r.Mode])
	}
	return r.Accept
}
