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
	// ErrNotFound says that a session has no answer to a request.
	ErrNotFound = errors.New("no such prompt in the session")
	// ErrSpent says that all the answers to a request were replayed.
	ErrSpent = errors.New("asked once more than recorded")
	// ErrTampered says that a response_content is not what its response_hash says (MI7).
	ErrTampered = errors.New("response_hash is not that of response_content")
)

// A ReplayError says why a session did not answer a request.
type ReplayError struct {
	PromptHash canon.Hash // of the request
	Nearest    int        // place of the interaction that comes nearest to an answer; -1 means none
	Err        error      // wraps one of the errors above
}

func (e *ReplayError) Error() string {
	return fmt.Sprintf("replay session: prompt %s: %v", e.PromptHash, e.Err)
}

// Unwrap returns e.Err.
func (e *ReplayError) Unwrap() error { return e.Err }

// ReplayOptions says how a session is replayed. The zero value answers each request by its hash.
type ReplayOptions struct {
	// Sequential answers the n-th call with the n-th interaction, whatever the request.
	Sequential bool
	// Prompt returns the prompt that the session has the hash of; nil means [RequestCore].
	Prompt func(*modelio.GenerateRequest) ([]byte, error)
}

// A Replayer is a [modelio.Model] that answers from a session. It is safe for concurrent use.
type Replayer struct {
	session *Session
	opts    ReplayOptions

	mu       sync.Mutex
	byPrompt map[canon.Hash][]int // places of the interactions, in order
	served   map[canon.Hash]int   // how many of these
	next     int                  // how many in all; the next place where Sequential
	done     []bool               // by place
}

// Replay returns a model that answers a request with the first interaction of its prompt_hash that was not replayed
// yet. So a request that was made n times gets its n answers in order. The session must not be changed from then on.
func Replay(s *Session, opts ReplayOptions) *Replayer {
	r := &Replayer{
		session:  s,
		opts:     opts,
		byPrompt: map[canon.Hash][]int{},
		served:   map[canon.Hash]int{},
		done:     make([]bool, len(s.Interactions)),
	}
	if r.opts.Prompt == nil {
		r.opts.Prompt = RequestCore
	}
	for place, in := range s.Interactions {
		r.byPrompt[in.PromptHash] = append(r.byPrompt[in.PromptHash], place)
	}
	return r
}

// Generate answers from the session. A streamed answer has a chunk for each part, since a session
// does not say how the answer was cut. Refs of tool calls are call_1, call_2, … as recorded. A
// response_content that is no response core, as in sessions from elsewhere, is the text of the answer.
//
// Errors are a [*ReplayError] where the session has no answer, and the [*RecordedError] that it has
// instead of an answer. There is no answer that was not recorded.
func (r *Replayer) Generate(ctx context.Context, req *modelio.GenerateRequest, stream modelio.StreamFunc) (*modelio.GenerateResponse, error) {
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
		if err := stream(ctx, &modelio.GenerateResponseChunk{Role: modelio.RoleModel, Content: []modelio.Part{part}}); err != nil {
			return nil, err
		}
	}
	return resp, nil
}

// take returns the interaction that answers a prompt, and marks it as replayed.
func (r *Replayer) take(prompt canon.Hash) (*Interaction, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	place, err := r.place(prompt)
	if err != nil {
		return nil, err
	}
	in := &r.session.Interactions[place]
	if canon.Sum(toUTF8(in.ResponseContent)) != in.ResponseHash {
		return nil, &ReplayError{prompt, place, fmt.Errorf("interaction %d: %w", place, ErrTampered)}
	}
	r.next++
	r.served[prompt]++
	r.done[place] = true
	return in, nil
}

func (r *Replayer) place(prompt canon.Hash) (int, error) {
	total := len(r.session.Interactions)
	if r.opts.Sequential {
		if r.next == total {
			return 0, &ReplayError{prompt, total - 1, fmt.Errorf("%w: all %d interactions were replayed", ErrSpent, total)}
		}
		return r.next, nil
	}
	places, served := r.byPrompt[prompt], r.served[prompt]
	switch {
	case served < len(places):
		return places[served], nil
	case served > 0:
		last := places[served-1]
		return 0, &ReplayError{prompt, last, fmt.Errorf("%w: it was recorded %d times, last as interaction %d", ErrSpent, served, last)}
	}
	return 0, r.miss(prompt)
}

// miss names the first interaction that was not replayed: with only hashes to compare, the request is most likely a
// changed form of that one.
func (r *Replayer) miss(prompt canon.Hash) error {
	for place, done := range r.done {
		if !done {
			nearest := r.session.Interactions[place].PromptHash
			return &ReplayError{prompt, place, fmt.Errorf("%w; the nearest is interaction %d, the first that was not replayed: %s", ErrNotFound, place, nearest)}
		}
	}
	return &ReplayError{prompt, -1, fmt.Errorf("%w: all of its %d interactions were replayed", ErrNotFound, len(r.done))}
}
