package genkittraceforge_test

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/firebase/genkit/go/ai"
	"github.com/firebase/genkit/go/genkit"

	genkittraceforge "github.com/traceforge/traceforge-go/adapters/genkit"
	"github.com/traceforge/traceforge-go/modelio"
)

// In a test, rec is a *traceforgetest.Recorder.
func ExampleMiddleware() {
	ctx := context.Background()
	rec := new(tape)
	g := genkit.Init(ctx)
	genkit.DefineModel(g, "my/model", everything(), echo)
	text, err := genkit.GenerateText(ctx, g,
		ai.WithModelName("my/model"),
		ai.WithPrompt("Say hello"),
		ai.WithMiddleware(genkittraceforge.Middleware(rec, "my/model")),
	)
	fmt.Println(text, err, len(rec.entries))
	// Output: Say hello <nil> 1
}

func ExampleModel() {
	ctx := context.Background()
	rec := new(tape)
	ask := func(rec genkittraceforge.Recorder, g *genkit.Genkit, live ai.Model) {
		model := genkittraceforge.Model(rec, g, "traceforge/model", live, nil)
		fmt.Println(genkit.GenerateText(ctx, g, ai.WithModel(model), ai.WithPrompt("Say hello")))
	}
	g := genkit.Init(ctx)
	ask(rec, g, genkit.DefineModel(g, "my/model", everything(), echo))
	ask(rec.rewound(), genkit.Init(ctx), nil)
	// Output:
	// Say hello <nil>
	// Say hello <nil>
}

func ExampleFromModel() {
	ctx := context.Background()
	model := genkittraceforge.FromModel(genkit.DefineModel(genkit.Init(ctx), "my/model", &ai.ModelOptions{Label: "Mine"}, echo))
	info := modelio.InfoOf(model)
	fmt.Println(info.Label, modelio.Check(ctx, model, info))
	// Output: Mine <nil>
}

func ExampleFromRequest() {
	req, err := genkittraceforge.FromRequest(&ai.ModelRequest{Messages: []*ai.Message{ai.NewUserTextMessage("hi")}})
	print(req, err)
	// Output: {"messages":[{"content":[{"text":"hi"}],"role":"user"}]}
}

func ExampleToRequest() {
	req, err := genkittraceforge.ToRequest(&modelio.GenerateRequest{
		Messages: []modelio.Message{{Role: modelio.RoleUser, Content: []modelio.Part{modelio.TextPart("hi")}}},
	})
	fmt.Println(req.Messages[0].Text(), err)
	// Output: hi <nil>
}

func ExampleFromResponse() {
	resp, err := genkittraceforge.FromResponse(&ai.ModelResponse{Message: ai.NewModelTextMessage("hi"), FinishReason: ai.FinishReasonStop})
	print(resp, err)
	// Output: {"finishReason":"stop","message":{"content":[{"text":"hi"}],"role":"model"}}
}

func ExampleToResponse() {
	resp, err := genkittraceforge.ToResponse(&modelio.GenerateResponse{
		Message:      &modelio.Message{Role: modelio.RoleModel, Content: []modelio.Part{modelio.TextPart("hi")}},
		FinishReason: modelio.FinishStop,
	})
	fmt.Println(resp.Text(), resp.FinishReason, err)
	// Output: hi stop <nil>
}

func ExampleFromChunk() {
	chunk, err := genkittraceforge.FromChunk(&ai.ModelResponseChunk{Index: 1, Content: []*ai.Part{ai.NewTextPart("hi")}})
	print(chunk, err)
	// Output: {"content":[{"text":"hi"}],"index":1}
}

func ExampleToChunk() {
	chunk, err := genkittraceforge.ToChunk(&modelio.GenerateResponseChunk{Content: []modelio.Part{modelio.ReasoningPart("hm")}})
	fmt.Println(chunk.Reasoning(), err)
	// Output: hm <nil>
}

func print(v any, err error) {
	if err != nil {
		panic(err)
	}
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	fmt.Println(string(text))
}
