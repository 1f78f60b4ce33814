package recorder

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/internal/provider"
	"github.com/traceforge/traceforge-go/modelio"
	"github.com/traceforge/traceforge-go/snapshot"
)

// An origin is the record whose answer a take adopted instead of making its call.
type origin struct {
	record snapshot.Snapshot
	place  int        // index of the record that the take replaces; -1 if it is not known
	stale  canon.Hash // see snapshot.Response.Stale
	lifted string     // see take
	why    string     // what changed, in words; "" if the request shows it
}

// adopt answers a call with the answer of a record. The program gets that answer, and the test records it with its old
// time and latency, through the code for live calls. So the new record is proven too.
func (r *run) adopt(c *call, from *tape, i int, o *origin) (*servedRecord, error) {
	o.record = from.records[i]
	stored := &o.record.Response
	source := r.Source()
	// a program's function is the command that was run
	if was := &o.record.Source; o.place >= 0 && r.Package != snapshot.ProgramPackage {
		source.File, source.Line, source.Function = was.File, was.Line, was.Function
	}
	tk := r.newTake(c)
	tk.origin, tk.source, tk.lifted = o, source, cmp.Or(o.lifted, o.record.Source.Nondeterministic)
	tk.how, tk.status = outcomeOf(stored.Incomplete), stored.Status
	tk.began = r.steps.Add(1)
	tk.heard = tk.began
	s := &servedRecord{record: &o.record}
	if stored.RawOutputRef == "" {
		tk.how, tk.err = failed, replayedTransportError(&o.record)
		if tk.err == nil {
			return nil, errors.New("there is no answer that could be adopted")
		}
	} else {
		body, err := from.doc.Raw(i)
		if err == nil {
			s, err = r.restore(c, from, i, body)
		}
		if err != nil {
			return nil, err
		}
		tk.header = http.Header{}
		for name, values := range s.record.Response.Headers {
			tk.header[http.CanonicalHeaderKey(name)] = slices.Clone(values)
		}
		tk.body.add(s.body)
	}
	from.plays[i].played = true
	r.takes = append(r.takes, tk)
	r.answered = append(r.answered, testCall{take: tk})
	return s, tk.err
}

// adoptFrom serves a call from the first whole record of some tapes that has the call's request, or returns nil. The
// record must have the answer of a model that was given to this very request, and the request no id that this run
// bought.
func (r *run) adoptFrom(tapes []*tape, c *call, lifted string) *servedRecord {
	follows := r.follows(c, nil, isLive)
	for _, t := range tapes {
		find := search{r, t}.find
		for i, how := find(c); how == found; i, how = find(c) {
			t.plays[i].played = true
			was := &t.records[i]
			if was.Response.RawOutputRef == "" || was.Response.Stale != "" || was.Source.Scripted != "" || follows ||
				!t.whole(i) {
				continue
			}
			if s, err := r.adopt(c, t, i, &origin{place: -1, lifted: lifted}); err == nil {
				return s
			}
		}
	}
	return nil
}

// outcomeOf returns the ending of a take whose record says how the answer was cut.
func outcomeOf(incomplete string) ending {
	for how, said := range cut {
		if said == incomplete {
			return how
		}
	}
	return whole
}

// date gives the record of an adopted answer the time at which it was bought, and what else belongs to that time.
func (o *origin) date(timestamp *time.Time, resp *snapshot.Response) {
	was := &o.record.Response
	*timestamp = o.record.Timestamp
	resp.LatencyMS, resp.TimingMS, resp.Stale = was.LatencyMS, slices.Clone(was.TimingMS), o.stale
}

// rekey answers a call from the store, without a network. A call that drifted adopts the answer of the record that
// replay would hold it against, which is stale then (design R11).
func (r *Recorder) rekey(c *call) (*servedRecord, error) {
	lifted, missing := r.run.lacking(c)
	if err := r.run.openTape(c.provider); err != nil {
		return nil, err
	}
	i, rules := r.run.match(c)
	switch {
	case i >= 0:
		if err := r.report.otherStep(c, i); err != nil {
			return nil, err
		}
		return r.run.serveWhole(c, i, rules)
	case r.run.tape.cancels(c):
		return nil, context.Canceled
	}
	adopted := func(tk *take) bool { // by a call with another request
		return tk.origin != nil && tk.origin.place >= 0 && tk.key != c.key && r.run.tape.key(tk.origin.place) == c.key
	}
	if slices.ContainsFunc(r.run.takes, adopted) {
		return nil, failuref(c.title()+" is recorded, and a call before it that changed has adopted its answer",
			indent(r.run.summary(c.request)), "buy what changed: "+r.run.Accept)
	}
	i, _ = r.run.like(c, nil)
	switch {
	case missing != "" && (i < 0 || r.run.tape.records[i].Source.IsBought()):
		return nil, r.report.undeterminedFailure(c, missing)
	case i < 0 || !c.canAdopt(&r.run.tape.records[i]):
		summary := indent(r.run.summary(c.request))
		f := failuref(c.title()+" has no snapshot that it could adopt", summary, "buy it: "+r.run.Accept)
		return nil, f.missing(c.provider, summary)
	}
	switch d, err := r.run.openProofOf(&call{}, i); {
	case err != nil:
		return nil, err
	case d.raw != nil && r.run.prove(d) != nil:
		return nil, d.failure
	}
	stale := answeredBy(&r.run.tape.records[i])
	if core, _ := snapshot.RequestCore(c.request, c.ignored); canon.Sum(core) == stale {
		stale = "" // the change was undone
	}
	return r.run.adopt(c, r.run.tape, i, &origin{place: i, stale: stale, lifted: lifted})
}

// canAdopt reports whether a program that makes a call can read the answer of a record: a stream, or none.
func (c *call) canAdopt(s *snapshot.Snapshot) bool {
	streams := func(r *modelio.Request) bool { return string(r.Options["stream"]) == "true" }
	method := func(r *modelio.Request) string { return provider.MetadataWord(r.Options, "$url", "method") }
	return streams(c.request) == streams(&s.Request) && method(c.request) == method(&s.Request)
}

// answeredBy returns the hash of the core of the request that a record's answer was given to.
func answeredBy(s *snapshot.Snapshot) canon.Hash {
	if s.Response.Stale != "" {
		return s.Response.Stale
	}
	core, _ := snapshot.RequestCore(&s.Request, s.Source.Ignored) // a record has one
	return canon.Sum(core)
}
