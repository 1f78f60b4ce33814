package genkittraceforge

import (
	"context"
	"errors"

	"github.com/firebase/genkit/go/ai"
	"github.com/firebase/genkit/go/core/api"
	"github.com/firebase/genkit/go/genkit"

	"github.com/traceforge/traceforge-go/modelio"
)

// errNoModel means that a call that is not replayed has no model.
var errNoModel = errors.New("genkittraceforge: no model to record")

// Model defines a model in g that records the calls of live and replays them, under its own name: provider/model. While
// rec replays, live may be nil, so its plugin is not needed either. The opts declare what the model supports; nil means
// everything.
func Model(rec Recorder, g *genkit.Genkit, name string, live ai.Model, opts *ai.ModelOptions) ai.Model {
	if opts == nil {
		opts = supportsAll(name)
	}
	generate := func(context.Context, *ai.ModelRequest, ai.ModelStreamCallback) (*ai.ModelResponse, error) {
		return nil, errNoModel
	}
	if live != nil {
		generate = live.Generate
	}
	return genkit.DefineModel(g, name, opts, Middleware(rec, name)(generate))
}

func supportsAll(label string) *ai.ModelOptions {
	return &ai.ModelOptions{Label: label, Supports: &ai.ModelSupports{
		Multiturn: true, Media: true, Tools: true, ToolChoice: true, SystemRole: true, Context: true,
		Constrained: ai.ConstrainedSupportAll,
	}}
}

// FromModel returns a Genkit model as a [modelio.Model], so that modeltest.TestModel can check it. It is a
// [modelio.Declarer] of what m declares to support.
func FromModel(m ai.Model) modelio.Model { return fromModel{m} }

type fromModel struct{ model ai.Model }

func (m fromModel) Generate(ctx context.Context, req *modelio.GenerateRequest,
	stream modelio.StreamFunc) (*modelio.GenerateResponse, error) {
	request, err := toRequest(req)
	if err != nil {
		return nil, err
	}
	return generate(ctx, m.model.Generate, request, stream)
}

// Info returns what the model declares in its action's metadata.
func (m fromModel) Info() modelio.ModelInfo {
	info := modelio.ModelInfo{Label: m.model.Name()}
	action, ok := m.model.(interface{ Desc() api.ActionDesc })
	if !ok {
		return info
	}
	// Genkit makes it from ModelSupports; unreadable parts are not declared.
	_ = readAsJSON(action.Desc().Metadata["model"], &info)
	return info
}
