package integration_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime/types"
	cohere "github.com/cohere-ai/cohere-go/v2"
	cohereclient "github.com/cohere-ai/cohere-go/v2/client"
	cohereoption "github.com/cohere-ai/cohere-go/v2/option"
	"github.com/ollama/ollama/api"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/responses"
	gopenai "github.com/sashabaranov/go-openai"
	"google.golang.org/genai"
)

// A reading is a program's view of an answer: the model's words and calls, and the finish reason in the provider's
// word.
type reading struct {
	speech
	finish string
}

func (r reading) String() string { return fmt.Sprintf("%s %s", shorten(r.speech), r.finish) }

// readings are the readings of one SDK, keyed by the way to use it.
type readings map[string]reading

// An sdkReader makes a call with an SDK, and returns the readings of programs that use the SDK.
type sdkReader func(context.Context, *http.Client) (readings, error)

// A readAPI is an API with an SDK.
type readAPI struct {
	name          string      // the codec's name
	stream, whole []sdkReader // whole is nil if a whole answer says nothing twice
	callless      bool        // the API has no tools
}

var readAPIs = []readAPI{
	{"openai.chat", []sdkReader{readOpenAIChat, readGoOpenAIChat}, []sdkReader{wholeReader(openAIChatWhole)}, false},
	{"openai.responses", []sdkReader{readOpenAIResponses}, []sdkReader{wholeReader(openAIResponsesWhole)}, false},
	{"openai.completions", []sdkReader{readOpenAICompletions, readGoOpenAICompletions}, []sdkReader{wholeReader(openAICompletionsWhole)}, true},
	{"openai.transcriptions", []sdkReader{readTranscription}, nil, true},
	{"anthropic.messages", []sdkReader{readClaude}, []sdkReader{wholeReader(claudeWhole)}, false},
	{"google.generate", []sdkReader{readGemini}, []sdkReader{wholeReader(geminiWhole)}, false},
	{"bedrock.converse", []sdkReader{readConverse}, []sdkReader{wholeReader(converseWhole)}, false},
	{"cohere.chat", []sdkReader{readCohere}, []sdkReader{wholeReader(cohereWhole)}, false},
	{"cohere.chat.v1", []sdkReader{readCohereV1}, nil, false},
	{"ollama.chat", []sdkReader{readOllamaChat}, []sdkReader{readOllamaChat}, false},
	{"ollama.generate", []sdkReader{readOllamaGenerate}, []sdkReader{readOllamaGenerate}, true},
}

// anyFinish is the finish reason of a reading that has none.
const anyFinish = "any"

// wholeReader reads a whole answer.
func wholeReader(call sdkCall) sdkReader {
	return func(ctx context.Context, c *http.Client) (readings, error) {
		_, said, err := call(ctx, c)
		return readings{"whole": {said, anyFinish}}, err
	}
}

// toolPieces are tool calls that come in pieces, keyed by their place in the answer.
type toolPieces map[int64]*struct{ name, arguments string }

func (p toolPieces) add(place int64, name, arguments string) {
	if p[place] == nil {
		p[place] = &struct{ name, arguments string }{}
	}
	p[place].name += name
	p[place].arguments += arguments
}

// into adds the calls to a speech, ordered by place.
func (p toolPieces) into(s *speech) {
	for _, place := range slices.Sorted(maps.Keys(p)) {
		s.call(p[place].name, p[place].arguments)
	}
}

func readOpenAIChat(ctx context.Context, c *http.Client) (readings, error) {
	client := newOpenAI(c)
	s := client.Chat.Completions.NewStreaming(ctx, openai.ChatCompletionNewParams{
		Model: "m", Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage("Hi")},
	})
	var live, sum reading
	var whole openai.ChatCompletionAccumulator
	calls := toolPieces{}
	for s.Next() {
		whole.AddChunk(s.Current())
		for _, choice := range s.Current().Choices {
			if choice.Index != 0 {
				continue
			}
			live.text += choice.Delta.Content + choice.Delta.Refusal
			live.finish = cmp.Or(choice.FinishReason, live.finish)
			for _, call := range choice.Delta.ToolCalls {
				calls.add(call.Index, call.Function.Name, call.Function.Arguments)
			}
		}
	}
	calls.into(&live.speech)
	if len(whole.Choices) > 0 {
		m := whole.Choices[0].Message
		sum.text, sum.finish = m.Content+m.Refusal, whole.Choices[0].FinishReason
		for _, call := range m.ToolCalls {
			sum.call(call.Function.Name, call.Function.Arguments)
		}
	}
	return readings{"openai-go, as it streams": live, "openai-go, accumulated": sum}, s.Err()
}

func readTranscription(ctx context.Context, c *http.Client) (readings, error) {
	client := newOpenAI(c)
	s := client.Audio.Transcriptions.NewStreaming(ctx, openai.AudioTranscriptionNewParams{Model: "m", File: strings.NewReader("x")})
	live, final := reading{finish: anyFinish}, reading{finish: anyFinish}
	all := readings{}
	for s.Next() {
		switch e := s.Current(); e.Type {
		case "transcript.text.delta":
			live.text += e.Delta
		case "transcript.text.done":
			final.text += e.Text
			if e.JSON.Text.Raw() != "" { // the member exists
				all["openai-go, at the end"] = final
			}
		}
	}
	all["openai-go, as it streams"] = live
	return all, s.Err()
}

func newGoOpenAI(c *http.Client) *gopenai.Client {
	config := gopenai.DefaultConfig("unused")
	config.HTTPClient = c
	return gopenai.NewClientWithConfig(config)
}

func readGoOpenAIChat(ctx context.Context, c *http.Client) (readings, error) {
	s, err := newGoOpenAI(c).CreateChatCompletionStream(ctx, gopenai.ChatCompletionRequest{
		Model: "m", Messages: []gopenai.ChatCompletionMessage{{Role: "user", Content: "Hi"}},
	})
	if err != nil {
		return nil, err
	}
	defer s.Close()
	var live reading
	calls := toolPieces{}
	for {
		chunk, err := s.Recv()
		if errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		for _, choice := range chunk.Choices {
			if choice.Index != 0 {
				continue
			}
			live.text += choice.Delta.Content + choice.Delta.Refusal
			live.finish = cmp.Or(string(choice.FinishReason), live.finish)
			for i, call := range choice.Delta.ToolCalls {
				place := int64(i)
				if call.Index != nil {
					place = int64(*call.Index)
				}
				calls.add(place, call.Function.Name, call.Function.Arguments)
			}
		}
	}
	calls.into(&live.speech)
	return readings{"go-openai, as it streams": live}, nil
}

func readOpenAIResponses(ctx context.Context, c *http.Client) (readings, error) {
	client := newOpenAI(c)
	s := client.Responses.NewStreaming(ctx, responses.ResponseNewParams{
		Model: "m", Input: responses.ResponseNewParamsInputUnion{OfString: openai.String("Hi")},
	})
	var live, items, final reading
	seen := map[string]bool{}
	live.finish, items.finish = anyFinish, anyFinish
	calls := toolPieces{}
	for s.Next() {
		e := s.Current()
		switch e.Type {
		case "response.output_text.delta", "response.refusal.delta":
			live.text += e.Delta
		case "response.output_item.added":
			if e.Item.Type == "function_call" {
				calls.add(e.OutputIndex, e.Item.Name, "")
			}
		case "response.function_call_arguments.delta":
			calls.add(e.OutputIndex, "", e.Delta)
		case "response.output_item.done":
			seen["items"] = true
			for _, content := range e.Item.Content {
				items.text += content.Text + content.Refusal
			}
			items.item(&e.Item)
		case "response.completed", "response.incomplete", "response.failed":
			seen["final"] = len(e.Response.Output) > 0
			final = reading{responseSpeech(&e.Response), anyFinish}
		}
	}
	calls.into(&live.speech)
	all := readings{"openai-go, as it streams": live}
	if seen["items"] { // some servers send no items, or no response at the end; no program relies on them then
		all["openai-go, items"] = items
	}
	if seen["final"] {
		all["openai-go, response"] = final
	}
	return all, s.Err()
}

func readOpenAICompletions(ctx context.Context, c *http.Client) (readings, error) {
	client := newOpenAI(c)
	s := client.Completions.NewStreaming(ctx, openai.CompletionNewParams{
		Model: "m", Prompt: openai.CompletionNewParamsPromptUnion{OfString: openai.String("Hi")},
	})
	var live reading
	for s.Next() {
		for _, choice := range s.Current().Choices {
			if choice.Index == 0 {
				live.text += choice.Text
				live.finish = cmp.Or(string(choice.FinishReason), live.finish)
			}
		}
	}
	return readings{"openai-go, as it streams": live}, s.Err()
}

func readGoOpenAICompletions(ctx context.Context, c *http.Client) (readings, error) {
	s, err := newGoOpenAI(c).CreateCompletionStream(ctx, gopenai.CompletionRequest{Model: "m", Prompt: "Hi"})
	if err != nil {
		return nil, err
	}
	defer s.Close()
	var live reading
	for {
		chunk, err := s.Recv()
		if errors.Is(err, io.EOF) {
			return readings{"go-openai, as it streams": live}, nil
		} else if err != nil {
			return nil, err
		}
		for _, choice := range chunk.Choices {
			if choice.Index == 0 {
				live.text += choice.Text
				live.finish = cmp.Or(choice.FinishReason, live.finish)
			}
		}
	}
}

func readClaude(ctx context.Context, c *http.Client) (readings, error) {
	client := newClaude(c)
	s := client.Messages.NewStreaming(ctx, anthropic.MessageNewParams{
		Model: "m", MaxTokens: 9, Messages: []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock("Hi"))},
	})
	var live reading
	var whole anthropic.Message
	calls := toolPieces{}
	for s.Next() {
		e := s.Current()
		if err := whole.Accumulate(e); err != nil {
			return nil, err
		}
		switch e.Type {
		case "content_block_start":
			live.text += e.ContentBlock.Text
			switch e.ContentBlock.Type {
			case "tool_use", "server_tool_use", "mcp_tool_use":
				calls.add(e.Index, e.ContentBlock.Name, "")
			}
		case "content_block_delta":
			live.text += e.Delta.Text
			if e.Delta.Type == "input_json_delta" {
				calls.add(e.Index, "", e.Delta.PartialJSON)
			}
		case "message_delta":
			live.finish = cmp.Or(string(e.Delta.StopReason), live.finish)
		}
	}
	calls.into(&live.speech)
	return readings{
		"anthropic-sdk-go, as it streams": live, "anthropic-sdk-go, accumulated": {claudeSpeech(&whole), string(whole.StopReason)},
	}, s.Err()
}

func readGemini(ctx context.Context, c *http.Client) (readings, error) {
	client, err := newGemini(ctx, c)
	if err != nil {
		return nil, err
	}
	var live reading
	for chunk, err := range client.Models.GenerateContentStream(ctx, "gemini-2.5-flash", genai.Text("Hi"), nil) {
		if err != nil {
			return nil, err
		}
		addGemini(&live.speech, chunk)
		if len(chunk.Candidates) > 0 {
			live.finish = cmp.Or(string(chunk.Candidates[0].FinishReason), live.finish)
		}
	}
	return readings{"genai, as it streams": live}, nil
}

func readConverse(ctx context.Context, c *http.Client) (readings, error) {
	got, err := newBedrock(c).ConverseStream(ctx, &bedrockruntime.ConverseStreamInput{
		ModelId:  aws.String("anthropic.claude-sonnet-4-5-20250929-v1:0"),
		Messages: []types.Message{{Role: "user", Content: []types.ContentBlock{&types.ContentBlockMemberText{Value: "Hi"}}}},
	})
	if err != nil {
		return nil, err
	}
	s := got.GetStream()
	defer s.Close()
	var live reading
	calls := toolPieces{}
	for event := range s.Events() {
		switch event := event.(type) {
		case *types.ConverseStreamOutputMemberContentBlockStart:
			if use, ok := event.Value.Start.(*types.ContentBlockStartMemberToolUse); ok {
				calls.add(int64(aws.ToInt32(event.Value.ContentBlockIndex)), aws.ToString(use.Value.Name), "")
			}
		case *types.ConverseStreamOutputMemberContentBlockDelta:
			switch delta := event.Value.Delta.(type) {
			case *types.ContentBlockDeltaMemberText:
				live.text += delta.Value
			case *types.ContentBlockDeltaMemberToolUse:
				calls.add(int64(aws.ToInt32(event.Value.ContentBlockIndex)), "", aws.ToString(delta.Value.Input))
			}
		case *types.ConverseStreamOutputMemberMessageStop:
			live.finish = cmp.Or(string(event.Value.StopReason), live.finish)
		}
	}
	calls.into(&live.speech)
	return readings{"bedrockruntime, as it streams": live}, s.Err()
}

func readCohere(ctx context.Context, c *http.Client) (readings, error) {
	s, err := newCohere(c).ChatStream(ctx, &cohere.V2ChatStreamRequest{
		Model:    "command-a",
		Messages: cohere.ChatMessages{{Role: "user", User: &cohere.UserMessageV2{Content: &cohere.UserMessageV2Content{String: "Hi"}}}},
	})
	if err != nil {
		return nil, err
	}
	defer s.Close()
	var live reading
	calls := toolPieces{}
	for {
		event, err := s.Recv()
		if errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		place := func(index *int) int64 { return int64(*cmp.Or(index, new(int))) }
		switch { // a missing member that is read here crashes a program, which counts as an error
		case event.ContentDelta != nil:
			if text := event.ContentDelta.Delta.Message.Content.Text; text != nil {
				live.text += *text
			}
		case event.ToolCallStart != nil:
			function := event.ToolCallStart.Delta.Message.ToolCalls.Function
			calls.add(place(event.ToolCallStart.Index), *function.Name, *cmp.Or(function.Arguments, new(string)))
		case event.ToolCallDelta != nil:
			calls.add(place(event.ToolCallDelta.Index), "", *event.ToolCallDelta.Delta.Message.ToolCalls.Function.Arguments)
		case event.MessageEnd != nil && event.MessageEnd.Delta != nil && event.MessageEnd.Delta.FinishReason != nil:
			live.finish = string(*event.MessageEnd.Delta.FinishReason)
		}
	}
	calls.into(&live.speech)
	return readings{"cohere-go, as it streams": live}, nil
}

func readCohereV1(ctx context.Context, c *http.Client) (readings, error) {
	client := cohereclient.NewClient(cohereoption.WithHTTPClient(c), cohereoption.WithToken("unused"), cohereoption.WithMaxAttempts(1))
	s, err := client.ChatStream(ctx, &cohere.ChatStreamRequest{Message: "Hi"})
	if err != nil {
		return nil, err
	}
	defer s.Close()
	var live, final reading
	seen := false
	add := func(to *reading, calls []*cohere.ToolCall) {
		for _, call := range calls {
			arguments, _ := json.Marshal(call.Parameters) // it was decoded from JSON
			to.call(call.Name, string(arguments))
		}
	}
	for {
		event, err := s.Recv()
		if errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		switch {
		case event.TextGeneration != nil:
			live.text += event.TextGeneration.Text
		case event.ToolCallsGeneration != nil:
			add(&live, event.ToolCallsGeneration.ToolCalls)
		case event.StreamEnd != nil:
			live.finish = string(event.StreamEnd.FinishReason)
			said := event.StreamEnd.Response
			final.text, final.finish = said.Text, anyFinish
			add(&final, said.ToolCalls)
			seen = said.Text != "" || len(said.ToolCalls) > 0 // some servers leave it out
		}
	}
	all := readings{"cohere-go, as it streams": live}
	if seen {
		all["cohere-go, at the end"] = final
	}
	return all, nil
}

func readOllamaChat(ctx context.Context, c *http.Client) (readings, error) {
	var live reading
	err := newOllama(c).Chat(ctx, &api.ChatRequest{Model: "m", Messages: []api.Message{{Role: "user", Content: "Hi"}}}, func(piece api.ChatResponse) error {
		live.text += piece.Message.Content
		live.finish = cmp.Or(piece.DoneReason, live.finish)
		for _, call := range piece.Message.ToolCalls {
			arguments, err := json.Marshal(call.Function.Arguments)
			if err != nil {
				return err
			}
			live.call(call.Function.Name, string(arguments))
		}
		return nil
	})
	return readings{"ollama, as it streams": live}, err
}

func readOllamaGenerate(ctx context.Context, c *http.Client) (readings, error) {
	var live reading
	err := newOllama(c).Generate(ctx, &api.GenerateRequest{Model: "m", Prompt: "Hi"}, func(piece api.GenerateResponse) error {
		live.text += piece.Response
		live.finish = cmp.Or(piece.DoneReason, live.finish)
		return nil
	})
	return readings{"ollama, as it streams": live}, err
}
