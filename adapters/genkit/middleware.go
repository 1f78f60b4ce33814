package genkittraceforge

import (
	"context"
	"errors"

	"github.com/firebase/genkit/go/ai"

	"github.com/traceforge/traceforge-go/modelio"
)

// A Recorder records and replays the calls of a model. It is what this package needs of a
// *traceforgetest.Recorder.
type Recorder interface {
	// Model returns a model that records the calls of m or replays recorded ones. The name is
	// provider/model. While it replays, m is not called.
	Model(name string, m modelio.Model) modelio.Model
}

// Middleware returns model middleware that records and replays the calls of the model that it
// is installed around. Genkit does not tell middleware which model that is, so name must:
// provider/model, as Genkit has it, "googleai/gemini-2.5-flash".
//
// While a call is recorded, the application gets the very answer and chunks of the model; when
// it is replayed, what [ToResponse] and [ToChunk] make of the recorded ones. Latency is not
// recorded. The request is recorded as the middleware sees it: before Genkit simulates a system
// role and adds documents to the prompt for models that need it.
//
// Genkit offers a model its tools in an order that changes from run to run, and puts the results
// of parallel tool calls in the order in which they happened to be ready. So that this is no
// drift, the tools are recorded sorted by name, and the results in the order of the calls.
//
// The middleware is safe for concurrent use if rec is.
func Middleware(rec Recorder, name string) ai.ModelMiddleware {
	return func(next ai.ModelFunc) ai.ModelFunc {
		return func(ctx context.Context, req *ai.ModelRequest, stream ai.ModelStreamCallback) (*ai.ModelResponse, error) {
			c := call{next: next, request: req, stream: stream, chunks: map[*modelio.GenerateResponseChunk]*ai.ModelResponseChunk{}}
			return c.generate(ctx, rec, name)
		}
	}
}

// A call is one call of a model through the middleware.
type call struct {
	next    ai.ModelFunc
	request *ai.ModelRequest
	stream  ai.ModelStreamCallback

	// What the model itself said, if it was called. The application must get that: a plugin
	// keeps Go values in it that JSON has not, such as signatures as bytes, and looks for them in
	// the next request.
	answer *ai.ModelResponse
	chunks map[*modelio.GenerateResponseChunk]*ai.ModelResponseChunk // by what was made of them for the recorder
}

func (c *call) generate(ctx context.Context, rec Recorder, name string) (*ai.ModelResponse, error) {
	req, err := FromRequest(c.request)
	if err != nil {
		return nil, err
	}
	order(req)
	var stream modelio.StreamFunc
	if c.stream != nil {
		stream = c.replayed
	}
	resp, err := rec.Model(name, modelio.ModelFunc(c.live)).Generate(ctx, req, stream)
	if err != nil {
		return nil, err
	}
	answer := c.answer
	if answer == nil {
		if answer, err = ToResponse(resp); err != nil {
			return nil, err
		}
		ai.CalculateInputOutputUsage(c.request, answer) // as Genkit does where it calls a model
	}
	answer.Request = c.request // plugins do so, but not all and not always
	return answer, nil
}

// live calls the model itself. The recorder's request is the one that the call was made with.
func (c *call) live(ctx context.Context, _ *modelio.GenerateRequest, stream modelio.StreamFunc) (*modelio.GenerateResponse, error) {
	var callback ai.ModelStreamCallback
	var chunks []*modelio.GenerateResponseChunk
	if stream != nil {
		callback = func(ctx context.Context, chunk *ai.ModelResponseChunk) error {
			converted, err := FromChunk(chunk)
			if err != nil {
				return err
			}
			markFragments(converted)
			chunks = append(chunks, converted)
			c.chunks[converted] = chunk
			return stream(ctx, converted)
		}
	}
	resp, err := c.next(ctx, c.request, callback)
	if err != nil {
		return nil, err
	}
	if resp == nil {
		return nil, errors.New("genkit model returned neither an answer nor an error")
	}
	recorded := *resp
	recorded.Request, recorded.LatencyMs = nil, 0
	converted, err := FromResponse(&recorded)
	if err != nil {
		return nil, err
	}
	if c.answer == nil { // a recorder may repeat the call, to see whether the answers differ
		c.answer = resp
	}
	if chunk := missing(chunks, converted.Message); chunk != nil {
		if err := stream(ctx, chunk); err != nil {
			return nil, err
		}
	}
	return converted, nil
}

// replayed hands a chunk to the application.
func (c *call) replayed(ctx context.Context, chunk *modelio.GenerateResponseChunk) error {
	if original := c.chunks[chunk]; original != nil {
		return c.stream(ctx, original)
	}
	if isMissing(chunk) {
		return nil
	}
	converted, err := ToChunk(withoutMarks(chunk))
	if err != nil {
		return err
	}
	return c.stream(ctx, converted)
}
