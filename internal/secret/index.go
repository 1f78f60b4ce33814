package secret

import "slices"

// A needle is a literal that is part of a secret or precedes one.
type needle struct {
	what    string
	literal string // at least three bytes
	fold    bool   // match the literal in any case
	// span returns the bounds of the secret whose literal is at text[at:]; end is 0 if there is none. With a nil span
	// the literal is the secret.
	span func(text []byte, at int, long *longRuns) (start, end int)
}

// longRuns holds the long runs of digits that were already examined in a text, by format. Without it, a text that
// repeats a literal would be read to its end from each occurrence.
type longRuns map[string]struct{ start, end int }

// end returns the end of the run of digits that starts at from. of names the format.
func (long *longRuns) end(of string, text []byte, from int, digit func(byte) bool) (end int) {
	const least = 64
	if last := (*long)[of]; last.start <= from && from < last.end {
		return last.end
	}
	for end = from; end < len(text) && digit(text[end]); {
		end++
	}
	if end-from >= least {
		if *long == nil {
			*long = longRuns{}
		}
		(*long)[of] = struct{ start, end int }{from, end}
	}
	return end
}

// An index finds many needles in one pass over a text. It compares the low five bits of three bytes, which are the same
// for capitals and small letters. Almost every position of a text is ruled out by one bit of a table that fits into the
// processor's cache.
type index struct {
	bits  [1 << 15 / 64]uint64
	first *[1 << 15]uint16 // 1 + index into needles, by three bytes; shared by clones
	// the same for the needles that a clone has added, which come first; nil if it is not a clone
	own     map[uint16]uint16
	needles []indexedNeedle
}

type indexedNeedle struct {
	needle
	next uint16 // like first
}

func (x *index) clone() *index {
	return &index{x.bits, x.first, map[uint16]uint16{}, slices.Clip(x.needles)}
}

// begin returns 1 + the index of the first needle for three bytes, or 0.
func (x *index) begin(at uint16) uint16 {
	if n := x.own[at]; n != 0 {
		return n
	}
	return x.first[at]
}

// add adds a needle. It ignores needles beyond 65,535, which no process has.
func (x *index) add(n needle) {
	const most = 1<<16 - 2
	if len(x.needles) > most {
		return
	}
	at := uint16(n.literal[0]&31)<<10 | uint16(n.literal[1]&31)<<5 | uint16(n.literal[2]&31)
	x.bits[at>>6] |= 1 << (at & 63)
	x.needles = append(x.needles, indexedNeedle{n, x.begin(at)})
	if x.own == nil {
		x.first[at] = uint16(len(x.needles))
	} else {
		x.own[at] = uint16(len(x.needles))
	}
}

// next returns the first secret in text[from:], without decoding; end is 0 if there is none. long must be empty at the
// first call for a text.
func (x *index) next(text []byte, from int, long *longRuns) (what string, start, end int) {
	if len(text)-from < 3 {
		return "", 0, 0
	}
	at := uint16(text[from]&31)<<5 | uint16(text[from+1]&31)
	for i := from + 2; i < len(text); i++ {
		at = (at<<5 | uint16(text[i]&31)) & (1<<15 - 1)
		if x.bits[at>>6]>>(at&63)&1 == 0 {
			continue
		}
		for n := x.begin(at); n != 0; n = x.needles[n-1].next {
			if start, end = x.needles[n-1].at(text, i-2, long); end > 0 {
				return x.needles[n-1].what, start, end
			}
		}
	}
	return "", 0, 0
}

func small(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		c += 'a' - 'A'
	}
	return c
}

// at returns the bounds of the secret whose literal is at text[at:]; end is 0 if the literal or the secret is not
// there.
func (n *needle) at(text []byte, at int, long *longRuns) (start, end int) {
	if len(text)-at < len(n.literal) {
		return 0, 0
	}
	for i := range len(n.literal) {
		c := text[at+i]
		if c != n.literal[i] && !(n.fold && small(c) == small(n.literal[i])) {
			return 0, 0
		}
	}
	if n.span == nil {
		return at, at + len(n.literal)
	}
	return n.span(text, at, long)
}
