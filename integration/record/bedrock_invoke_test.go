package record_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/anthropics/anthropic-sdk-go/v2/bedrock"
	"github.com/anthropics/anthropic-sdk-go/v2/option"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime/types"
	"github.com/aws/smithy-go/middleware"

	"github.com/traceforge/traceforge-go/traceforgetest"
)

// bedrockInvoke are models of two makers, in the makers' formats.
var bedrockInvoke = []sdk{
	{
		name: "aws-sdk-go-v2 invoke claude", api: "bedrock.invoke", provider: "bedrock",
		keys: awsKeys, unkeyed: true, errors: awsErrors,
		open: invokeAsker(claudeOnBedrock,
			`{"anthropic_version":"bedrock-2023-05-31","max_tokens":9,"temperature":0,"messages":[{"role":"user","content":%q}]}`),
		lacks: comments | tools | schemas,
	},
	{
		name: "aws-sdk-go-v2 invoke nova", api: "bedrock.invoke", provider: "bedrock",
		keys: awsKeys, unkeyed: true, errors: awsErrors,
		open: invokeAsker("amazon.nova-micro-v1:0",
			`{"inferenceConfig":{"temperature":0},"messages":[{"role":"user","content":[{"text":%q}]}]}`),
		lacks: comments | tools | schemas | ids,
	},
}

func invokeAsker(model, format string) func(context.Context, *traceforgetest.Recorder) (asker, error) {
	return func(ctx context.Context, tf *traceforgetest.Recorder) (asker, error) {
		client, err := newBedrock(ctx, tf)
		if err != nil {
			return nil, err
		}
		return func(ctx context.Context, q question) (*answer, error) {
			body := fmt.Appendf(nil, format, q.text)
			if q.stream {
				return streamInvoke(ctx, client, model, body)
			}
			out, err := client.InvokeModel(ctx, &bedrockruntime.InvokeModelInput{
				ModelId: &model, Body: body, ContentType: aws.String("application/json"),
			})
			if err != nil {
				return nil, err
			}
			out.ResultMetadata = middleware.Metadata{} // metadata of the call, not of the answer
			return &answer{text: spoken(out.Body), value: out}, nil
		}, nil
	}
}

func streamInvoke(ctx context.Context, client *bedrockruntime.Client, model string, body []byte) (*answer, error) {
	out, err := client.InvokeModelWithResponseStream(ctx, &bedrockruntime.InvokeModelWithResponseStreamInput{
		ModelId: &model, Body: body, ContentType: aws.String("application/json"),
	})
	if err != nil {
		return nil, err
	}
	stream := out.GetStream()
	defer stream.Close()
	a := &answer{}
	var chunks []string
	for event := range stream.Events() {
		chunk := event.(*types.ResponseStreamMemberChunk).Value.Bytes
		chunks = append(chunks, string(chunk))
		a.text += spoken(chunk)
	}
	a.value = chunks
	return a, stream.Err()
}

// spoken returns the text in a body or an event of either maker's format.
func spoken(body []byte) string {
	type block struct{ Text string }
	var b struct {
		Content           []block
		Output            struct{ Message struct{ Content []block } }
		Delta             block
		ContentBlockDelta struct{ Delta block }
	}
	if json.Unmarshal(body, &b) != nil {
		return ""
	}
	var text strings.Builder
	text.WriteString(b.Delta.Text + b.ContentBlockDelta.Delta.Text)
	for _, block := range append(b.Content, b.Output.Message.Content...) {
		text.WriteString(block.Text)
	}
	return text.String()
}

// claudeOnAWS is Anthropic's SDK on Bedrock.
var claudeOnAWS = sdk{
	name: "anthropic-sdk-go on Bedrock", api: "bedrock.invoke", provider: "bedrock",
	keys: awsKeys, unkeyed: true, errors: awsErrors,
	open: func(ctx context.Context, tf *traceforgetest.Recorder) (asker, error) {
		client := anthropic.NewClient(option.WithHTTPClient(tf.Client()), bedrock.WithLoadDefaultConfig(ctx, config.WithRegion("us-east-1")))
		return claudeAsker(&client), nil
	},
	lacks: comments,
}
