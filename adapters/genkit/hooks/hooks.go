package genkithooks

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/firebase/genkit/go/ai"

	genkittraceforge "github.com/traceforge/traceforge-go/adapters/genkit"
	"github.com/traceforge/traceforge-go/adapters/genkit/internal/naming"
)

// A Recorder records and replays the calls of models and tools. A *traceforgetest.Recorder implements it.
type Recorder interface {
	genkittraceforge.Recorder

	// Tool returns a tool that records the calls of run or replays recorded ones.
	Tool(
		name string, run func(context.Context, json.RawMessage) (json.RawMessage, error),
	) func(context.Context, json.RawMessage) (json.RawMessage, error)
}

// Record returns middleware that records and replays a generation: each call of its model and of its tools. A model is
// recorded under Genkit's name, so that another model is drift. In replay neither the model nor a tool runs.
//
// The request is recorded before Genkit simulates a system role, adds documents to the prompt or downloads media for
// models that need it; see [genkittraceforge.Middleware] for what is sorted and what is left out. A tool that
// interrupts is recorded as an interrupt. If a generation is resumed, the data that resumes it is recorded too.
//
// Install it after other middleware, next to the model and the tools, so that it sees what the others have changed.
// Middleware that calls another model by itself, such as Genkit's Fallback, must come after it: the answer is then
// recorded as one of the model that was asked first.
//
// It is safe for concurrent use if rec is. genkit.DefineMiddleware registers it for prompt files, which refer to it as
// traceforge/record (Genkit Go 1.8 and later).
func Record(rec Recorder) Recording { return Recording{rec: rec} }

// A Recording is middleware that records; [Record] makes one.
type Recording struct {
	rec  Recorder
	live []string
}

// Live returns a recording that does not record the tools with these names: they run in replay too. Use it for tools
// that call a recorded model themselves, such as those of Genkit's Agents, and for tools whose effect a test or a later
// model call needs, such as read_file of Genkit's Filesystem and write_artifact of its Artifacts.
func (r Recording) Live(tools ...string) Recording {
	return Recording{rec: r.rec, live: slices.Concat(r.live, tools)}
}

// Name returns the middleware's name in prompt files. It implements [ai.Middleware].
func (Recording) Name() string { return "traceforge/record" }

// New returns the hooks of one generation. It implements [ai.Middleware].
func (r Recording) New(ctx context.Context) (*ai.Hooks, error) {
	if refused, inside := ctx.Value(toolKey{}).(*refusal); inside {
		refused.told.Store(true)
		return nil, refused
	}
	g := &generation{Recording: r}
	return &ai.Hooks{WrapGenerate: g.generate, WrapModel: g.callModel, WrapTool: g.callTool}, nil
}

// A generation is one call of Generate. Genkit passes its options only to the hook around each turn, which starts
// before the model and the tools are called, and not to the hooks around those.
type generation struct {
	Recording
	options *ai.GenerateActionOptions
}

func (g *generation) generate(ctx context.Context, params *ai.GenerateParams,
	next ai.GenerateNext) (*ai.ModelResponse, error) {
	g.options = params.Options
	return next(ctx, params)
}

func (g *generation) callModel(ctx context.Context, params *ai.ModelParams,
	next ai.ModelNext) (*ai.ModelResponse, error) {
	live := func(ctx context.Context, req *ai.ModelRequest, send ai.ModelStreamCallback) (*ai.ModelResponse, error) {
		return next(ctx, &ai.ModelParams{Request: req, Callback: send})
	}
	return genkittraceforge.Middleware(g.rec, naming.Of(g.options.Model))(live)(ctx, params.Request, params.Callback)
}
