package session

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/traceforge/traceforge-go/modelio"
)

// A Recorder is a [modelio.Model] that hands its calls to another one and records them in a
// session, streamed or not. It is safe for concurrent use.
type Recorder struct {
	model  modelio.Model
	header Session
	mu     sync.Mutex
	calls  []*Interaction // in the order in which the calls were made; nil: under way, or failed
}

// Record returns a recorder of the calls to m. The ids are those of the session.
func Record(m modelio.Model, adapterID, modelID string) *Recorder {
	return &Recorder{model: m, header: *New(adapterID, modelID)}
}

// Generate calls the model. A call that fails is not recorded, since a session has no place for
// an error. Beside the model's errors there is that of a request or response that is not JSON.
func (r *Recorder) Generate(ctx context.Context, req *modelio.GenerateRequest, stream modelio.StreamFunc) (*modelio.GenerateResponse, error) {
	prompt, err := RequestCore(req) // before the model could change req
	if err != nil {
		return nil, fmt.Errorf("record session: %w", err)
	}
	r.mu.Lock()
	place := len(r.calls)
	r.calls = append(r.calls, nil)
	r.mu.Unlock()

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
	in := newInteraction(string(prompt), string(response))
	if resp.Usage != nil {
		in.TokensInput, in.TokensOutput = copyOf(resp.Usage.InputTokens), copyOf(resp.Usage.OutputTokens)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls[place] = &in
	return resp, nil
}

func copyOf(n *int64) *int64 {
	if n == nil {
		return nil
	}
	m := *n
	return &m
}

// Session returns the calls that have succeeded so far, in the order in which they were made. It has
// no times, so that the same calls make the same session.
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
	return &s
}
