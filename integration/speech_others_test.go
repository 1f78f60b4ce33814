package integration_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"

	"github.com/anthropics/anthropic-sdk-go/v2"
	claudeoption "github.com/anthropics/anthropic-sdk-go/v2/option"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime/types"
	"github.com/aws/smithy-go/middleware"
	cohere "github.com/cohere-ai/cohere-go/v2"
	cohereclient "github.com/cohere-ai/cohere-go/v2/client"
	cohereoption "github.com/cohere-ai/cohere-go/v2/option"
	"github.com/cohere-ai/cohere-go/v2/v2"
	"github.com/ollama/ollama/api"
	"google.golang.org/genai"
)

func newClaude(c *http.Client) anthropic.Client {
	return anthropic.NewClient(claudeoption.WithHTTPClient(c), claudeoption.WithAPIKey("unused"), claudeoption.WithMaxRetries(0))
}

func claudeWhole(ctx context.Context, c *http.Client) (any, speech, error) {
	client := newClaude(c)
	got, err := client.Messages.New(ctx, anthropic.MessageNewParams{MaxTokens: 1})
	if err != nil {
		return nil, speech{}, err
	}
	return got, claudeSpeech(got), nil
}

func claudeStream(ctx context.Context, c *http.Client) (any, speech, error) {
	client := newClaude(c)
	stream := client.Messages.NewStreaming(ctx, anthropic.MessageNewParams{MaxTokens: 1})
	var events []anthropic.MessageStreamEventUnion
	var whole anthropic.Message
	for stream.Next() {
		events = append(events, stream.Current())
		if err := whole.Accumulate(stream.Current()); err != nil {
			return events, speech{}, err
		}
	}
	return events, claudeSpeech(&whole), stream.Err()
}

func claudeSpeech(m *anthropic.Message) (said speech) {
	for _, block := range m.Content {
		switch block.Type {
		case "text":
			said.text += block.Text
		case "tool_use", "server_tool_use", "mcp_tool_use":
			said.call(block.Name, argumentsOf(block.Input))
		}
	}
	return said
}

func newGemini(ctx context.Context, c *http.Client) (*genai.Client, error) {
	return genai.NewClient(ctx, &genai.ClientConfig{Backend: genai.BackendGeminiAPI, APIKey: "unused", HTTPClient: c})
}

func geminiWhole(ctx context.Context, c *http.Client) (any, speech, error) {
	client, err := newGemini(ctx, c)
	if err != nil {
		return nil, speech{}, err
	}
	got, err := client.Models.GenerateContent(ctx, "m", genai.Text("Hi"), nil)
	if err != nil {
		return nil, speech{}, err
	}
	var said speech
	addGemini(&said, got)
	return got, said, nil
}

func geminiStream(ctx context.Context, c *http.Client) (any, speech, error) {
	client, err := newGemini(ctx, c)
	if err != nil {
		return nil, speech{}, err
	}
	var chunks []*genai.GenerateContentResponse
	var said speech
	for chunk, err := range client.Models.GenerateContentStream(ctx, "m", genai.Text("Hi"), nil) {
		if err != nil {
			return chunks, said, err
		}
		addGemini(&said, chunk)
		chunks = append(chunks, chunk)
	}
	return chunks, said, nil
}

// addGemini adds the content of a chunk. It drops the HTTP headers, which differ in replay.
func addGemini(said *speech, chunk *genai.GenerateContentResponse) {
	chunk.SDKHTTPResponse = nil
	if len(chunk.Candidates) == 0 || chunk.Candidates[0].Content == nil {
		return
	}
	for _, part := range chunk.Candidates[0].Content.Parts {
		if !part.Thought {
			said.text += part.Text
		}
		if call := part.FunctionCall; call != nil {
			arguments, _ := json.Marshal(call.Args) // it was decoded from JSON
			said.call(call.Name, string(arguments))
		}
	}
}

func newOllama(c *http.Client) *api.Client {
	return api.NewClient(&url.URL{Scheme: "http", Host: "localhost:11434"}, c)
}

func ollamaChat(ctx context.Context, c *http.Client) (any, speech, error) {
	var pieces []api.ChatResponse
	var said speech
	err := newOllama(c).Chat(ctx, &api.ChatRequest{}, func(piece api.ChatResponse) error {
		pieces = append(pieces, piece)
		said.text += piece.Message.Content
		for _, call := range piece.Message.ToolCalls {
			said.call(call.Function.Name, call.Function.Arguments.String())
		}
		return nil
	})
	return pieces, said, err
}

func ollamaGenerate(ctx context.Context, c *http.Client) (any, speech, error) {
	var pieces []api.GenerateResponse
	var said speech
	err := newOllama(c).Generate(ctx, &api.GenerateRequest{}, func(piece api.GenerateResponse) error {
		pieces = append(pieces, piece)
		said.text += piece.Response
		return nil
	})
	return pieces, said, err
}

func newBedrock(c *http.Client) *bedrockruntime.Client {
	return bedrockruntime.New(bedrockruntime.Options{
		Region: "us-east-1", HTTPClient: c, Retryer: aws.NopRetryer{},
		Credentials: credentials.NewStaticCredentialsProvider("unused", "unused", ""),
	})
}

func converseWhole(ctx context.Context, c *http.Client) (any, speech, error) {
	got, err := newBedrock(c).Converse(ctx, &bedrockruntime.ConverseInput{ModelId: aws.String("m")})
	if err != nil {
		return nil, speech{}, err
	}
	got.ResultMetadata = middleware.Metadata{} // metadata of the call, not of the answer
	var said speech
	if message, ok := got.Output.(*types.ConverseOutputMemberMessage); ok {
		for _, block := range message.Value.Content {
			switch block := block.(type) {
			case *types.ContentBlockMemberText:
				said.text += block.Value
			case *types.ContentBlockMemberToolUse:
				input, _ := block.Value.Input.MarshalSmithyDocument() // it was decoded from JSON
				text := string(input)
				_ = json.Unmarshal(input, &text) // objects do not decode to a text
				said.call(*block.Value.Name, text)
			}
		}
	}
	return got, said, nil
}

func converseStream(ctx context.Context, c *http.Client) (any, speech, error) {
	got, err := newBedrock(c).ConverseStream(ctx, &bedrockruntime.ConverseStreamInput{ModelId: aws.String("m")})
	if err != nil {
		return nil, speech{}, err
	}
	stream := got.GetStream()
	defer stream.Close()
	var events []types.ConverseStreamOutput
	var said speech
	var tool, input string
	for event := range stream.Events() {
		events = append(events, event)
		switch event := event.(type) {
		case *types.ConverseStreamOutputMemberContentBlockStart:
			if use, ok := event.Value.Start.(*types.ContentBlockStartMemberToolUse); ok {
				tool = *use.Value.Name
			}
		case *types.ConverseStreamOutputMemberContentBlockDelta:
			switch delta := event.Value.Delta.(type) {
			case *types.ContentBlockDeltaMemberText:
				said.text += delta.Value
			case *types.ContentBlockDeltaMemberToolUse:
				input += *delta.Value.Input
			}
		case *types.ConverseStreamOutputMemberContentBlockStop:
			if tool != "" {
				said.call(tool, input)
			}
			tool, input = "", ""
		}
	}
	return events, said, stream.Err()
}

func newCohere(c *http.Client) *v2.Client {
	return cohereclient.NewClient(cohereoption.WithHTTPClient(c), cohereoption.WithToken("unused"), cohereoption.WithMaxAttempts(1)).V2
}

func cohereWhole(ctx context.Context, c *http.Client) (any, speech, error) {
	got, err := newCohere(c).Chat(ctx, &cohere.V2ChatRequest{})
	if err != nil {
		return nil, speech{}, err
	}
	var said speech
	for _, item := range got.Message.Content {
		if item.Text != nil {
			said.text += item.Text.Text
		}
	}
	for _, call := range got.Message.ToolCalls {
		said.call(*call.Function.Name, *call.Function.Arguments)
	}
	return got, said, nil
}

func cohereStream(ctx context.Context, c *http.Client) (any, speech, error) {
	stream, err := newCohere(c).ChatStream(ctx, &cohere.V2ChatStreamRequest{})
	if err != nil {
		return nil, speech{}, err
	}
	defer stream.Close()
	var events []cohere.V2ChatStreamResponse
	var said speech
	var tool, arguments string
	for {
		event, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return events, said, nil
		}
		if err != nil {
			return events, said, err
		}
		events = append(events, event)
		switch {
		case event.ContentDelta != nil:
			if text := event.ContentDelta.Delta.Message.Content.Text; text != nil {
				said.text += *text
			}
		case event.ToolCallStart != nil:
			function := event.ToolCallStart.Delta.Message.ToolCalls.Function
			tool, arguments = *function.Name, *function.Arguments
		case event.ToolCallDelta != nil:
			arguments += *event.ToolCallDelta.Delta.Message.ToolCalls.Function.Arguments
		case event.ToolCallEnd != nil:
			said.call(tool, arguments)
		}
	}
}
