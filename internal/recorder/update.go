package recorder

import (
	"context"
	"errors"
	"slices"

	"github.com/traceforge/traceforge-go/internal/inorder"
	"github.com/traceforge/traceforge-go/internal/provider"
	"github.com/traceforge/traceforge-go/internal/store"
	"github.com/traceforge/traceforge-go/internal/usage"
)

// cancelled ends a call that a failed tool of its turn had cancelled when the turn was recorded.
func (r *Recorder) cancelled(c *call) (*servedRecord, error) {
	if r.run.tape.cancels(c) {
		return nil, context.Canceled
	}
	return nil, nil
}

// makeLive returns a take for a live call, even if the call is recorded.
func (r *Recorder) makeLive(c *call) (*servedRecord, error) {
	if f := r.boughtBefore(c); f != nil {
		return nil, f
	}
	return r.buy(c)
}

// sendReply makes a reply live that a live server waits for, although it may equal a record or an answer that waits.
func (r *Recorder) sendReply(c *call) (*servedRecord, error) {
	if s := c.codec.Session; s == nil || !isReply(c.request) || c.listens() || r.sessions.awaits(s, c.what.(*wire)) {
		return nil, nil
	}
	if f := r.boughtBefore(c); f != nil {
		return nil, f
	}
	return r.startTake(c, "") // replies have no parameters
}

// replayOrNew answers a recorded call. A call that resembles an unplayed record has drifted; this mode does not pay for
// it, and another accepts it. If a record remains at the end after all, the test fails, and the bought answers wait for
// that mode.
func (r *Recorder) replayOrNew(c *call) (*servedRecord, error) {
	if r.run.follows(c, nil, isBought) {
		return nil, nil
	}
	s, err := r.replay(c)
	f := asA[*Failure](err)
	isNew := f != nil && f.drift != nil && f.drift.Kind == usage.Missing // it was compared with no record
	if isNew || err != nil && err == c.over && !c.codec.Tools {
		return nil, nil
	}
	return s, err
}

// buy returns a take for a live call, or the answer that an earlier run already bought for it.
func (r *Recorder) buy(c *call) (*servedRecord, error) {
	lifted, missing := r.run.lacking(c)
	if missing != "" {
		return nil, r.report.undeterminedFailure(c, missing)
	}
	if c.step == nil {
		if s := r.pending.serve(c, lifted); s != nil {
			return s, nil
		}
		if s := r.split(c, lifted); s != nil {
			return s, nil
		}
	}
	return r.startTake(c, lifted)
}

// stored answers a call from the store as replay does, if its record is whole (design R11). If the record cannot be
// served, the call is made again.
func (r *Recorder) stored(c *call) (*servedRecord, error) {
	if _, err := r.run.document(c.provider); err != nil {
		return nil, err
	}
	i, rules := r.run.match(c)
	if i < 0 {
		return nil, nil
	}
	if r.run.follows(c, r.run.tape.request(i), isBought) {
		return r.buy(c) // the record may be of a call that follows another answer
	}
	r.run.tape.plays[i].played = true // its call is this one, whatever answers it
	was := &r.run.tape.records[i]
	if was.Response.Stale != "" || was.Source.Scripted != c.scripted() || r.run.Mode.makesAgain(c.codec.Tools) {
		return r.buy(c)
	}
	s, err := r.run.serveWhole(c, i, rules)
	if err != nil && !isA[*transportError](err) && !errors.Is(err, store.ErrNotFetched) {
		// the record is broken, other than by a missing git lfs pull, or has values that the test does not know
		return r.buy(c)
	}
	return s, err
}

// isBought reports whether a take has another answer than the tape: a live one, or one that waited.
func isBought(tk *take) bool { return isLive(tk) || tk.origin.place < 0 }

// isLive reports whether the call of a take was made in this run.
func isLive(tk *take) bool { return tk.origin == nil }

// match returns the unplayed record of a call, or -1. rules names the rules of the test that would now write the record
// differently.
func (r *run) match(c *call) (i int, rules string) {
	t := r.tape
	i, how := search{r, t}.find(c)
	switch {
	case how == found && t.isScrubbed(i):
		return i, ""
	case how == found:
		return i, scrubRules
	}
	unnamed := c.provider // what it would be if config.json named none for the host
	if w, ok := c.what.(*wire); ok {
		unnamed = provider.ProviderOf(&w.Wire, c.codec, nil)
	}
	for i := range t.records {
		s := &t.records[i]
		name, lane, rule := s.Provider, s.Source.Lane, ""
		if !samePointers(s.Source.Ignored, c.ignored) {
			rule = "ignored pointers"
		}
		if lane == "" && c.lane != "" && slices.Equal(s.Source.IDs, c.stable) {
			lane, rule = c.lane, laneRule // it was made in none
		}
		if name == unnamed && name != c.provider {
			name, rule = c.provider, hostRules
		}
		if t.plays[i].played || rule == "" {
			continue
		}
		if k, _, _, _ := keyed(name, lane, t.request(i), c.ignored, t.rules.Stored); k == c.key {
			return i, rule
		}
	}
	return -1, ""
}

func samePointers(a, b []string) bool {
	return slices.Equal(inorder.Strings(a), inorder.Strings(b))
}

// serveWhole serves a call from its record, which must be whole. If the present rules would write the record
// differently, it is written again from its own answer.
func (r *run) serveWhole(c *call, i int, rules string) (*servedRecord, error) {
	d, err := r.openProofOf(c, i)
	raw := d.raw
	if err == nil && raw != nil {
		err = r.tape.fetchMedia(i)
	}
	if err != nil {
		return nil, err
	}
	if raw != nil && r.prove(d) != nil {
		return nil, d.failure
	}
	s := &r.tape.records[i]
	if modes[r.Mode].live && r.Timing && !isDirect(s.Request.API) && s.Response.TimingMS == nil &&
		rawAnswer(s, raw).Events() != nil {
		return nil, errors.New("the record has no times of its events")
	}
	if rules != "" {
		return r.adopt(c, r.tape, i, &origin{place: i, stale: s.Response.Stale, why: rules})
	}
	return r.serve(d, raw)
}

// again returns the command that records the test in this run's mode, or with -update if that mode records nothing.
func (s *setup) again() string {
	if m := modes[s.Mode]; m.live && m.writes && s.Mode != Update {
		return s.with(m.name)
	}
	return s.Accept
}
