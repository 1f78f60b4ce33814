package genkittraceforge

import (
	"cmp"
	"context"
	"errors"
	"slices"

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
	if stream != nil {
		callback = func(ctx context.Context, chunk *ai.ModelResponseChunk) error {
			converted, err := FromChunk(chunk)
			if err != nil {
				return err
			}
			c.chunks[converted] = chunk
			defer delete(c.chunks, converted)
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
	if err == nil && c.answer == nil { // a recorder may repeat the call, to see whether the answers differ
		c.answer = resp
	}
	return converted, err
}

// replayed hands a chunk to the application.
func (c *call) replayed(ctx context.Context, chunk *modelio.GenerateResponseChunk) error {
	if original := c.chunks[chunk]; original != nil {
		return c.stream(ctx, original)
	}
	converted, err := ToChunk(chunk)
	if err != nil {
		return err
	}
	return c.stream(ctx, converted)
}

// order puts in order what Genkit leaves to chance.
func order(req *modelio.GenerateRequest) {
	slices.SortStableFunc(req.Tools, func(a, b modelio.ToolDefinition) int { return cmp.Compare(a.Name, b.Name) })
	for i := 1; i < len(req.Messages); i++ {
		if req.Messages[i].Role == modelio.RoleTool {
			orderResults(req.Messages[i-1].Content, req.Messages[i].Content)
		}
	}
}

// orderResults sorts tool responses as the tool requests that they answer. Where it is not
// clear which those are, the order is the application's own.
func orderResults(requests, responses []modelio.Part) {
	position := map[string]int{}
	for i, part := range requests {
		if part.ToolRequest != nil && part.ToolRequest.Ref != "" {
			position[part.ToolRequest.Ref] = i
		}
	}
	for _, part := range responses {
		if part.ToolResponse == nil {
			return
		}
		if _, ok := position[part.ToolResponse.Ref]; !ok {
			return
		}
	}
	slices.SortStableFunc(responses, func(a, b modelio.Part) int {
		return cmp.Compare(position[a.ToolResponse.Ref], position[b.ToolResponse.Ref])
	})
}
