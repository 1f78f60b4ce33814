package traceforgetest

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/internal/drift"
	"github.com/traceforge/traceforge-go/snapshot"
)

// commit writes what was recorded, if the test passed: a test that failed, panicked or was
// skipped leaves the store as it was.
func (r *Recorder) commit() {
	r.t.Helper()
	if r.t.Skipped() {
		return
	}
	goldens := r.goldens()
	if r.t.Failed() {
		if len(r.takes) > 0 {
			r.t.Logf("traceforge: the test failed, so %s not recorded and the snapshots are as they were", isAre(len(r.takes), "call was", "calls were"))
		}
		return
	}
	change, final, err := r.pair(goldens)
	if err == nil {
		err = r.verify(final, goldens)
	}
	if err == nil {
		err = refuseSecrets(change)
	}
	if err == nil && len(change.Put)+len(change.Remove) > 0 {
		err = r.store.Commit(change)
	}
	if err != nil {
		r.fail(r.asFailure(err))
	}
}

// goldens makes the snapshots of the takes. A call that failed for now and was made again with
// success is one call.
func (r *Recorder) goldens() []*golden {
	succeeded := map[key]bool{}
	for _, tk := range r.takes {
		tk.stop()
		if !r.transient(tk.outcome) {
			succeeded[tk.key.call()] = true
		}
	}
	reported := map[key]bool{}
	var goldens []*golden
	for _, tk := range r.takes {
		call := tk.key.call()
		if r.transient(tk.outcome) {
			if succeeded[call] || reported[call] {
				continue
			}
			reported[call] = true
		}
		g, f := r.golden(tk)
		if f != nil {
			r.fail(f)
			continue
		}
		goldens = append(goldens, g)
	}
	return goldens
}

// transient reports whether an outcome is one that the next try may better.
func (r *Recorder) transient(how outcome) bool {
	return how == retryable || how == failed && !r.transportErrors
}

// A recorded is one of the test's records in the store; snapshot is nil where it is broken.
type recorded struct {
	entry     snapshot.Entry
	snapshot  *snapshot.Snapshot
	untouched bool // the file is as it was written
	taken     bool
}

// pair holds the goldens against the records of the test, by prompt hash first and then in
// order, or by likeness where calls were added or removed (design R11). A record whose core did
// not change stays as it is; the others are replaced in place, so that the change shows as an
// edit; what has no counterpart is added or removed. final is what the test's records will be,
// in their order.
func (r *Recorder) pair(goldens []*golden) (c snapshot.Change, final []snapshot.Record, err error) {
	old, last := r.recorded()
	for i, o := range counterparts(goldens, old) {
		g := goldens[i]
		s := &g.snapshot
		if o == nil {
			last++
			s.Source.Ordinal = last
		} else {
			s.Source.Ordinal = ordinal(o.entry)
		}
		s.ID = snapshot.ID(r.place.pkg, r.t.Name(), s.Source.Ordinal)
		if err := s.Seal(); err != nil {
			return c, nil, fmt.Errorf("sealing the recording: %w", err)
		}
		if o != nil && r.unchanged(o, g) {
			final = append(final, snapshot.Record{Provider: o.entry.Provider, Snapshot: o.snapshot})
			continue
		}
		if o != nil && o.entry.Provider != g.take.provider {
			c.Remove = append(c.Remove, o.entry)
		}
		record := snapshot.Record{Provider: g.take.provider, Snapshot: s}
		c.Put = append(c.Put, record)
		c.Blobs = append(c.Blobs, g.blobs...)
		final = append(final, record)
	}
	for _, o := range old {
		switch {
		case !o.taken:
			c.Remove = append(c.Remove, o.entry)
		case r.mode == updateNew && o.snapshot != nil:
			final = append(final, snapshot.Record{Provider: o.entry.Provider, Snapshot: o.snapshot})
		}
	}
	slices.SortFunc(final, func(a, b snapshot.Record) int {
		return cmp.Compare(a.Snapshot.Source.Ordinal, b.Snapshot.Source.Ordinal)
	})
	return c, final, nil
}

// recorded returns the test's records, and the highest of their ordinals. Where only missing
// calls are recorded, none of the records can be replaced.
func (r *Recorder) recorded() (old []*recorded, last int) {
	for _, entry := range r.tape.entries {
		o := &recorded{entry: entry, taken: r.mode == updateNew}
		if sealed, err := r.store.Load(entry); err == nil {
			if o.snapshot, err = sealed.Snapshot(); err != nil {
				o.snapshot = nil
			}
			o.untouched = sealed.Canonical()
		}
		old = append(old, o)
		last = max(last, ordinal(entry))
	}
	return old, last
}

// counterparts returns for each golden the record that it replaces or confirms, nil for none.
func counterparts(goldens []*golden, old []*recorded) []*recorded {
	pairs := make([]*recorded, len(goldens))
	pair := func(i int, o *recorded) { o.taken, pairs[i] = true, o }
	for i, g := range goldens {
		for _, o := range old {
			if !o.taken && o.snapshot != nil && o.snapshot.Request.PromptHash == g.take.prompt && o.entry.Provider == g.take.provider {
				pair(i, o)
				break
			}
		}
	}
	if unpaired(pairs) != untaken(old) {
		for _, n := range neighbours(goldens, pairs, old) {
			if pairs[n.golden] == nil && !n.record.taken {
				pair(n.golden, n.record)
			}
		}
	}
	for i := range goldens {
		for _, o := range old {
			if pairs[i] == nil && !o.taken {
				pair(i, o)
			}
		}
	}
	return pairs
}

func unpaired(pairs []*recorded) (n int) {
	for _, o := range pairs {
		if o == nil {
			n++
		}
	}
	return n
}

func untaken(old []*recorded) (n int) {
	for _, o := range old {
		if !o.taken {
			n++
		}
	}
	return n
}

// A candidatePair is a golden and a record that it may replace.
type candidatePair struct {
	golden int
	record *recorded
	size   int // of what differs
}

// maxNeighbours bounds how many pairs are compared.
const maxNeighbours = 10_000

// neighbours returns the pairs of what is left, the most alike first. Where calls were added
// or removed, order alone would pair each of the changed ones with another's record.
func neighbours(goldens []*golden, pairs []*recorded, old []*recorded) []candidatePair {
	if unpaired(pairs)*untaken(old) > maxNeighbours {
		return nil
	}
	var found []candidatePair
	for i, g := range goldens {
		for _, o := range old {
			if pairs[i] != nil || o.taken || o.snapshot == nil || o.entry.Provider != g.take.provider || o.snapshot.Request.API != g.take.stored.API {
				continue
			}
			differences, err := drift.Requests(&o.snapshot.Request, &g.take.stored, nil)
			if err == nil {
				found = append(found, candidatePair{i, o, drift.Size(differences)})
			}
		}
	}
	slices.SortStableFunc(found, func(a, b candidatePair) int { return cmp.Compare(a.size, b.size) })
	return found
}

// ordinal is the n of an entry's id.
func ordinal(e snapshot.Entry) int {
	parts := strings.Split(e.ID, "-")
	n, err := strconv.Atoi(parts[max(0, len(parts)-2)])
	if err != nil { // unreachable: the store finds a test's entries by their ids
		return 0
	}
	return n
}

// unchanged reports whether a record says the same as the golden and is whole.
func (r *Recorder) unchanged(o *recorded, g *golden) bool {
	if o.snapshot == nil || !o.untouched || o.entry.Provider != g.take.provider ||
		o.snapshot.Request.PromptHash != g.snapshot.Request.PromptHash ||
		o.snapshot.Response.ResponseHash != g.snapshot.Response.ResponseHash ||
		o.snapshot.Response.Status != g.snapshot.Response.Status ||
		o.snapshot.Response.Incomplete != g.snapshot.Response.Incomplete ||
		g.snapshot.Response.TimingMS != nil && o.snapshot.Response.TimingMS == nil {
		return false
	}
	for _, ref := range append([]canon.Hash{o.snapshot.Response.RawOutputRef, o.snapshot.Response.OutputRef}, o.snapshot.Request.Blobs...) {
		if ref == "" {
			continue
		}
		if _, err := r.store.Blob(ref); err != nil {
			return false
		}
	}
	return true
}

// verify looks each recording up again with the code that replays, before anything is written.
func (r *Recorder) verify(final []snapshot.Record, goldens []*golden) error {
	entries := make([]snapshot.Entry, len(final))
	written := map[snapshot.Entry]*snapshot.Sealed{}
	for i, record := range final {
		entries[i] = snapshot.Entry{ID: record.Snapshot.ID, Provider: record.Provider}
		request := &record.Snapshot.Request
		written[entries[i]] = &snapshot.Sealed{Entry: entries[i], PromptHash: request.PromptHash, WireHash: request.WireHash}
	}
	t := newTape(entries, func(e snapshot.Entry) (*snapshot.Sealed, error) { return written[e], nil })
	for _, g := range goldens {
		i, _, how, err := t.find(g.take.wire.hash, func() (key, error) {
			c, err := r.identify(g.take.wire)
			if err != nil {
				return key{}, err
			}
			return c.key, nil
		})
		if err != nil {
			return err
		}
		if how != found || final[i].Snapshot.Response.ResponseHash != g.snapshot.Response.ResponseHash {
			return fmt.Errorf("recording %s would not be found again in replay: nothing was written", g.snapshot.ID)
		}
		t.played[i] = true
	}
	return nil
}
