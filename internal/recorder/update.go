package recorder

import (
	"context"
	"errors"
	"slices"

	"github.com/traceforge/traceforge-go/internal/inorder"
	"github.com/traceforge/traceforge-go/internal/store"
)

// update serves a call from the store as replay does, where a whole record answers it. Else the call
// is made (design R11).
func (r *Recorder) update(c *call) (*servedRecord, *take, error) {
	s, recorded, err := r.stored(c)
	switch {
	case s != nil || err != nil:
		return s, nil, r.refused(c, err)
	case recorded:
		return r.buy(c)
	case r.Mode == Update && r.cancels(c):
		return nil, nil, context.Canceled
	}
	return r.updateAll(c)
}

func (r *Recorder) cancels(c *call) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.tape.cancels(c)
}

// updateAll makes a call, whatever is recorded.
func (r *Recorder) updateAll(c *call) (*servedRecord, *take, error) {
	if f := r.boughtBefore(c); f != nil {
		return nil, nil, r.failCall(c.what, c.id(), f)
	}
	return r.buy(c)
}

// updateNew makes a call only where it is like no record that is left. One that is like a record has drifted, which
// is no reason to pay: another mode accepts it. Where a record is left in the end after all, the test fails, and
// what was bought waits for that mode.
func (r *Recorder) updateNew(c *call) (*servedRecord, *take, error) {
	s, err := r.replay(c)
	var f *Failure
	if errors.As(err, &f) && f.unheld {
		return r.updateAll(c)
	}
	return s, nil, r.refused(c, err)
}

// buy returns a take for a live call, or what an earlier run has bought for it already.
func (r *Recorder) buy(c *call) (*servedRecord, *take, error) {
	lifted, f := r.undetermined(c)
	if f != nil {
		return nil, nil, r.failCall(c.what, c.id(), f)
	}
	if c.step == nil {
		if s := r.boughtEarlier(c, lifted); s != nil {
			return s, nil, nil
		}
	}
	tk, err := r.take(c, lifted)
	return nil, tk, err
}

// stored serves a call from its record; nil where there is none that can answer it. recorded reports whether
// there is one, whose call has to be made again then.
func (r *Recorder) stored(c *call) (s *servedRecord, recorded bool, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, err := r.document(c.provider); err != nil {
		return nil, false, err
	}
	i, rules, err := r.match(c)
	if err != nil || i < 0 {
		return nil, false, err
	}
	r.tape.played[i] = true // its call is this one, whoever answers it
	was := &r.tape.records[i]
	if was.Response.Stale != "" || was.Source.Scripted != c.scripted() || r.Mode == UpdateTools && c.codec.Tools {
		return nil, true, nil
	}
	s, err = r.keep(c, i, rules)
	var wayError *transportError
	if err != nil && !errors.As(err, &wayError) && !errors.Is(err, store.ErrNotFetched) {
		return nil, true, nil // it is broken, which one that git lfs pull fetches is not, or has values that the test does not know
	}
	return s, true, err
}

// match returns the record of a call that was not played yet, or -1. rules says which rules of the test have
// changed since, where the record does not stand as those of now would have it.
func (r *Recorder) match(c *call) (i int, rules string, err error) {
	i, how, err := r.tape.find(c.key)
	switch {
	case err != nil:
		return -1, "", err
	case how == found && r.tape.isScrubbed(i):
		return i, "", nil
	case how == found:
		return i, scrubRules, nil
	}
	for i := range r.tape.records {
		s := &r.tape.records[i]
		if r.tape.played[i] || samePointers(s.Source.Ignored, r.Ignored) {
			continue
		}
		k, _, _, err := keyed(r.tape.providerOf(i), r.tape.request(i), r.Ignored, r.rules.Stored)
		if k.lane = s.Source.Lane; err == nil && k == c.key {
			return i, "ignored pointers", nil
		}
	}
	return -1, "", nil
}

func samePointers(a, b []string) bool {
	return slices.Equal(inorder.Strings(a), inorder.Strings(b))
}

// keep serves a call from its record, which must be whole. A record that the present rules would write in another way
// is written again from its own answer.
func (r *Recorder) keep(c *call, i int, rules string) (*servedRecord, error) {
	d := &due{call: c, record: i}
	var raw []byte
	if r.tape.records[i].Response.RawOutputRef != "" {
		var err error
		if raw, err = r.raw(i); err != nil {
			return nil, err
		}
		if err := r.tape.fetchMedia(i); err != nil {
			return nil, err
		}
	}
	d.doc, d.raw = r.tape.doc, raw
	if raw != nil && len(d.prove()) > 0 {
		return nil, r.unproven(d)
	}
	if r.Mode == Update && r.lacksTimes(i, raw) {
		return nil, errNoTimes
	}
	if rules != "" {
		return r.adopt(c, r.tape, i, &origin{place: i, stale: r.tape.records[i].Response.Stale, why: rules})
	}
	return r.serve(d, raw)
}

// errNoTimes says that a stream was recorded without the times that the test wants.
var errNoTimes = errors.New("the record has no times of its events")

func (r *Recorder) lacksTimes(i int, raw []byte) bool {
	s := &r.tape.records[i]
	return r.Timing && !isDirect(s.Request.API) && s.Response.TimingMS == nil && r.tape.recordedAnswer(i, raw).Events() != nil
}

// again returns the command that records the test in the mode of this run; -update where that records nothing.
func (s *setup) again() string {
	if s.Mode == UpdateNew || s.Mode == UpdateTools || s.Mode == UpdateAll {
		return s.with(s.Mode.String())
	}
	return s.Accept
}
