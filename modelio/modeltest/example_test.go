package modeltest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/traceforge/traceforge-go/modelio"
	"github.com/traceforge/traceforge-go/modelio/modeltest"
)

// echo is a model that repeats the prompt, and streams it word by word.
func echo(ctx context.Context, req *modelio.GenerateRequest, stream modelio.StreamFunc) (*modelio.GenerateResponse, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	text := *req.Messages[len(req.Messages)-1].Content[0].Text
	if stream != nil {
		for _, word := range strings.SplitAfter(text, " ") {
			if err := stream(ctx, &modelio.GenerateResponseChunk{Content: []modelio.Part{modelio.TextPart(word)}}); err != nil {
				return nil, err
			}
		}
	}
	return &modelio.GenerateResponse{
		Message:      &modelio.Message{Role: modelio.RoleModel, Content: []modelio.Part{modelio.TextPart(text)}},
		FinishReason: modelio.FinishStop,
	}, nil
}

func ExampleAggregate() {
	partial := &modelio.ToolRequest{Name: "getWeather", Input: json.RawMessage(`{"city":"Sea"}`), Partial: true}
	final := &modelio.ToolRequest{Name: "getWeather", Ref: "call_abc123", Input: json.RawMessage(`{"city":"Seattle"}`)}
	message, err := modeltest.Aggregate([]*modelio.GenerateResponseChunk{
		{Content: []modelio.Part{modelio.TextPart("Let me ")}},
		{Content: []modelio.Part{modelio.TextPart("look."), {ToolRequest: partial}}},
		{Content: []modelio.Part{{ToolRequest: final}}},
	})
	if err != nil {
		panic(err)
	}
	text, _ := json.Marshal(message)
	fmt.Println(string(text))
	// Output: {"content":[{"text":"Let me look."},{"toolRequest":{"input":{"city":"Seattle"},"name":"getWeather","ref":"call_abc123"}}],"role":"model"}
}

func ExampleAggregate_breach() {
	_, err := modeltest.Aggregate([]*modelio.GenerateResponseChunk{
		{Content: []modelio.Part{{ToolRequest: &modelio.ToolRequest{Name: "getWeather", Partial: true}}}},
	})
	var breach *modeltest.Breach
	if errors.As(err, &breach) {
		fmt.Println(breach.Level, breach.Rule)
	}
	fmt.Println(err)
	// Output:
	// MUST stream-final
	// modelio: MUST stream-final: the stream ends with tool request "getWeather" still partial
}

func ExampleCheck() {
	// This model forgets its finish reason, and answers after its context has ended.
	forgetful := modelio.ModelFunc(func(_ context.Context, req *modelio.GenerateRequest, stream modelio.StreamFunc) (*modelio.GenerateResponse, error) {
		resp, err := echo(context.Background(), req, stream)
		if err == nil {
			resp.FinishReason = ""
		}
		return resp, err
	})
	info := modelio.ModelInfo{Supports: modelio.Capabilities{SystemRole: true}}
	fmt.Println(modeltest.Check(context.Background(), modelio.ModelFunc(echo), info))
	fmt.Println(modeltest.Check(context.Background(), forgetful, info))
	// Output:
	// <nil>
	// modelio: DEFINED finish-reason: finishReason is "", not stop, length, blocked or other (text, text streamed, system, system streamed, constrained, constrained streamed)
	// modelio: ADDED cancel: the request is answered (cancelled context)
}

func ExampleSimulate() {
	req := &modelio.GenerateRequest{
		Messages: []modelio.Message{
			{Role: modelio.RoleSystem, Content: []modelio.Part{modelio.TextPart("Answer briefly.")}},
			{Role: modelio.RoleUser, Content: []modelio.Part{modelio.TextPart("Who was Ada?")}},
		},
		Output: &modelio.OutputConfig{Format: "json", Schema: json.RawMessage(`{"type":"string"}`)},
	}
	simulated := modeltest.Simulate(req, modelio.ModelInfo{})
	for _, part := range simulated.Messages[0].Content {
		fmt.Println(*part.Text)
	}
	fmt.Println(len(simulated.Messages), simulated.Messages[0].Role, simulated.Output.Schema == nil)
	// Output:
	// Answer briefly.
	// Output should be in JSON format and conform to the following schema:
	//
	// ```
	// {"type":"string"}
	// ```
	//
	// Who was Ada?
	// 1 user true
}

// A rule's clause quotes the specification.
func ExampleRule_Clause() {
	fmt.Println(modeltest.RuleFinishReason.Level(), modeltest.RuleFinishReason.Clause())
	// Output: DEFINED **finishReason**: Why the generation stopped.
}

func ExampleTestModel() {
	silent := modelio.ModelFunc(func(context.Context, *modelio.GenerateRequest, modelio.StreamFunc) (*modelio.GenerateResponse, error) {
		return &modelio.GenerateResponse{FinishReason: modelio.FinishStop}, nil
	})
	fmt.Println(modeltest.TestModel(silent) != nil)
	// Output: true
}

// This model sends neither the schema nor the system message. sent returns the requests that a server received, or
// those of a recorder's Snapshots.
func ExampleCheckWire() {
	var got []modelio.Request
	model := modelio.ModelFunc(func(ctx context.Context, req *modelio.GenerateRequest, stream modelio.StreamFunc) (*modelio.GenerateResponse, error) {
		got = append(got, modelio.Request{Messages: req.Messages[len(req.Messages)-1:]})
		return echo(ctx, req, stream)
	})
	info := modelio.ModelInfo{Supports: modelio.Capabilities{Constrained: modelio.ConstrainedAll}}
	fmt.Println(modeltest.CheckWire(context.Background(), model, info, func() []modelio.Request { return got }))
	// Output:
	// modelio: MUST schema-sent: output.schema is in none of what the provider was sent (constrained)
	// modelio: MUST system-sent: what the system message says is in none of what the provider was sent (system)
}

func ExampleWarnings() {
	model := modelio.ModelFunc(func(ctx context.Context, req *modelio.GenerateRequest, stream modelio.StreamFunc) (*modelio.GenerateResponse, error) {
		text := modelio.TextPart(strings.Repeat("one, two, ", 50))
		if err := stream(ctx, &modelio.GenerateResponseChunk{Content: []modelio.Part{text}}); err != nil {
			return nil, err
		}
		return &modelio.GenerateResponse{Message: &modelio.Message{Role: modelio.RoleModel, Content: []modelio.Part{text}}}, nil
	})
	for _, warning := range modeltest.Warnings(context.Background(), model) {
		fmt.Println(warning)
	}
	// Output: modelio: MUST stream-late: an answer of 500 bytes comes in one chunk (count streamed)
}
