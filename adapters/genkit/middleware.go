package genkittraceforge

import (
	"context"
	"errors"
	"slices"

	"github.com/firebase/genkit/go/ai"

	"github.com/traceforge/traceforge-go/modelio"
)

// A Recorder records and replays the calls of a model. A *traceforgetest.Recorder implements it.
type Recorder interface {
	// Model returns a model that records the calls of m or replays recorded ones. The name is provider/model. m is not
	// called in replay.
	Model(name string, m modelio.Model) modelio.Model
}

// Middleware returns model middleware that records and replays the calls of the model that it wraps. Genkit does not
// tell middleware which model that is, so the name must: provider/model, as in Genkit, such as
// "googleai/gemini-2.5-flash".
//
// The request is recorded as the middleware sees it: before Genkit simulates a system role, adds documents to the
// prompt or downloads media for models that need it. Tools are recorded sorted by name, and the results of parallel
// tools in the order of their calls, because Genkit leaves both orders to chance. Latency is not recorded.
//
// An application gets the same answer while recording as in replay: the model's answer as decoded from JSON. Usage that
// Genkit counts itself (characters, images) is counted again.
//
// The middleware is safe for concurrent use if rec is.
func Middleware(rec Recorder, name string) ai.ModelMiddleware {
	return middleware{rec, name}.around
}

// A middleware has methods in place of closures. Closures are inlined into the application's functions, and would be
// taken for the source of the call.
type middleware struct {
	rec  Recorder
	name string
}

func (m middleware) around(next ai.ModelFunc) ai.ModelFunc { return recordedModel{m, next}.generate }

// A recordedModel is a Genkit model wrapped by a recorder.
type recordedModel struct {
	middleware
	live ai.ModelFunc
}

func (m recordedModel) generate(ctx context.Context, req *ai.ModelRequest,
	send ai.ModelStreamCallback) (*ai.ModelResponse, error) {
	ordered := inOrder(req)
	asked, err := fromRequest(ordered)
	if err != nil {
		return nil, err
	}
	// The model gets a Genkit request, because plugins look for Go values in its configuration.
	live := modelio.ModelFunc(
		func(ctx context.Context, _ *modelio.GenerateRequest, stream modelio.StreamFunc) (*modelio.GenerateResponse, error) {
			return generate(ctx, m.live, detached(ordered), stream)
		})
	said, err := m.rec.Model(m.name, live).Generate(ctx, asked, converted(send, toChunk))
	if err != nil {
		return nil, err
	}
	resp, err := toResponse(said)
	if err != nil {
		return nil, err
	}
	ai.CalculateInputOutputUsage(req, resp) // Genkit does this around a model, and replay has none
	resp.Request = req
	return resp, nil
}

// detached returns a copy of req with messages that a model may change. Genkit itself changes them when it simulates a
// system role, adds documents or downloads media. The next turn would then contain changes that a replay, which calls
// no model, does not have.
func detached(req *ai.ModelRequest) *ai.ModelRequest {
	own := *req
	own.Messages = make([]*ai.Message, len(req.Messages))
	for i, message := range req.Messages {
		changeable := *message
		changeable.Content = slices.Clone(message.Content)
		own.Messages[i] = &changeable
	}
	return &own
}

// generate calls a Genkit model.
func generate(ctx context.Context, model ai.ModelFunc, req *ai.ModelRequest,
	stream modelio.StreamFunc) (*modelio.GenerateResponse, error) {
	resp, err := model(ctx, req, converted(stream, fromChunk))
	if err != nil {
		return nil, err
	}
	if resp == nil {
		return nil, errors.New("genkit model returned neither an answer nor an error")
	}
	return fromResponse(resp)
}
