package traceforgetest

import (
	"github.com/traceforge/traceforge-go/modelio"
	"github.com/traceforge/traceforge-go/snapshot"
)

// An answered call is one that got its answer: from a record of the tape, or from a take.
type answered struct {
	record int
	take   *take // nil: the record
}

// Session returns what the test has recorded or replayed so far of one model, in the order of
// the calls, as a Model IO session (MIO). The prompt of an interaction is the canonical request
// and its response_content the canonical response, as their hashes in the snapshot cover them,
// so the session of a replay has the core of the recording's but for its mode. The provider and
// the model are those of the snapshots. A snapshot that cannot be read fails the test at once.
func (r *Recorder) Session(provider, model string) *modelio.Session {
	r.t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	session := modelio.NewSession(provider, model)
	if r.mode == replay {
		session.Mode = modelio.ModeReplay
	}
	for _, a := range r.answered {
		name, s, err := r.snapshotOf(a)
		if err == nil && s != nil && name == provider && s.Request.Model == model {
			err = appendCall(session, s)
		}
		if err != nil {
			r.t.Fatalf("traceforge: session of %s/%s: %v", provider, model, err)
		}
	}
	return session
}

// snapshotOf returns the snapshot of an answered call, nil for one that has no whole answer.
func (r *Recorder) snapshotOf(a answered) (provider string, s *snapshot.Snapshot, err error) {
	if a.take == nil {
		sealed, err := r.tape.load(r.tape.entries[a.record])
		if err != nil {
			return "", nil, err
		}
		s, err = sealed.Snapshot()
		return sealed.Entry.Provider, s, err
	}
	if how := a.take.ended(); how == underWay || r.transient(how) {
		return "", nil, nil
	}
	g, f := r.golden(a.take)
	if f != nil {
		return "", nil, f
	}
	return a.take.provider, &g.snapshot, nil
}

func appendCall(session *modelio.Session, s *snapshot.Snapshot) error {
	prompt, err := s.Request.Core(s.Source.Ignored)
	if err != nil {
		return err
	}
	response, err := s.Response.Core()
	if err != nil {
		return err
	}
	session.Append(string(prompt), string(response))
	last := &session.Interactions[len(session.Interactions)-1]
	last.LatencyMS = &s.Response.LatencyMS
	if u := s.Response.Usage; u != nil {
		last.TokensInput, last.TokensOutput = u.Input, u.Output
	}
	return nil
}
