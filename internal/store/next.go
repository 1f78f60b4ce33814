package store

import (
	"bytes"
	"errors"
	"slices"

	"github.com/traceforge/traceforge-go/internal/texts"
	"github.com/traceforge/traceforge-go/modelio"
	"github.com/traceforge/traceforge-go/snapshot"
)

// An Outcome is the result of a test's call.
type Outcome struct {
	Of       int                // index of the call's record; -1 for a new call
	Record   *snapshot.Snapshot // the record as the call makes it now, with its provider; nil if it is unchanged
	Answered bool               // the answer equals the recorded one, which is kept
	After    int                // how many of the old records a new one comes after, at least
	Dated    bool               // the record gets the time of Record even if its answer is kept
}

// Next returns the records of a test after its calls, and the index of each call's record. done are the outcomes in the
// order of the calls; all records name their provider. A record in old keeps its id and its place; with drop, records
// without a call are removed. A new record follows the record of the call before it, or one further down if After says
// so; without one, it comes before the record of the next call that is not new. It keeps its own id, or gets the next
// number. Next does not change its arguments.
func Next(name string, old []snapshot.Snapshot, done []Outcome, drop bool) (next []snapshot.Snapshot, places []int) {
	last := LastNumber(old)
	now, kept := slices.Clone(old), slices.Repeat([]bool{!drop}, len(old))
	front, behind := make([][]int, len(old)+1), make([][]int, len(old)) // new calls before and after each record
	// new calls without an earlier recorded call so far
	var first []int
	at := -1
	for n, o := range done {
		switch {
		case o.Of >= 0:
			front[o.Of], first = append(front[o.Of], first...), nil
			now[o.Of], kept[o.Of], at = o.after(&now[o.Of]), true, o.Of
		case at < 0 && o.After == 0:
			first = append(first, n)
		default:
			at = max(at, o.After-1)
			behind[at] = append(behind[at], n)
		}
		if o.Of < 0 {
			last = max(last, o.Record.Number())
		}
	}
	front[len(old)] = first
	places = make([]int, len(done))
	add := func(calls []int) {
		for _, n := range calls {
			places[n] = len(next)
			next = append(next, *done[n].Record)
		}
	}
	indexes := make([]int, len(old))
	for i := range now {
		add(front[i])
		if indexes[i] = len(next); kept[i] {
			next = append(next, now[i])
		}
		add(behind[i])
	}
	add(front[len(old)])
	for n, o := range done {
		if o.Of >= 0 {
			places[n] = indexes[o.Of]
			continue
		}
		s := &next[places[n]]
		if s.Continues = nil; s.ID == "" { // chosen by Seal
			last++
			s.ID = snapshot.ID(name, last)
		}
	}
	return next, places
}

// after returns a record after a call of it.
func (o *Outcome) after(was *snapshot.Snapshot) snapshot.Snapshot {
	if o.Record == nil {
		return *was
	}
	s := *o.Record
	s.Succeed(was, o.Answered)
	if o.Dated {
		s.Timestamp = o.Record.Timestamp
	}
	return s
}

// LastNumber returns the highest number of a record; 0 without any.
func LastNumber(records []snapshot.Snapshot) (last int) {
	for i := range records {
		last = max(last, records[i].Number())
	}
	return last
}

// SameRequest reports whether two records have the same request, except for what each ignores.
func SameRequest(a, b *snapshot.Snapshot) bool {
	x, err := snapshot.RequestCore(&a.Request, a.Source.Ignored)
	y, err2 := snapshot.RequestCore(&b.Request, b.Source.Ignored)
	return errors.Join(err, err2) == nil && bytes.Equal(x, y)
}

// SameOptions reports whether two requests have the same options. Others may ask for an answer in another form, which a
// record need not show.
func SameOptions(a, b *modelio.Request) bool {
	return texts.Same{}.Requests(&modelio.Request{Options: a.Options}, &modelio.Request{Options: b.Options})
}

// SameAnswer reports whether two answers have the same core. It does not encode answers that are equal, as almost all
// are, because they may be long.
func SameAnswer(a, b *snapshot.Response) bool {
	alike := func(a, b modelio.Candidate) bool {
		return a.FinishReason == b.FinishReason && texts.Same{}.Parts(a.Message.Content, b.Message.Content)
	}
	if texts.Equal(a.Error, b.Error) && slices.EqualFunc(a.Candidates, b.Candidates, alike) {
		return true
	}
	x, err := snapshot.ResponseCore(a)
	y, err2 := snapshot.ResponseCore(b)
	return errors.Join(err, err2) == nil && bytes.Equal(x, y)
}
