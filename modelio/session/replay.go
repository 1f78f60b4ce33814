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

	mu      sync.Mutex
	waiting map[canon.Hash][]int // by key: the places of interactions that were not replayed, in order
}

// Replay returns a model that answers a request with the first interaction of its prompt_hash that was not replayed
// yet. So a request that was made n times gets its n answers in order. The session must not be changed from then on.
func Replay(s *Session, opts ReplayOptions) *Replayer {
	r := &Replayer{session: s, opts: opts, waiting: map[canon.Hash][]int{}}
	if r.opts.Prompt == nil {
		r.opts.Prompt = RequestCore
	}
	for place, in := range s.Interactions {
		key := r.key(in.PromptHash)
		r.waiting[key] = append(r.waiting[key], place)
	}
	return r
}

// key returns the key of waiting for a prompt: where Sequential is set, all prompts have one.
func (r *Replayer) key(prompt canon.Hash) canon.Hash {
	if r.opts.Sequential {
		return ""
	}
	return prompt
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
	places := r.waiting[r.key(prompt)]
	if len(places) == 0 {
		return nil, r.miss(prompt)
	}
	place := places[0]
	in := &r.session.Interactions[place]
	if canon.Sum(toUTF8(in.ResponseContent)) != in.ResponseHash {
		return nil, &ReplayError{prompt, place, fmt.Errorf("interaction %d: %w", place, ErrTampered)}
	}
	r.waiting[r.key(prompt)] = places[1:]
	return in, nil
}

// miss returns the error of a prompt that nothing answers. For one that was not recorded it names the first interaction
// that was not replayed: hashes do not tell what is alike, and most likely the prompt is a changed form of that one's.
func (r *Replayer) miss(prompt canon.Hash) error {
	total := len(r.session.Interactions)
	if r.opts.Sequential {
		return &ReplayError{prompt, total - 1, fmt.Errorf("%w: all %d interactions were replayed", ErrSpent, total)}
	}
	times, last := 0, 0
	for place, in := range r.session.Interactions {
		if in.PromptHash == prompt {
			times, last = times+1, place
		}
	}
	if times > 0 {
		return &ReplayError{prompt, last, fmt.Errorf("%w: it was recorded %d times, last as interaction %d", ErrSpent, times, last)}
	}
	nearest := total
	for _, places := range r.waiting {
		if len(places) > 0 {
			nearest = min(nearest, places[0])
		}
	}
	if nearest == total {
		return &ReplayError{prompt, -1, fmt.Errorf("%w: all of its %d interactions were replayed", ErrNotFound, total)}
	}
	return &ReplayError{prompt, nearest, fmt.Errorf("%w; the nearest is interaction %d, the first that was not replayed: %s",
		ErrNotFound, nearest, r.session.Interactions[nearest].PromptHash)}
}
