package snapshot

// Confirms reports whether r says beside its core what was said: then the old answer can stay, if the cores
// are equal too. An answer with times of its events does not confirm one without.
func (r *Response) Confirms(was *Response) bool {
	return was.Status == r.Status && was.Model == r.Model && was.Incomplete == r.Incomplete &&
		(r.TimingMS == nil || was.TimingMS != nil)
}

// Succeed puts s in the place of was, an earlier record of the same call (design R4). s takes over the id, the call
// that it continues, and the line where file and function are the same. Where the answer says what it said before, s
// keeps was's, with its bytes, times, usage and headers, and with the provenance of the call that got it.
func (s *Snapshot) Succeed(was *Snapshot, answered bool) {
	s.ID, s.Continues = was.ID, was.Continues
	if s.Source.File == was.Source.File && s.Source.Function == was.Source.Function {
		s.Source.Line = was.Source.Line
	}
	if answered {
		if was.Source.Provenance != (Provenance{}) {
			s.Source.Provenance = was.Source.Provenance
		}
		stale := s.Response.Stale // empty means the request was asked now
		s.Timestamp, s.Response = was.Timestamp, was.Response
		s.Response.Stale = stale
	}
}
