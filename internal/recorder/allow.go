package recorder

// An Allowance is what a recorder refuses unless a test allows it; a set of them is their sum.
type Allowance uint8

const (
	CutStreams      Allowance = 1 << iota // a stream that was cut may be recorded
	TransportErrors                       // an error of the transport may be
	RetryableErrors                       // an answer that asks to try again may be
	NoCalls                               // a test may make no call
)

// allows reports whether the test allows what.
func (s *setup) allows(what Allowance) bool { return s.Allowed&what != 0 }
