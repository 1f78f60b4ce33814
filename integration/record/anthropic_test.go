package record_test

import (
	"context"

	"github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/anthropics/anthropic-sdk-go/v2/option"
	"github.com/anthropics/anthropic-sdk-go/v2/vertex"
	"golang.org/x/oauth2"
	"golang.org/x/oauth2/google"

	"github.com/traceforge/traceforge-go/traceforgetest"
)

var claude = sdk{
	name: "anthropic-sdk-go", api: "anthropic.messages", provider: "anthropic",
	keys: []string{"ANTHROPIC_API_KEY"},
	open: func(_ context.Context, tf *traceforgetest.Recorder) (asker, error) {
		client := anthropic.NewClient(option.WithHTTPClient(tf.Client()))
		return claudeAsker(&client), nil
	},
}

// claudeOnVertex gets a token. Without one the SDK looks for Google's default credentials, which are a file or a
// server, not a variable.
var claudeOnVertex = sdk{
	name: "anthropic-sdk-go on Vertex AI", api: "vertex.anthropic", provider: "vertex",
	unkeyed: true,
	open: func(ctx context.Context, tf *traceforgetest.Recorder) (asker, error) {
		token := &google.Credentials{TokenSource: oauth2.StaticTokenSource(&oauth2.Token{AccessToken: "unused"})}
		client := anthropic.NewClient(option.WithHTTPClient(tf.Client()), vertex.WithCredentials(ctx, "us-east5", "mine", token))
		return claudeAsker(&client), nil
	},
}

func claudeAsker(client *anthropic.Client) asker {
	return func(ctx context.Context, q question) (*answer, error) {
		if !q.stream {
			got, err := client.Messages.New(ctx, claudeParams(q))
			if err != nil {
				return nil, err
			}
			return claudeAnswer(got, got), nil
		}
		stream := client.Messages.NewStreaming(ctx, claudeParams(q))
		defer stream.Close()
		var events []anthropic.MessageStreamEventUnion
		var whole anthropic.Message
		for stream.Next() {
			events = append(events, stream.Current())
			if err := whole.Accumulate(stream.Current()); err != nil {
				return nil, err
			}
		}
		return claudeAnswer(&whole, events), stream.Err()
	}
}

func claudeParams(q question) anthropic.MessageNewParams {
	params := anthropic.MessageNewParams{
		Model:     "claude-sonnet-4-5",
		MaxTokens: 100,
		System:    []anthropic.TextBlockParam{{Text: "be brief"}},
		Messages:  []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock(q.text))},
	}
	if q.tools {
		params.Tools = []anthropic.ToolUnionParam{{OfTool: &anthropic.ToolParam{
			Name: "weather", InputSchema: anthropic.ToolInputSchemaParam{Properties: weatherSchema["properties"]},
		}}}
	}
	if q.schema {
		params.OutputConfig.Format.Schema = summarySchema
	}
	if q.after != nil {
		asked := q.after.turn.(*anthropic.Message)
		var results []anthropic.ContentBlockParamUnion
		for _, block := range asked.Content {
			if block.Type == "tool_use" {
				results = append(results, anthropic.NewToolResultBlock(block.ID, q.results[len(results)], false))
			}
		}
		params.Messages = append(params.Messages, asked.ToParam(), anthropic.NewUserMessage(results...))
	}
	return params
}

func claudeAnswer(got *anthropic.Message, value any) *answer {
	a := &answer{value: value, turn: got}
	for _, block := range got.Content {
		a.text += block.Text
		if block.Type == "tool_use" {
			a.calls = append(a.calls, string(block.Input))
		}
	}
	return a
}
