package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/traceforge/traceforge-go/modelio"
)

// A Recorder is a [modelio.Model] that passes its calls to another model and records them in a session, streamed or
// not. It is safe for concurrent use.
type Recorder struct {
	model  modelio.Model
	header Session
	now    func() time.Time
	mu     sync.Mutex
	calls  []*Interaction // in the order in which they were made; nil for pending and failed calls
	period period         // of all calls that succeeded
	bytes  int64          // total size of their responses
}

// Record returns a recorder of calls to m. The ids become those of the session.
func Record(m modelio.Model, adapterID, modelID string) *Recorder {
	return &Recorder{model: m, header: *New(adapterID, modelID), now: time.Now}
}

// Generate calls the model. A failed call is not recorded, because a session cannot represent an error. In addition to
// the model's errors there is one for a request or response that is not JSON, and [ErrLimit]: a call beyond
// [MaxInteractions] is not made (MI4), and an answer beyond the limits of MI11 is not recorded.
func (r *Recorder) Generate(ctx context.Context, req *modelio.GenerateRequest,
	stream modelio.StreamFunc) (*modelio.GenerateResponse, error) {
	prompt, err := RequestCore(req) // before the model can change req
	if err != nil {
		return nil, fmt.Errorf("record session: %w", err)
	}
	r.mu.Lock()
	at := place(len(r.calls))
	if err := checkCount(int(at) + 1); err != nil {
		r.mu.Unlock()
		return nil, fmt.Errorf("record session: %w", err)
	}
	r.calls = append(r.calls, nil)
	r.mu.Unlock()

	began := r.now()
	resp, err := r.model.Generate(ctx, req, stream)
	if err != nil {
		return nil, err
	}
	if resp == nil {
		return nil, errors.New("record session: the model returned neither response nor error")
	}
	response, err := ResponseCore(req, resp)
	if err != nil {
		return nil, fmt.Errorf("record session: %w", err)
	}
	call, ended := newInteraction(string(prompt), string(response)), r.now()
	latency := ended.Sub(began).Milliseconds()
	call.LatencyMS = &latency
	if resp.Usage != nil {
		call.TokensInput, call.TokensOutput = copyOf(resp.Usage.InputTokens), copyOf(resp.Usage.OutputTokens)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	size := int64(len(call.ResponseContent))
	if err := cmp.Or(checkSize(at, size), checkTotal(r.bytes+size)); err != nil {
		return nil, fmt.Errorf("record session: %w", err)
	}
	r.bytes += size
	r.calls[at] = &call
	r.period.add(period{began, ended})
	return resp, nil
}

func copyOf(n *int64) *int64 {
	if n == nil {
		return nil
	}
	m := *n
	return &m
}

// Session returns the calls that have succeeded so far, in the order in which they were made, with their times and
// totals. Those are not part of the hash, so the same calls give a session with the same hash.
func (r *Recorder) Session() *Session {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.header
	for _, call := range r.calls {
		if call == nil {
			continue
		}
		in := *call
		in.I = len(s.Interactions)
		s.Interactions = append(s.Interactions, in)
	}
	if len(s.Interactions) > 0 {
		s.Summarize(r.period.began, r.period.ended)
	}
	return &s
}
