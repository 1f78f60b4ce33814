package store

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/snapshot"
)

// A nextCase is a document, and calls of which some have a record in it.
type nextCase struct {
	old  []snapshot.Snapshot
	done []Outcome
	drop bool
}

// newNextCase returns a document with ids in any order, and calls of which about half are in the order of their
// records.
func newNextCase(r *rand.Rand) nextCase {
	c := nextCase{drop: r.IntN(2) == 0}
	numbers := r.Perm(12)
	for i := range r.IntN(7) {
		c.old = append(c.old, nextRecord(r, numbers[i]+1))
	}
	of := r.Perm(len(c.old))
	of = of[:r.IntN(len(of)+1)]
	if r.IntN(2) == 0 {
		slices.Sort(of)
	}
	for _, i := range of {
		for range r.IntN(3) {
			s := nextRecord(r, 0)
			if last := len(numbers) - 1; last > 6 && r.IntN(4) == 0 { // like a pending record, which has its own number
				s, numbers = nextRecord(r, numbers[last]+1), numbers[:last]
			}
			c.done = append(c.done, Outcome{Of: -1, Record: &s})
		}
		o := Outcome{Of: i, Answered: r.IntN(2) == 0, Dated: r.IntN(4) == 0}
		if s := nextRecord(r, 0); r.IntN(2) == 0 {
			o.Record = &s
		}
		c.done = append(c.done, o)
	}
	for range r.IntN(3) {
		s := nextRecord(r, 0)
		c.done = append(c.done, Outcome{Of: -1, Record: &s})
	}
	for n := range c.done {
		if c.done[n].Of < 0 && r.IntN(8) == 0 {
			c.done[n].After = r.IntN(len(c.old) + 1)
		}
	}
	return c
}

// nextRecord returns a record whose content differs from all others.
func nextRecord(r *rand.Rand, n int) snapshot.Snapshot {
	s := putOf("TestX", call{1, time.Duration(r.Int64()).String(), time.Duration(r.Int64()).String()}).Document.Snapshots[0]
	s.Provider, s.ID, s.Timestamp = "openai", "", recordedAt.Add(time.Duration(r.IntN(1e6))*time.Second)
	if n > 0 {
		s.ID = snapshot.ID(nameOf("TestX"), n)
	}
	return s
}

// TestNext checks for random calls that no content is lost, that ids are stable and unique, that records are in the
// order of the calls, and that a second run changes nothing.
func TestNext(t *testing.T) {
	for seed := range uint64(sampled(2000, 50000)) {
		c := newNextCase(rand.New(rand.NewPCG(seed, 0)))
		before := slices.Clone(c.old)
		next, places := Next(nameOf("TestX"), c.old, c.done, c.drop)
		require.Equal(t, before, c.old, "seed %d: it is pure", seed)
		require.Len(t, places, len(c.done))
		c.requireKept(t, seed, next, places)
		c.requireOrder(t, seed, next, places)
		again := make([]Outcome, len(places))
		for n, at := range places {
			again[n].Of = at
		}
		second, same := Next(nameOf("TestX"), next, again, c.drop)
		require.Equal(t, next, second, "seed %d: a second run changes nothing", seed)
		require.Equal(t, places, same)
	}
}

// requireKept checks that each call and each kept record has its record.
func (c nextCase) requireKept(t *testing.T, seed uint64, next []snapshot.Snapshot, places []int) {
	t.Helper()
	ids, called := map[string]int{}, map[string]bool{}
	for i, s := range next {
		require.NotZero(t, s.Number(), "seed %d", seed)
		require.NotContains(t, ids, s.ID, "seed %d", seed)
		ids[s.ID] = i
	}
	for n, o := range c.done {
		is := next[places[n]]
		called[is.ID] = true
		switch {
		case o.Of < 0:
			require.Equal(t, o.Record.Request, is.Request)
			require.Equal(t, o.Record.Response, is.Response)
			require.False(t, slices.ContainsFunc(c.old, func(s snapshot.Snapshot) bool { return s.ID == is.ID }), "seed %d", seed)
			continue
		case o.Record == nil:
			require.Equal(t, c.old[o.Of], is, "seed %d", seed)
			continue
		}
		was := c.old[o.Of]
		said, at := o.Record.Response, o.Record.Timestamp
		if o.Answered {
			said = was.Response
		}
		if o.Answered && !o.Dated {
			at = was.Timestamp
		}
		require.Equal(t, was.ID, is.ID, "seed %d: ids are stable", seed)
		require.Equal(t, o.Record.Request, is.Request)
		require.Equal(t, said, is.Response)
		require.Equal(t, at, is.Timestamp)
	}
	for i, s := range c.old {
		_, left := ids[s.ID]
		require.Equal(t, !c.drop || called[s.ID], left, "seed %d: record %d", seed, i)
		if left && !called[s.ID] {
			require.Equal(t, s, next[ids[s.ID]])
		}
	}
	if c.drop {
		require.Len(t, next, len(c.done))
	}
}

// requireOrder checks that old records keep their order, and that calls are in their order as far as possible.
func (c nextCase) requireOrder(t *testing.T, seed uint64, next []snapshot.Snapshot, places []int) {
	t.Helper()
	var stayed []string
	for _, s := range c.old {
		if slices.ContainsFunc(next, func(is snapshot.Snapshot) bool { return is.ID == s.ID }) {
			stayed = append(stayed, s.ID)
		}
	}
	var found []string
	for _, is := range next {
		if slices.Contains(stayed, is.ID) {
			found = append(found, is.ID)
		}
	}
	require.Equal(t, stayed, found, "seed %d", seed)
	var of []int
	held := slices.ContainsFunc(c.done, func(o Outcome) bool { return o.After > 0 }) // a new record is further down
	for n, o := range c.done {
		switch {
		case o.Of >= 0:
			of = append(of, o.Of)
		case o.After > 0:
			for i, is := range next[places[n]:] {
				behind := slices.ContainsFunc(c.old[:o.After], func(s snapshot.Snapshot) bool { return s.ID == is.ID })
				require.False(t, behind, "seed %d: a new call is behind those that After counts, and %d is not", seed, i)
			}
		case n > 0 && held:
			require.Less(t, places[n-1], places[n], "seed %d: a new call is behind the one before it", seed)
		case n > 0:
			require.Equal(t, places[n-1]+1, places[n], "seed %d: a new call follows the one before it", seed)
		}
	}
	if slices.IsSorted(of) && !held {
		require.True(t, slices.IsSorted(places), "seed %d: %v", seed, places)
	}
}
