package modelio_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/traceforge/traceforge-go/modelio"
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

func ExampleInfoOf() {
	info := modelio.InfoOf(modelio.ModelFunc(echo)) // it declares nothing
	fmt.Println(info.Supports.Tools, info.Supports.Constrained)
	// Output: true all
}

// These are parts of each kind.
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

// Unknown keeps members without a field, and values that do not fit their field.
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
