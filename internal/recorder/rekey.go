package recorder

import (
	"context"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/snapshot"
)

// rekey answers a call from the store, without a network. A call that drifted adopts the answer of the record that
// replay would hold it against, which is stale then (design R11).
func (r *Recorder) rekey(c *call) (*servedRecord, error) {
	lifted, f := r.undetermined(c)
	if err := r.openTape(c.provider); err != nil {
		return nil, err
	}
	i, rules, err := r.tape.match(c)
	switch {
	case err != nil:
		return nil, err
	case i >= 0:
		if err := r.otherStep(c, i); err != nil {
			return nil, err
		}
		return r.serveWhole(c, i, rules)
	case r.tape.cancels(c):
		return nil, context.Canceled
	}
	i, _ = r.like(c)
	switch {
	case f != nil && (i < 0 || r.tape.records[i].Source.IsBought()):
		return nil, f
	case i < 0:
		f := failuref(c.asking()+" has no snapshot that it could adopt", indent(r.summary(c.request)), "buy it: "+r.Accept)
		f.Missing = true
		return nil, f
	}
	stale, err := answeredBy(&r.tape.records[i])
	if err != nil {
		return nil, err
	}
	switch d, err := r.dueOf(&call{}, i); {
	case err != nil:
		return nil, err
	case d.raw != nil && len(d.prove()) > 0:
		return nil, r.unproven(d)
	}
	return r.adopt(c, r.tape, i, &origin{place: i, stale: stale, lifted: lifted})
}

// answeredBy returns the hash of the core of the request that a record's answer really answered.
func answeredBy(s *snapshot.Snapshot) (canon.Hash, error) {
	if s.Response.Stale != "" {
		return s.Response.Stale, nil
	}
	core, err := snapshot.RequestCore(&s.Request, s.Source.Ignored)
	return canon.Sum(core), err
}
