package genkittraceforge

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/firebase/genkit/go/ai"
	"github.com/firebase/genkit/go/core"
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
	embeddings, err := act(ctx, e.rec, "embed", e.Name(), asked, func(ctx context.Context) ([]*ai.Embedding, error) {
		resp, err := e.Embedder.Embed(ctx, req)
		if err != nil || resp == nil {
			return nil, cmp.Or(err, errNothing)
		}
		return resp.Embeddings, nil
	})
	if err != nil {
		return nil, err
	}
	return &ai.EmbedResponse{Embeddings: embeddings}, nil
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
	found, err := act(ctx, r.rec, "retrieve", r.Name(), asked, func(ctx context.Context) ([]document, error) {
		resp, err := r.Retriever.Retrieve(ctx, req)
		if err != nil || resp == nil {
			return nil, cmp.Or(err, errNothing)
		}
		return eachOf("document", fromDocument)(resp.Documents)
	})
	if err != nil {
		return nil, err
	}
	documents, err := each("document", toDocument)(found)
	if err != nil {
		return nil, err
	}
	return &ai.RetrieverResponse{Documents: documents}, nil
}

// BackgroundModel defines a model in g, named provider/model, that records and replays how operations of live are
// started, checked and cancelled. While rec replays, live may be nil. A program that polls until an operation is done
// polls just as often in replay, but need not wait. The opts declare what the model supports; nil means everything.
// Operations can be cancelled if live supports that, or if opts has a Cancel, which is not called.
//
// BackgroundModel needs Genkit Go 1.7; background models of older versions do not work. It is safe for concurrent use
// if rec is.
func BackgroundModel(rec ActionRecorder, g *genkit.Genkit, name string, live ai.BackgroundModel, opts *ai.BackgroundModelOptions) ai.BackgroundModel {
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
	return m.operate(ctx, "start", asked, func(ctx context.Context) (*ai.ModelOperation, error) { return m.live.Start(ctx, detached(ordered)) })
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
	said, err := fromOperation(op)
	if err != nil {
		return nil, fmt.Errorf("from genkit operation: %w", err)
	}
	var c conversion
	asked := &modelio.GenerateRequest{Messages: []modelio.Message{}}
	c.put(&asked.Unknown, "operation", said)
	if c.err != nil {
		return nil, c.err
	}
	return m.operate(ctx, kind, asked, func(ctx context.Context) (*ai.ModelOperation, error) { return ask(m.live, ctx, op) })
}

// operate records the state of an operation, as the only part of an answer.
func (m recordedBackgroundModel) operate(
	ctx context.Context, kind string, asked *modelio.GenerateRequest, ask func(context.Context) (*ai.ModelOperation, error),
) (*ai.ModelOperation, error) {
	said, err := act(ctx, m.rec, kind, m.name, asked, func(ctx context.Context) ([]operation, error) {
		if m.live == nil {
			return nil, errNoModel
		}
		op, err := ask(ctx)
		if err != nil || op == nil {
			return nil, cmp.Or(err, errNothing)
		}
		said, err := fromOperation(op)
		return []operation{said}, err
	})
	switch {
	case err != nil:
		return nil, err
	case len(said) != 1:
		return nil, fmt.Errorf("genkittraceforge: the answer has %d operations, want one", len(said))
	}
	return said[0].toOperation()
}

// An operation is a Genkit operation with a JSON form for errors, which Genkit's own type lacks.
type operation struct {
	ID       string                    `json:"id"`
	Done     bool                      `json:"done,omitempty"`
	Error    string                    `json:"error,omitempty"`
	Metadata modelio.Object            `json:"metadata,omitempty"`
	Output   *modelio.GenerateResponse `json:"output,omitempty"`
}

// fromOperation converts an operation except for its action, which is the recording model.
func fromOperation(op *ai.ModelOperation) (operation, error) {
	var c conversion
	converted := operation{
		ID: op.ID, Done: op.Done,
		Metadata: field(&c, "metadata", op.Metadata, fromMap),
		Output:   pointer(&c, "output", op.Output, fromResponse),
	}
	if op.Error != nil {
		converted.Error = op.Error.Error()
	}
	return converted, c.failed("")
}

func (o operation) toOperation() (*ai.ModelOperation, error) {
	var c conversion
	op := &core.Operation[*ai.ModelResponse]{
		ID: o.ID, Done: o.Done,
		Metadata: field(&c, "metadata", o.Metadata, toMap),
		Output:   pointer(&c, "output", o.Output, toResponse),
	}
	if o.Error != "" {
		op.Error = errors.New(o.Error)
	}
	return op, c.failed("to genkit operation")
}

// fromDocuments converts a request about documents: each becomes a message of the user.
func fromDocuments(kind string, documents []*ai.Document, options any) (*modelio.GenerateRequest, error) {
	var c conversion
	asked := &modelio.GenerateRequest{Messages: []modelio.Message{}}
	for _, doc := range field(&c, "", documents, eachOf("document", fromDocument)) {
		asked.Messages = append(asked.Messages, modelio.Message{Role: modelio.RoleUser, Content: doc.Content, Metadata: doc.Metadata})
	}
	c.put(&asked.Unknown, "options", options)
	return asked, c.failed("from genkit " + kind + " request")
}

var errNothing = errors.New("genkit action returned neither an answer nor an error")

// act records an action whose answer is a list, each element as a custom part of a message. Its caller gets the
// elements as decoded from JSON, even while recording.
func act[T any](ctx context.Context, rec ActionRecorder, kind, name string, asked *modelio.GenerateRequest, do func(context.Context) ([]T, error)) ([]T, error) {
	live := modelio.ModelFunc(func(ctx context.Context, _ *modelio.GenerateRequest, _ modelio.StreamFunc) (*modelio.GenerateResponse, error) {
		values, err := do(ctx)
		if err != nil {
			return nil, err
		}
		message := &modelio.Message{Role: modelio.RoleModel, Content: []modelio.Part{}}
		for _, value := range values {
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
	return values, nil
}
