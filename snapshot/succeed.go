package snapshot

// Confirms reports whether r and was agree outside of their cores: in status, model and form, and in how the answer
// ended. If their cores are equal too, the old answer can be kept. A response r with event times does not confirm a
// response was without.
func (r *Response) Confirms(was *Response) bool {
	return was.Status == r.Status && was.Model == r.Model && was.Incomplete == r.Incomplete &&
		RawName(0, was) == RawName(0, r) && (r.TimingMS == nil || was.TimingMS != nil)
}

// Succeed makes s the successor of was, an earlier record of the same call (design R4). s gets was's id, the call that
// was continues and, if file and function are the same, its line. answered says that the answer is unchanged: then s
// also gets was's complete response, with its bytes, times, usage and headers, and the provenance of that call.
func (s *Snapshot) Succeed(was *Snapshot, answered bool) {
	s.ID, s.Continues = was.ID, was.Continues
	if s.Source.File == was.Source.File && s.Source.Function == was.Source.Function {
		s.Source.Line = was.Source.Line
	}
	if answered {
		if was.Source.Provenance != (Provenance{}) {
			s.Source.Provenance = was.Source.Provenance
		}
		stale := s.Response.Stale // empty if this request was answered
		s.Timestamp, s.Response = was.Timestamp, was.Response
		s.Response.Stale = stale
	}
}
