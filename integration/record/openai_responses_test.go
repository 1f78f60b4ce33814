package record_test

import (
	"context"
	"encoding/json"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/responses"

	"github.com/traceforge/traceforge-go/traceforgetest"
)

var openAIResponses = sdk{
	name: "openai-go responses", api: "openai.responses", provider: "openai",
	keys: []string{"OPENAI_API_KEY"},
	open: func(_ context.Context, tf *traceforgetest.Recorder) (asker, error) {
		client := openai.NewClient(option.WithHTTPClient(tf.Client()))
		return func(ctx context.Context, q question) (*answer, error) {
			if q.stream {
				return streamOpenAIResponses(ctx, &client, q)
			}
			got, err := client.Responses.New(ctx, openAIResponsesParams(q))
			if err != nil {
				return nil, err
			}
			return openAIResponsesAnswer(got, got), nil
		}, nil
	},
}

func openAIResponsesParams(q question) responses.ResponseNewParams {
	input := responses.ResponseInputParam{responses.ResponseInputItemParamOfMessage(q.text, responses.EasyInputMessageRoleUser)}
	params := responses.ResponseNewParams{Model: "gpt-4o", Temperature: openai.Float(0), Instructions: openai.String("be brief")}
	if q.tools {
		params.Tools = []responses.ToolUnionParam{responses.ToolParamOfFunction("weather", weatherSchema, false)}
	}
	if q.schema {
		params.Text.Format = responses.ResponseFormatTextConfigParamOfJSONSchema("summary", summarySchema)
	}
	if q.after != nil {
		var results responses.ResponseInputParam
		for _, item := range q.after.turn.([]responses.ResponseOutputItemUnion) {
			input = append(input, param.Override[responses.ResponseInputItemUnionParam](json.RawMessage(item.RawJSON())))
			if item.Type == "function_call" {
				result := responses.ResponseInputItemParamOfFunctionCallOutput(q.results[len(results)])
				result.OfFunctionCallOutput.CallID = openai.String(item.CallID)
				results = append(results, result)
			}
		}
		input = append(input, results...)
	}
	params.Input.OfInputItemList = input
	return params
}

func streamOpenAIResponses(ctx context.Context, client *openai.Client, q question) (*answer, error) {
	stream := client.Responses.NewStreaming(ctx, openAIResponsesParams(q))
	defer stream.Close()
	var events []responses.ResponseStreamEventUnion
	var whole responses.Response
	for stream.Next() {
		events = append(events, stream.Current())
		if stream.Current().Type == "response.completed" {
			whole = stream.Current().Response
		}
	}
	return openAIResponsesAnswer(&whole, events), stream.Err()
}

func openAIResponsesAnswer(got *responses.Response, value any) *answer {
	a := &answer{text: got.OutputText(), value: value, turn: got.Output}
	for _, item := range got.Output {
		if item.Type == "function_call" {
			a.calls = append(a.calls, item.Arguments.OfString)
		}
	}
	return a
}
