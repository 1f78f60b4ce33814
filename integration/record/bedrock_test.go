package record_test

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime/document"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime/types"
	"github.com/aws/smithy-go/middleware"

	"github.com/traceforge/traceforge-go/traceforgetest"
)

const claudeOnBedrock = "anthropic.claude-sonnet-4-5-20250929-v1:0"

var (
	awsKeys   = []string{"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"}
	awsErrors = map[int]string{400: "ValidationException", 429: "ThrottlingException", 503: "ServiceUnavailableException"}
)

// newBedrock returns a client configured from the environment.
func newBedrock(ctx context.Context, tf *traceforgetest.Recorder) (*bedrockruntime.Client, error) {
	found, err := config.LoadDefaultConfig(ctx,
		config.WithRegion("us-east-1"),
		config.WithHTTPClient(tf.Client()),
		config.WithRetryer(func() aws.Retryer {
			return retry.NewStandard(func(o *retry.StandardOptions) { o.MaxBackoff = time.Millisecond })
		}),
	)
	if err != nil {
		return nil, err
	}
	return bedrockruntime.NewFromConfig(found), nil
}

var bedrockConverse = sdk{
	name: "aws-sdk-go-v2 converse", api: "bedrock.converse", provider: "bedrock",
	keys: awsKeys, unkeyed: true, errors: awsErrors, // the requests are signed
	open: func(ctx context.Context, tf *traceforgetest.Recorder) (asker, error) {
		client, err := newBedrock(ctx, tf)
		if err != nil {
			return nil, err
		}
		return func(ctx context.Context, q question) (*answer, error) {
			in := converseInput(q)
			if q.stream {
				return streamConverse(ctx, client, in)
			}
			out, err := client.Converse(ctx, in)
			if err != nil {
				return nil, err
			}
			out.ResultMetadata = middleware.Metadata{} // metadata of the call, not of the answer
			message := out.Output.(*types.ConverseOutputMemberMessage).Value
			return converseAnswer(message, out)
		}, nil
	},
	lacks: comments,
}

func converseInput(q question) *bedrockruntime.ConverseInput {
	in := &bedrockruntime.ConverseInput{
		ModelId:         aws.String(claudeOnBedrock),
		InferenceConfig: &types.InferenceConfiguration{Temperature: aws.Float32(0)},
		System:          []types.SystemContentBlock{&types.SystemContentBlockMemberText{Value: "be brief"}},
		Messages: []types.Message{{
			Role: types.ConversationRoleUser, Content: []types.ContentBlock{&types.ContentBlockMemberText{Value: q.text}},
		}},
	}
	if q.tools {
		in.ToolConfig = &types.ToolConfiguration{Tools: []types.Tool{&types.ToolMemberToolSpec{Value: types.ToolSpecification{
			Name:        aws.String("weather"),
			InputSchema: &types.ToolInputSchemaMemberJson{Value: document.NewLazyDocument(weatherSchema)},
		}}}}
	}
	if q.schema {
		in.OutputConfig = &types.OutputConfig{TextFormat: &types.OutputFormat{
			Type: types.OutputFormatTypeJsonSchema,
			Structure: &types.OutputFormatStructureMemberJsonSchema{Value: types.JsonSchemaDefinition{
				Schema: aws.String(`{"type":"object","properties":{"summary":{"type":"string"}}}`),
			}},
		}}
	}
	if q.after != nil {
		asked := q.after.turn.(types.Message)
		answered := types.Message{Role: types.ConversationRoleUser}
		for _, block := range asked.Content {
			if use, ok := block.(*types.ContentBlockMemberToolUse); ok {
				answered.Content = append(answered.Content, &types.ContentBlockMemberToolResult{Value: types.ToolResultBlock{
					ToolUseId: use.Value.ToolUseId,
					Content:   []types.ToolResultContentBlock{&types.ToolResultContentBlockMemberText{Value: q.results[len(answered.Content)]}},
				}})
			}
		}
		in.Messages = append(in.Messages, asked, answered)
	}
	return in
}

func streamConverse(ctx context.Context, client *bedrockruntime.Client, in *bedrockruntime.ConverseInput) (*answer, error) {
	out, err := client.ConverseStream(ctx, &bedrockruntime.ConverseStreamInput{
		ModelId: in.ModelId, InferenceConfig: in.InferenceConfig, System: in.System, Messages: in.Messages, ToolConfig: in.ToolConfig,
	})
	if err != nil {
		return nil, err
	}
	stream := out.GetStream()
	defer stream.Close()
	var events []types.ConverseStreamOutput
	var whole conversed
	for event := range stream.Events() {
		events = append(events, event)
		if err := whole.add(event); err != nil {
			return nil, err
		}
	}
	a, err := converseAnswer(types.Message{Role: types.ConversationRoleAssistant, Content: whole.blocks}, events)
	if err != nil {
		return nil, err
	}
	return a, stream.Err()
}

func converseAnswer(m types.Message, value any) (*answer, error) {
	a := &answer{value: value, turn: m}
	for _, block := range m.Content {
		switch block := block.(type) {
		case *types.ContentBlockMemberText:
			a.text += block.Value
		case *types.ContentBlockMemberToolUse:
			input, err := block.Value.Input.MarshalSmithyDocument()
			if err != nil {
				return nil, err
			}
			a.calls = append(a.calls, string(input))
		}
	}
	return a, nil
}
