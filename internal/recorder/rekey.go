package recorder

// rekey answers a call from the store, also one that changed.
func (r *Recorder) rekey(c *call) (*served, error) { return r.replay(c) }
