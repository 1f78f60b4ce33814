package modelio_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/traceforge/traceforge-go/modelio"
)

// echo is a model that repeats what it is told, a word at a time where it streams.
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

func ExampleModelFunc() {
	var model modelio.Model = modelio.ModelFunc(echo)
	req := &modelio.GenerateRequest{Messages: []modelio.Message{
		{Role: modelio.RoleUser, Content: []modelio.Part{modelio.TextPart("tell me a story")}},
	}}
	resp, err := model.Generate(context.Background(), req, func(_ context.Context, chunk *modelio.GenerateResponseChunk) error {
		fmt.Printf("%q ", *chunk.Content[0].Text)
		return nil
	})
	if err != nil {
		panic(err)
	}
	fmt.Println(resp.FinishReason)
	// Output: "tell " "me " "a " "story" stop
}

func ExampleAggregate() {
	partial := &modelio.ToolRequest{Name: "getWeather", Input: json.RawMessage(`{"city":"Sea"}`), Partial: true}
	final := &modelio.ToolRequest{Name: "getWeather", Ref: "call_abc123", Input: json.RawMessage(`{"city":"Seattle"}`)}
	message, err := modelio.Aggregate([]*modelio.GenerateResponseChunk{
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
	_, err := modelio.Aggregate([]*modelio.GenerateResponseChunk{
		{Content: []modelio.Part{{ToolRequest: &modelio.ToolRequest{Name: "getWeather", Partial: true}}}},
	})
	var breach *modelio.Breach
	if errors.As(err, &breach) {
		fmt.Println(breach.Level, breach.Rule)
	}
	fmt.Println(err)
	// Output:
	// MUST stream-final
	// modelio: MUST stream-final: the stream ends with tool request "getWeather" still partial
}

func ExampleAggregateCandidates() {
	candidates, err := modelio.AggregateCandidates([]*modelio.GenerateResponseChunk{
		{Index: 0, Content: []modelio.Part{modelio.TextPart("yes")}},
		{Index: 1, Content: []modelio.Part{modelio.TextPart("n")}},
		{Index: 1, Content: []modelio.Part{modelio.TextPart("o")}},
	})
	if err != nil {
		panic(err)
	}
	fmt.Println(*candidates[0].Content[0].Text, *candidates[1].Content[0].Text)
	// Output: yes no
}

func ExampleCheck() {
	// A model that forgets to say how it ended, and that answers when nobody waits any more.
	forgetful := modelio.ModelFunc(func(_ context.Context, req *modelio.GenerateRequest, stream modelio.StreamFunc) (*modelio.GenerateResponse, error) {
		resp, err := echo(context.Background(), req, stream)
		if err == nil {
			resp.FinishReason = ""
		}
		return resp, err
	})
	info := modelio.ModelInfo{Supports: modelio.Capabilities{SystemRole: true}}
	fmt.Println(modelio.Check(context.Background(), modelio.ModelFunc(echo), info))
	fmt.Println(modelio.Check(context.Background(), forgetful, info))
	// Output:
	// <nil>
	// modelio: DEFINED finish-reason: finishReason is "", not stop, length, blocked or other (text, text streamed, system, system streamed, constrained, constrained streamed)
	// modelio: ADDED cancel: the request is answered (cancelled context)
}

func ExampleInfoOf() {
	info := modelio.InfoOf(modelio.ModelFunc(echo)) // it declares nothing
	fmt.Println(info.Supports.Tools, info.Supports.Constrained)
	// Output: true all
}

func ExampleSimulate() {
	req := &modelio.GenerateRequest{
		Messages: []modelio.Message{
			{Role: modelio.RoleSystem, Content: []modelio.Part{modelio.TextPart("Answer briefly.")}},
			{Role: modelio.RoleUser, Content: []modelio.Part{modelio.TextPart("Who was Ada?")}},
		},
		Output: &modelio.OutputConfig{Format: "json", Schema: json.RawMessage(`{"type":"string"}`)},
	}
	simulated := modelio.Simulate(req, modelio.ModelInfo{})
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

// A part of each kind.
func ExamplePart() {
	signed := modelio.ReasoningPart("They ask about the weather.")
	signed.Metadata = modelio.Object{"thoughtSignature": json.RawMessage(`"g-1234567890"`)}
	message := modelio.Message{Role: modelio.RoleModel, Content: []modelio.Part{
		modelio.TextPart("Hello"),
		modelio.MediaPart("image/png", "data:image/png;base64,iVBORw0KGgo="),
		signed,
		{ToolRequest: &modelio.ToolRequest{Name: "getWeather", Ref: "call_1", Input: json.RawMessage(`{"city":"Seattle"}`)}},
		{ToolResponse: &modelio.ToolResponse{Name: "getWeather", Ref: "call_1", Output: json.RawMessage(`{"celsius":15}`)}},
		{Custom: modelio.Object{"mine": json.RawMessage(`true`)}},
	}}
	for _, part := range message.Content {
		text, err := json.Marshal(part)
		if err != nil {
			panic(err)
		}
		fmt.Println(string(text))
	}
	// Output:
	// {"text":"Hello"}
	// {"media":{"contentType":"image/png","url":"data:image/png;base64,iVBORw0KGgo="}}
	// {"metadata":{"thoughtSignature":"g-1234567890"},"reasoning":"They ask about the weather."}
	// {"toolRequest":{"input":{"city":"Seattle"},"name":"getWeather","ref":"call_1"}}
	// {"toolResponse":{"name":"getWeather","output":{"celsius":15},"ref":"call_1"}}
	// {"custom":{"mine":true}}
}

// What a field cannot hold, and what nobody knows, is kept in Unknown.
func ExampleMessage() {
	const text = `{"content":[{"toolRequest":{"input":{"n":9007199254740993},"name":"t","partial":false}}],"metadata":null,"note":1,"role":"model"}`
	var message modelio.Message
	if err := json.Unmarshal([]byte(text), &message); err != nil {
		panic(err)
	}
	again, _ := json.Marshal(message)
	fmt.Println(string(again) == text, message.Content[0].ToolRequest.Partial, string(message.Unknown["note"]))
	// Output: true false 1
}

func ExampleFormatError() {
	var message modelio.Message
	err := json.Unmarshal([]byte(`{"role":"user","content":[{"text":"a"},{"text":5}]}`), &message)
	var format *modelio.FormatError
	if errors.As(err, &format) {
		fmt.Println(format.Pointer)
	}
	fmt.Println(err)
	// Output:
	// /content/1/text
	// modelio: message: /content/1/text: want a string, got a number
}
