package recorder

// Used says which records of the test's document a test used, by their ids.
type Used struct {
	Played   []string // answered a call
	Recorded []string // recorded in this run, or confirmed
	Unplayed []string // in the store, and not used
	Missing  int      // calls that no record answered
}

// Used says what a test that has ended used.
func (r *Recorder) Used() (u Used) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, f := range r.failures {
		if f.Missing {
			u.Missing++
		}
	}
	if r.tape == nil {
		if err := r.openTape(anyProvider); err != nil {
			return u // the test's calls have told
		}
	}
	answered := map[int]bool{}
	for _, a := range r.answered {
		if a.take == nil {
			answered[a.record] = true
			u.Played = append(u.Played, r.tape.records[a.record].ID)
		}
	}
	if r.written != nil {
		before := map[string]bool{}
		if r.Mode == UpdateNew {
			for i := range r.tape.records {
				before[r.tape.records[i].ID] = true
				if !answered[i] {
					u.Unplayed = append(u.Unplayed, r.tape.records[i].ID)
				}
			}
		}
		for i := range r.written.Snapshots {
			if id := r.written.Snapshots[i].ID; !before[id] {
				u.Recorded = append(u.Recorded, id)
			}
		}
		return u
	}
	for i := range r.tape.records {
		if !answered[i] {
			u.Unplayed = append(u.Unplayed, r.tape.records[i].ID)
		}
	}
	return u
}
