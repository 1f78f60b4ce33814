package fakes_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"syscall"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime/document"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime/types"
	"github.com/aws/smithy-go"
	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/fakeprovider"
)

const (
	claudeOnBedrock = "anthropic.claude-sonnet-4-5-20250929-v1:0"
	novaOnBedrock   = "amazon.nova-micro-v1:0"
)

func newBedrock(srv *fakeprovider.Server) *bedrockruntime.Client {
	return bedrockruntime.New(bedrockruntime.Options{
		Region:       "us-east-1",
		BaseEndpoint: aws.String(srv.URL()),
		Credentials:  credentials.NewStaticCredentialsProvider("unused", "unused", ""),
		Retryer:      aws.NopRetryer{},
		HTTPClient:   &http.Client{Transport: wholeRequests{}},
	})
}

// wholeRequests reads a request completely before sending it. The SDK closes the body when the answer begins. If
// package http is still reading the body then, it cuts the connection, which a server on the same machine provokes once
// in a hundred calls.
type wholeRequests struct{}

func (wholeRequests) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	r = r.Clone(r.Context())
	r.Body = io.NopCloser(bytes.NewReader(body))
	return http.DefaultTransport.RoundTrip(r)
}

func bedrockText(role types.ConversationRole, text string) types.Message {
	return types.Message{Role: role, Content: []types.ContentBlock{&types.ContentBlockMemberText{Value: text}}}
}

// A converseAnswer is an answer of Converse, whole or joined from a stream.
type converseAnswer struct {
	text, thinking, signature string
	tools                     []types.ToolUseBlock
	inputs                    []string // of the tools, as JSON
	stop                      types.StopReason
	usage                     *types.TokenUsage
}

func converseWhole(t *testing.T, c *bedrockruntime.Client, in bedrockruntime.ConverseInput) (got converseAnswer, err error) {
	t.Helper()
	out, err := c.Converse(t.Context(), &in)
	if err != nil {
		return got, err
	}
	for _, b := range out.Output.(*types.ConverseOutputMemberMessage).Value.Content {
		switch b := b.(type) {
		case *types.ContentBlockMemberText:
			got.text += b.Value
		case *types.ContentBlockMemberReasoningContent:
			r := b.Value.(*types.ReasoningContentBlockMemberReasoningText).Value
			got.thinking, got.signature = *r.Text, *r.Signature
		case *types.ContentBlockMemberToolUse:
			input, err := b.Value.Input.MarshalSmithyDocument()
			require.NoError(t, err)
			got.tools, got.inputs = append(got.tools, b.Value), append(got.inputs, string(input))
		}
	}
	got.stop, got.usage = out.StopReason, out.Usage
	return got, nil
}

func converseStream(t *testing.T, c *bedrockruntime.Client, in bedrockruntime.ConverseInput) (got converseAnswer, err error) {
	t.Helper()
	out, err := c.ConverseStream(t.Context(), &bedrockruntime.ConverseStreamInput{
		ModelId: in.ModelId, Messages: in.Messages, System: in.System, ToolConfig: in.ToolConfig, OutputConfig: in.OutputConfig,
	})
	if err != nil {
		return got, err
	}
	s := out.GetStream()
	defer s.Close()
	for e := range s.Events() {
		switch e := e.(type) {
		case *types.ConverseStreamOutputMemberContentBlockStart:
			use := e.Value.Start.(*types.ContentBlockStartMemberToolUse).Value
			got.tools = append(got.tools, types.ToolUseBlock{Name: use.Name, ToolUseId: use.ToolUseId})
			got.inputs = append(got.inputs, "")
		case *types.ConverseStreamOutputMemberContentBlockDelta:
			switch d := e.Value.Delta.(type) {
			case *types.ContentBlockDeltaMemberText:
				got.text += d.Value
			case *types.ContentBlockDeltaMemberToolUse:
				got.inputs[len(got.inputs)-1] += *d.Value.Input
			case *types.ContentBlockDeltaMemberReasoningContent:
				switch r := d.Value.(type) {
				case *types.ReasoningContentBlockDeltaMemberText:
					got.thinking += r.Value
				case *types.ReasoningContentBlockDeltaMemberSignature:
					got.signature += r.Value
				}
			}
		case *types.ConverseStreamOutputMemberMessageStop:
			got.stop = e.Value.StopReason
		case *types.ConverseStreamOutputMemberMetadata:
			got.usage = e.Value.Usage
		}
	}
	for i := range got.tools {
		var input any
		require.NoError(t, json.Unmarshal([]byte(got.inputs[i]), &input))
		got.tools[i].Input = document.NewLazyDocument(input)
	}
	return got, s.Err()
}

var converseCalls = map[string]func(*testing.T, *bedrockruntime.Client, bedrockruntime.ConverseInput) (converseAnswer, error){
	"whole": converseWhole, "streamed": converseStream,
}

func askBedrock(text string) bedrockruntime.ConverseInput {
	return bedrockruntime.ConverseInput{
		ModelId:  aws.String(claudeOnBedrock),
		System:   []types.SystemContentBlock{&types.SystemContentBlockMemberText{Value: "be brief"}},
		Messages: []types.Message{bedrockText(types.ConversationRoleUser, text)},
	}
}

func TestBedrockConverse(t *testing.T) {
	for name, call := range converseCalls {
		t.Run(name, func(t *testing.T) {
			srv := fakeprovider.New(t)
			reply := fakeprovider.Reply{Thinking: "let me think", Signature: "sig", Text: "Grüße <you>", Usage: &fakeprovider.Usage{Input: 9, Output: 5, CacheRead: 4}}
			reply.Stream.WriteSize = 7
			srv.Reply(reply)
			got, err := call(t, newBedrock(srv), askBedrock("Hi"))
			require.NoError(t, err)
			require.Equal(t, "let me think", got.thinking)
			require.Equal(t, "sig", got.signature)
			require.Equal(t, "Grüße <you>", got.text)
			require.Equal(t, types.StopReasonEndTurn, got.stop)
			require.EqualValues(t, 5, *got.usage.InputTokens)
			require.EqualValues(t, 5, *got.usage.OutputTokens)
			require.EqualValues(t, 4, *got.usage.CacheReadInputTokens)
			require.EqualValues(t, 14, *got.usage.TotalTokens)
			c := srv.Calls()[0]
			require.Equal(t, claudeOnBedrock, c.Model)
			require.Equal(t, "Hi", c.LastUser())
		})
	}
}

// TestBedrockTools plays a whole tool loop, with parallel calls, whole and streamed.
func TestBedrockTools(t *testing.T) {
	for name, call := range converseCalls {
		t.Run(name, func(t *testing.T) {
			srv := fakeprovider.New(t)
			srv.Handle(fakeprovider.Echo(
				fakeprovider.ToolCall{Name: "weather", Arguments: `{"city":"Zürich"}`},
				fakeprovider.ToolCall{Name: "weather", Arguments: `{"city":"Bern"}`},
			))
			client := newBedrock(srv)
			in := askBedrock("What is the weather?")
			in.ToolConfig = &types.ToolConfiguration{Tools: []types.Tool{&types.ToolMemberToolSpec{Value: types.ToolSpecification{
				Name: aws.String("weather"),
				InputSchema: &types.ToolInputSchemaMemberJson{Value: document.NewLazyDocument(map[string]any{
					"type": "object", "properties": map[string]any{"city": map[string]any{"type": "string"}},
				})},
			}}}}
			got, err := call(t, client, in)
			require.NoError(t, err)
			require.Equal(t, types.StopReasonToolUse, got.stop)
			require.Len(t, got.tools, 2)
			require.JSONEq(t, `{"city":"Zürich"}`, got.inputs[0])
			require.JSONEq(t, `{"city":"Bern"}`, got.inputs[1])

			asked, answered := types.Message{Role: types.ConversationRoleAssistant}, types.Message{Role: types.ConversationRoleUser}
			for i, said := range []string{"22 degrees", "rain"} {
				asked.Content = append(asked.Content, &types.ContentBlockMemberToolUse{Value: got.tools[i]})
				answered.Content = append(answered.Content, &types.ContentBlockMemberToolResult{Value: types.ToolResultBlock{
					ToolUseId: got.tools[i].ToolUseId,
					Content:   []types.ToolResultContentBlock{&types.ToolResultContentBlockMemberText{Value: said}},
				}})
			}
			in.Messages = append(in.Messages, asked, answered)
			got, err = call(t, client, in)
			require.NoError(t, err)
			require.Equal(t, "The tools say: 22 degrees; rain", got.text)
		})
	}
}

func TestBedrockStructuredOutput(t *testing.T) {
	srv := fakeprovider.New(t)
	srv.Handle(fakeprovider.Echo())
	in := askBedrock("Summarize: two words")
	in.OutputConfig = &types.OutputConfig{TextFormat: &types.OutputFormat{
		Type: types.OutputFormatTypeJsonSchema,
		Structure: &types.OutputFormatStructureMemberJsonSchema{Value: types.JsonSchemaDefinition{
			Schema: aws.String(`{"type":"object","properties":{"summary":{"type":"string"}}}`),
		}},
	}}
	got, err := converseWhole(t, newBedrock(srv), in)
	require.NoError(t, err)
	require.JSONEq(t, `{"summary":"Summary: two words"}`, got.text)
}

func TestBedrockErrors(t *testing.T) {
	for name, call := range converseCalls {
		t.Run(name, func(t *testing.T) {
			srv := fakeprovider.New(t)
			srv.Reply(fakeprovider.Error(429, "ThrottlingException", "slow down"))
			client := newBedrock(srv)
			_, err := call(t, client, askBedrock("Hi"))
			var throttled *types.ThrottlingException
			require.ErrorAs(t, err, &throttled)
			require.Equal(t, "slow down", throttled.ErrorMessage())

			in := askBedrock("Hi")
			in.Messages[0].Role = types.ConversationRoleAssistant
			_, err = call(t, client, in)
			var invalid *types.ValidationException
			require.ErrorAs(t, err, &invalid)
			require.Contains(t, invalid.ErrorMessage(), "A conversation must start with a user message.")
		})
	}
}

func TestBedrockErrorInStream(t *testing.T) {
	srv := fakeprovider.New(t)
	reply := fakeprovider.Error(429, "ThrottlingException", "slow down")
	reply.Text, reply.Stream.FailAfter = "one two three", 3
	srv.Reply(reply)
	got, err := converseStream(t, newBedrock(srv), askBedrock("Hi"))
	var throttled *types.ThrottlingException
	require.ErrorAs(t, err, &throttled)
	require.Equal(t, "one two", got.text)

	reply.Failure.Type = "SomethingNewException"
	srv.Reply(reply)
	_, err = converseStream(t, newBedrock(srv), askBedrock("Hi"))
	var api smithy.APIError
	require.ErrorAs(t, err, &api)
	require.Equal(t, "somethingNewException", api.ErrorCode())
}

func TestBedrockCutStream(t *testing.T) {
	srv := fakeprovider.New(t)
	srv.Reply(
		fakeprovider.Reply{Text: "one two three", Cut: fakeprovider.CutDrop, CutAfter: 3},
		fakeprovider.Reply{Text: "one two three", Cut: fakeprovider.CutReset, CutAfter: 3},
	)
	client := newBedrock(srv)
	got, err := converseStream(t, client, askBedrock("Hi"))
	require.NoError(t, err, "the SDK takes an unexpected end for an end")
	require.Equal(t, "one two", got.text)
	require.Empty(t, got.stop)
	got, err = converseStream(t, client, askBedrock("Hi"))
	require.ErrorIs(t, err, syscall.ECONNRESET)
	require.Empty(t, got.stop)
}

// TestBedrockInvoke calls models in their makers' formats, whole and streamed.
func TestBedrockInvoke(t *testing.T) {
	for _, c := range []struct {
		model, body string
		whole       string   // a text in the whole answer
		chunks      []string // texts in the chunks, one each
	}{
		{
			claudeOnBedrock,
			`{"anthropic_version":"bedrock-2023-05-31","max_tokens":9,"messages":[{"role":"user","content":"Hi"}]}`,
			`"content":[{"type":"text","text":"You said: Hi"}]`,
			[]string{
				`"type":"message_start"`, `"type":"content_block_start"`,
				`"text":"You"`, `"text":" said:"`, `"text":" Hi"`,
				`"type":"content_block_stop"`, `"stop_reason":"end_turn"`, `"amazon-bedrock-invocationMetrics"`,
			},
		},
		{
			novaOnBedrock,
			`{"messages":[{"role":"user","content":[{"text":"Hi"}]}]}`,
			`"content":[{"text":"You said: Hi"}]`,
			[]string{
				`{"messageStart":{"role":"assistant"`,
				`"text":"You"`, `"text":" said:"`, `"text":" Hi"`,
				`{"contentBlockStop":`, `{"messageStop":{"stopReason":"end_turn"`, `{"metadata":`,
			},
		},
	} {
		t.Run(c.model, func(t *testing.T) {
			srv := fakeprovider.New(t)
			srv.Handle(fakeprovider.Echo())
			client := newBedrock(srv)
			whole, err := client.InvokeModel(t.Context(), &bedrockruntime.InvokeModelInput{
				ModelId: &c.model, Body: []byte(c.body), ContentType: aws.String("application/json"),
			})
			require.NoError(t, err)
			require.Contains(t, string(whole.Body), c.whole)

			streamed, err := client.InvokeModelWithResponseStream(t.Context(), &bedrockruntime.InvokeModelWithResponseStreamInput{
				ModelId: &c.model, Body: []byte(c.body), ContentType: aws.String("application/json"),
			})
			require.NoError(t, err)
			var chunks [][]byte
			for e := range streamed.GetStream().Events() {
				chunks = append(chunks, e.(*types.ResponseStreamMemberChunk).Value.Bytes)
			}
			require.NoError(t, streamed.GetStream().Err())
			require.Len(t, chunks, len(c.chunks))
			for i, want := range c.chunks {
				require.True(t, json.Valid(chunks[i]), "%s", chunks[i])
				require.True(t, bytes.Contains(chunks[i], []byte(want)), "%s has no %s", chunks[i], want)
			}

			_, err = client.InvokeModel(t.Context(), &bedrockruntime.InvokeModelInput{ModelId: &c.model, Body: []byte(`{}`)})
			var invalid *types.ValidationException
			require.ErrorAs(t, err, &invalid)
		})
	}
}
