package session

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/modelio"
)

// A [ReplayError] wraps one of these.
var (
	// ErrNotFound means that a session contains no answer to a request.
	ErrNotFound = errors.New("no such prompt in the session")
	// ErrSpent means that all answers to a request were already replayed.
	ErrSpent = errors.New("asked once more than recorded")
	// ErrTampered means that a response_content does not match its response_hash (MI7).
	ErrTampered = errors.New("response_hash is not that of response_content")
)

// A ReplayError reports why a session did not answer a request.
type ReplayError struct {
	PromptHash canon.Hash // hash of the request
	Nearest    int        // index of the interaction that is closest to an answer, or -1
	Err        error      // wraps one of the errors above
}

func (e *ReplayError) Error() string {
	return fmt.Sprintf("replay session: prompt %s: %v", e.PromptHash, e.Err)
}

// Unwrap returns e.Err.
func (e *ReplayError) Unwrap() error { return e.Err }

// ReplayOptions configure how a session is replayed. With the zero value, each request is answered by its hash.
type ReplayOptions struct {
	// Sequential answers the n-th call with the n-th interaction, whatever the request is.
	Sequential bool
	// Prompt returns the prompt whose hash is in the session; nil means [RequestCore].
	Prompt func(*modelio.GenerateRequest) ([]byte, error)
}

// A Replayer is a [modelio.Model] that answers from a session. It is safe for concurrent use.
type Replayer struct {
	session *Session
	opts    ReplayOptions

	mu     sync.Mutex
	played []bool // for each interaction
}

// Replay returns a model that answers a request with the first interaction with its prompt_hash that was not yet
// replayed. So a request that was made n times gets its n answers in order. The session must not be changed afterwards.
func Replay(s *Session, opts ReplayOptions) *Replayer {
	r := &Replayer{session: s, opts: opts, played: make([]bool, len(s.Interactions))}
	if r.opts.Prompt == nil {
		r.opts.Prompt = RequestCore
	}
	return r
}

// Generate answers from the session. A streamed answer has one chunk for each part, because a session does not contain
// the original chunks. Refs of tool calls are call_1, call_2, … as recorded. A response_content that is not a response
// core, as in sessions from other programs, becomes the text of the answer.
//
// Errors are a [*ReplayError] if the session has no answer, and the [*RecordedError] that was recorded in place of an
// answer. An answer is never made up.
func (r *Replayer) Generate(ctx context.Context, req *modelio.GenerateRequest,
	stream modelio.StreamFunc) (*modelio.GenerateResponse, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	prompt, err := r.opts.Prompt(req)
	if err != nil {
		return nil, fmt.Errorf("replay session: %w", err)
	}
	in, err := r.take(canon.Sum(prompt))
	if err != nil {
		return nil, err
	}
	resp, err := parseResponse(in.ResponseContent)
	if err != nil {
		return nil, err
	}
	if stream == nil {
		return resp, nil
	}
	for _, part := range resp.Message.Content {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		chunk := &modelio.GenerateResponseChunk{Role: modelio.RoleModel, Content: []modelio.Part{part}}
		if err := stream(ctx, chunk); err != nil {
			return nil, err
		}
	}
	return resp, nil
}

// take returns the interaction that answers a prompt, and marks it as replayed.
func (r *Replayer) take(prompt canon.Hash) (*Interaction, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	times, last, nearest := 0, -1, -1 // of the prompt's interactions, and the first of any prompt that was not replayed
	for place := range r.session.Interactions {
		in := &r.session.Interactions[place]
		switch isIts := r.opts.Sequential || in.PromptHash == prompt; {
		case isIts && r.played[place]:
			times, last = times+1, place
		case isIts && canon.Sum(toUTF8(in.ResponseContent)) != in.ResponseHash:
			return nil, &ReplayError{prompt, place, fmt.Errorf("interaction %d: %w", place, ErrTampered)}
		case isIts:
			r.played[place] = true
			return in, nil
		case nearest < 0 && !r.played[place]:
			nearest = place
		}
	}
	return nil, r.miss(prompt, times, last, nearest)
}

// miss returns the error for a prompt without an answer. For a prompt that was not recorded it names the first
// interaction that was not yet replayed: hashes say nothing about similarity, and most likely the prompt is a changed
// version of that one's.
func (r *Replayer) miss(prompt canon.Hash, times, last, nearest int) error {
	total := len(r.session.Interactions)
	switch {
	case r.opts.Sequential:
		return &ReplayError{prompt, total - 1, fmt.Errorf("%w: all %d interactions were replayed", ErrSpent, total)}
	case times > 0:
		return &ReplayError{prompt, last,
			fmt.Errorf("%w: it was recorded %d times, last as interaction %d", ErrSpent, times, last)}
	case nearest < 0:
		return &ReplayError{prompt, -1, fmt.Errorf("%w: all of its %d interactions were replayed", ErrNotFound, total)}
	}
	return &ReplayError{prompt, nearest,
		fmt.Errorf("%w; the nearest is interaction %d, the first that was not replayed: %s",
			ErrNotFound, nearest, r.session.Interactions[nearest].PromptHash)}
}
