package genkittraceforge

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/firebase/genkit/go/ai"
	"github.com/firebase/genkit/go/genkit"

	"github.com/traceforge/traceforge-go/adapters/genkit/internal/naming"
	"github.com/traceforge/traceforge-go/modelio"
)

// An ActionRecorder records and replays calls of Genkit actions other than models. A *traceforgetest.Recorder
// implements it.
type ActionRecorder interface {
	Recorder

	// Action returns a model that records the calls of m as calls of an action of the given kind.
	Action(kind, name string, m modelio.Model) modelio.Model
}

// Embedder returns an embedder that records the calls of live and replays them. It is recorded under live's name, so
// that another embedder is drift. For an application that looks up its embedder by name, define one:
// genkit.DefineEmbedder(g, "test/embedder", nil, genkittraceforge.Embedder(rec, live).Embed).
//
// Each document is recorded as a message, and each embedding as a part of the answer. The embedder is safe for
// concurrent use if rec is.
func Embedder(rec ActionRecorder, live ai.Embedder) ai.Embedder { return recordedEmbedder{live, rec} }

type recordedEmbedder struct {
	ai.Embedder
	rec ActionRecorder
}

// Embed implements [ai.Embedder].
func (e recordedEmbedder) Embed(ctx context.Context, req *ai.EmbedRequest) (*ai.EmbedResponse, error) {
	asked, err := fromDocuments("embed", req.Input, req.Options)
	if err != nil {
		return nil, err
	}
	return act(ctx, e.rec, "embed", e.Name(), asked, "embed response", (*conversion).embedded,
		func(ctx context.Context) (*ai.EmbedResponse, error) { return e.Embedder.Embed(ctx, req) })
}

// Retriever returns a retriever that records the calls of live and replays them, as [Embedder] does for embedders. It
// is safe for concurrent use if rec is.
func Retriever(rec ActionRecorder, live ai.Retriever) ai.Retriever {
	return recordedRetriever{live, rec}
}

type recordedRetriever struct {
	ai.Retriever
	rec ActionRecorder
}

// Retrieve implements [ai.Retriever].
func (r recordedRetriever) Retrieve(ctx context.Context, req *ai.RetrieverRequest) (*ai.RetrieverResponse, error) {
	asked, err := fromDocuments("retrieve", []*ai.Document{req.Query}, req.Options)
	if err != nil {
		return nil, err
	}
	return act(ctx, r.rec, "retrieve", r.Name(), asked, "retrieve response", (*conversion).retrieved,
		func(ctx context.Context) (*ai.RetrieverResponse, error) { return r.Retriever.Retrieve(ctx, req) })
}

// BackgroundModel defines a model in g, named provider/model, that records and replays how operations of live are
// started, checked and cancelled. While rec replays, live may be nil. A program that polls until an operation is done
// polls just as often in replay, but need not wait. The opts declare what the model supports; nil means everything.
// Operations can be cancelled if live supports that, or if opts has a Cancel, which is not called.
//
// BackgroundModel needs Genkit Go 1.7; background models of older versions do not work. It is safe for concurrent use
// if rec is.
func BackgroundModel(rec ActionRecorder, g *genkit.Genkit, name string, live ai.BackgroundModel,
	opts *ai.BackgroundModelOptions) ai.BackgroundModel {
	if opts == nil {
		opts = &ai.BackgroundModelOptions{ModelOptions: *supportsAll(name)}
	}
	own := *opts
	m := recordedBackgroundModel{rec, name, live}
	if opts.Cancel != nil || live != nil && live.SupportsCancel() {
		own.Cancel = m.cancel
	}
	return genkit.DefineBackgroundModel(g, name, &own, m.start, m.check)
}

type recordedBackgroundModel struct {
	rec  ActionRecorder
	name string
	live ai.BackgroundModel // may be nil in replay
}

func (m recordedBackgroundModel) start(ctx context.Context, req *ai.ModelRequest) (*ai.ModelOperation, error) {
	ordered := inOrder(req)
	asked, err := fromRequest(ordered)
	if err != nil {
		return nil, err
	}
	return m.operate(ctx, "start", asked,
		func(ctx context.Context) (*ai.ModelOperation, error) { return m.live.Start(ctx, detached(ordered)) })
}

func (m recordedBackgroundModel) check(ctx context.Context, op *ai.ModelOperation) (*ai.ModelOperation, error) {
	return m.look(ctx, "check", op, ai.BackgroundModel.Check)
}

func (m recordedBackgroundModel) cancel(ctx context.Context, op *ai.ModelOperation) (*ai.ModelOperation, error) {
	return m.look(ctx, "cancel", op, ai.BackgroundModel.Cancel)
}

// look asks the live model about a started operation.
func (m recordedBackgroundModel) look(
	ctx context.Context, kind string, op *ai.ModelOperation,
	ask func(ai.BackgroundModel, context.Context, *ai.ModelOperation) (*ai.ModelOperation, error),
) (*ai.ModelOperation, error) {
	asked, err := fromGenkit("operation", op, func(c *conversion, _ *ai.ModelOperation, asked *modelio.GenerateRequest) {
		var said operation
		c.modelOperation(op, &said)
		asked.Messages = []modelio.Message{}
		c.member(&asked.Unknown, "operation", said)
	})
	if err != nil {
		return nil, err
	}
	return m.operate(ctx, kind, asked,
		func(ctx context.Context) (*ai.ModelOperation, error) { return ask(m.live, ctx, op) })
}

// operate records the state of an operation, as the only part of an answer.
func (m recordedBackgroundModel) operate(
	ctx context.Context, kind string, asked *modelio.GenerateRequest,
	ask func(context.Context) (*ai.ModelOperation, error),
) (*ai.ModelOperation, error) {
	return act(ctx, m.rec, kind, m.name, asked, "operation", (*conversion).operations,
		func(ctx context.Context) (*ai.ModelOperation, error) {
			if m.live == nil {
				return nil, errNoModel
			}
			return ask(ctx)
		})
}

// An operation is a Genkit operation with a JSON form for errors, which Genkit's own type lacks.
type operation struct {
	ID       string                    `json:"id"`
	Done     bool                      `json:"done,omitempty"`
	Error    string                    `json:"error,omitempty"`
	Metadata modelio.Object            `json:"metadata,omitempty"`
	Output   *modelio.GenerateResponse `json:"output,omitempty"`
}

// operations converts an operation, the only element of a list.
func (c *conversion) operations(genkit *ai.ModelOperation, model *[]operation) {
	if !c.toGenkit {
		*model = make([]operation, 1)
	}
	if len(*model) != 1 {
		c.check("", fmt.Errorf("the answer has %d operations, want one", len(*model)))
		return
	}
	c.modelOperation(genkit, &(*model)[0])
}

// modelOperation converts an operation except for its action, which is the recording model.
func (c *conversion) modelOperation(genkit *ai.ModelOperation, model *operation) {
	same(c, &genkit.ID, &model.ID)
	same(c, &genkit.Done, &model.Done)
	c.object("metadata", &genkit.Metadata, &model.Metadata)
	pointer(c, "output", &genkit.Output, &model.Output, c.response)
	switch {
	case c.toGenkit && model.Error != "":
		genkit.Error = errors.New(model.Error)
	case !c.toGenkit && genkit.Error != nil:
		model.Error = genkit.Error.Error()
	}
}

// fromDocuments converts a request about documents: each becomes a message of the user.
func fromDocuments(kind string, documents []*ai.Document, options any) (*modelio.GenerateRequest, error) {
	return fromGenkit(kind+" request", &documents, func(c *conversion, _ *[]*ai.Document, asked *modelio.GenerateRequest) {
		var all []document
		list(c, "document", &documents, &all, c.document)
		asked.Messages = []modelio.Message{}
		for _, doc := range all {
			asked.Messages = append(asked.Messages,
				modelio.Message{Role: modelio.RoleUser, Content: doc.Content, Metadata: doc.Metadata})
		}
		c.member(&asked.Unknown, "options", options)
	})
}

func (c *conversion) embedded(genkit *ai.EmbedResponse, model *[]*ai.Embedding) {
	same(c, &genkit.Embeddings, model)
}

func (c *conversion) retrieved(genkit *ai.RetrieverResponse, model *[]document) {
	list(c, "document", &genkit.Documents, model, c.document)
}

var errNothing = errors.New("genkit action returned neither an answer nor an error")

// act records an action whose answer convert, which calls it what, turns into a list: each element is a custom part of
// a message. Its caller gets the answer from the elements as decoded from JSON, even while recording.
func act[G, T any](ctx context.Context, rec ActionRecorder, kind, name string, asked *modelio.GenerateRequest,
	what string, convert func(*conversion, *G, *[]T), do func(context.Context) (*G, error)) (*G, error) {
	live := modelio.ModelFunc(
		func(ctx context.Context, _ *modelio.GenerateRequest, _ modelio.StreamFunc) (*modelio.GenerateResponse, error) {
			answer, err := do(ctx)
			if err != nil || answer == nil {
				return nil, cmp.Or(err, errNothing)
			}
			values, err := fromGenkit(what, answer, convert)
			if err != nil {
				return nil, err
			}
			message := &modelio.Message{Role: modelio.RoleModel, Content: []modelio.Part{}}
			for _, value := range *values {
				var part modelio.Part
				if err := readAsJSON(value, &part.Custom); err != nil {
					return nil, fmt.Errorf("from genkit %s response: %w", kind, err)
				}
				message.Content = append(message.Content, part)
			}
			return &modelio.GenerateResponse{Message: message, FinishReason: modelio.FinishStop}, nil
		})
	resp, err := rec.Action(kind, naming.Of(name), live).Generate(ctx, asked, nil)
	if err != nil {
		return nil, err
	}
	if resp.Message == nil {
		return nil, fmt.Errorf("to genkit %s response: no message", kind)
	}
	values := make([]T, len(resp.Message.Content))
	for i, part := range resp.Message.Content {
		if err := readAsJSON(part.Custom, &values[i]); err != nil {
			return nil, fmt.Errorf("to genkit %s response: part %d: %w", kind, i, err)
		}
	}
	return toGenkit(what, &values, convert)
}
