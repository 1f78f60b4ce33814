package recorder

import (
	"github.com/traceforge/traceforge-go/internal/drift"
	"github.com/traceforge/traceforge-go/modelio"
)

// like returns the record that a call is held against, and what the call asks, taken apart; -1: it is like none.
func (r *run) like(c *call) (best int, got *drift.Request) {
	got, _ = r.comparer().Request(c.request) // it has a key
	return r.nearest(c, got), got
}

// comparer returns what takes requests apart by the rules of the test.
func (r *run) comparer() *drift.Comparer {
	if r.compare == nil {
		r.compare = drift.NewComparer(r.Ignored)
	}
	return r.compare
}

// comparable reports whether the i-th record may be of a call: what one provider, API, tool or lane was asked says
// nothing of another.
func (t *tape) comparable(i int, c *call) bool {
	s := &t.records[i]
	return t.providerOf(i) == c.provider && s.Source.Lane == c.lane &&
		s.Request.API == c.request.API && sameTool(&s.Request, c.request)
}

// sameTool reports whether two requests are of one tool, where one of them is of a tool. The input of one tool says
// nothing of another.
func sameTool(a, b *modelio.Request) bool {
	return a.Tool() == b.Tool() && methodOf(a) == methodOf(b) && (a.Tool() == "" || a.API == b.API)
}

// nearest returns the record that a call is held against, or -1. It is the record that shares most with the call, and
// of several the one that differs least. After a first drift it is the next record, if that has as many messages and
// differs by a known change.
func (r *run) nearest(c *call, got *drift.Request) int {
	best, likeness, distance := -1, 0.0, 0
	var others []int
	for i := range r.tape.records {
		if r.tape.played[i] || r.tape.held[i] || !r.tape.comparable(i, c) {
			continue
		}
		if r.tape.parts[i] == nil {
			taken, err := r.compare.Request(r.tape.request(i))
			if err != nil {
				continue // unreachable: the record has a key
			}
			r.tape.parts[i] = taken
		}
		recorded := r.tape.parts[i]
		if best < 0 && len(recorded.Messages) == len(got.Messages) && r.causes.find(r.compare.Traces(recorded, got)) != nil {
			return i
		}
		like := r.compare.Likeness(recorded, got)
		if like == 0 {
			others = append(others, i)
		}
		if like == 0 || like < likeness {
			continue
		}
		if apart := r.compare.Distance(recorded, got); like > likeness || apart < distance {
			best, likeness, distance = i, like, apart
		}
	}
	if best < 0 && r.Mode != UpdateNew { // which makes a call that says nothing of what a record says
		return r.nearestOther(others, got)
	}
	return best
}

// nearestOther chooses among records that share nothing with a call. It takes the first that differs only in values
// that change every run, or a sole record that differs little. Else the call was inserted, and a difference from
// another record would tell nothing.
func (r *run) nearestOther(records []int, got *drift.Request) int {
	const most = 1000 // bytes that differ
	for _, i := range records {
		recorded := r.tape.parts[i]
		if len(recorded.Messages) == len(got.Messages) && r.explained(r.compare.Differences(recorded, got)) != "" ||
			len(records) == 1 && r.compare.Distance(recorded, got) <= most {
			return i
		}
	}
	return -1
}
