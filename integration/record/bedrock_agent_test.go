package record_test

import (
	"context"
	"encoding/json"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/bedrockagentruntime"
	agent "github.com/aws/aws-sdk-go-v2/service/bedrockagentruntime/types"
	"github.com/aws/smithy-go/middleware"

	"github.com/traceforge/traceforge-go/internal/fakeprovider"
	"github.com/traceforge/traceforge-go/traceforgetest"
)

func newBedrockAgents(ctx context.Context, tf *traceforgetest.Recorder) (*bedrockagentruntime.Client, error) {
	found, err := config.LoadDefaultConfig(ctx, config.WithRegion("us-east-1"), config.WithHTTPClient(tf.Client()))
	if err != nil {
		return nil, err
	}
	return bedrockagentruntime.NewFromConfig(found), nil
}

// bedrockAgent asks an agent that lets the caller run its tools.
var bedrockAgent = sdk{
	name: "aws-sdk-go-v2 agent", api: "bedrock.agent", provider: "bedrock",
	keys: awsKeys, unkeyed: true, errors: awsErrors,
	open: func(ctx context.Context, tf *traceforgetest.Recorder) (asker, error) {
		client, err := newBedrockAgents(ctx, tf)
		if err != nil {
			return nil, err
		}
		return func(ctx context.Context, q question) (*answer, error) {
			in := &bedrockagentruntime.InvokeAgentInput{
				AgentId: aws.String("AGENT1"), AgentAliasId: aws.String("ALIAS1"), SessionId: aws.String("session-1"), EnableTrace: aws.Bool(true),
			}
			if q.after == nil {
				in.InputText = aws.String(q.text)
			} else {
				in.SessionState = agentResults(q)
			}
			out, err := client.InvokeAgent(ctx, in)
			if err != nil {
				return nil, err
			}
			return streamedAgent(out)
		}, nil
	},
	lacks: schemas | retries | thinks | comments | ids, // the agent has its own tools
	scenarios: []scenario{
		{
			name: "text", why: "an answer is a stream always",
			ask: question{text: "Hello"}, says: []string{"You said: Hello"}, reply: []fakeprovider.Reply{fakeprovider.Text("You said: Hello")},
		},
		{
			name: "tools", why: "all calls of a turn have one id", results: []string{"22 degrees", "rain"},
			reply: []fakeprovider.Reply{{ToolCalls: weatherCalls}, fakeprovider.Text("It rains.")},
			ask:   question{text: "What is the weather?"}, says: []string{`{"city":"Zürich"} {"city":"Bern"}`, "It rains."},
		},
		{
			name: "error", why: "an answer like others (design R11)",
			reply: []fakeprovider.Reply{fakeprovider.Error(400, "ValidationException", "that is wrong")},
			ask:   question{text: "Hello"}, says: []string{"that is wrong"}, fails: true,
		},
	},
}

func agentResults(q question) *agent.SessionState {
	asked := q.after.turn.(agent.ReturnControlPayload)
	state := &agent.SessionState{InvocationId: asked.InvocationId}
	for i, input := range asked.InvocationInputs {
		call := input.(*agent.InvocationInputMemberMemberFunctionInvocationInput).Value
		state.ReturnControlInvocationResults = append(state.ReturnControlInvocationResults, &agent.InvocationResultMemberMemberFunctionResult{
			Value: agent.FunctionResult{
				ActionGroup: call.ActionGroup, Function: call.Function,
				ResponseBody: map[string]agent.ContentBody{"TEXT": {Body: aws.String(q.results[i])}},
			},
		})
	}
	return state
}

func streamedAgent(out *bedrockagentruntime.InvokeAgentOutput) (*answer, error) {
	stream := out.GetStream()
	defer stream.Close()
	a := &answer{}
	var events []agent.ResponseStream
	for event := range stream.Events() {
		events = append(events, event)
		switch e := event.(type) {
		case *agent.ResponseStreamMemberChunk:
			a.text += string(e.Value.Bytes)
		case *agent.ResponseStreamMemberReturnControl:
			a.turn = e.Value
			for _, input := range e.Value.InvocationInputs {
				parameters := map[string]string{}
				for _, p := range input.(*agent.InvocationInputMemberMemberFunctionInvocationInput).Value.Parameters {
					parameters[*p.Name] = *p.Value
				}
				arguments, _ := json.Marshal(parameters) // texts can always be encoded
				a.calls = append(a.calls, string(arguments))
			}
		}
	}
	a.value = events
	return a, stream.Err()
}

// bedrockRetrieve queries a knowledge base.
var bedrockRetrieve = sdk{
	name: "aws-sdk-go-v2 retrieve", api: "bedrock.retrieve", provider: "bedrock",
	keys: awsKeys, unkeyed: true, errors: awsErrors,
	open: func(ctx context.Context, tf *traceforgetest.Recorder) (asker, error) {
		client, err := newBedrockAgents(ctx, tf)
		if err != nil {
			return nil, err
		}
		return func(ctx context.Context, q question) (*answer, error) {
			out, err := client.Retrieve(ctx, &bedrockagentruntime.RetrieveInput{
				KnowledgeBaseId: aws.String("KB1"), RetrievalQuery: &agent.KnowledgeBaseQuery{Text: &q.text},
			})
			if err != nil {
				return nil, err
			}
			out.ResultMetadata = middleware.Metadata{} // metadata of the call, not of the answer
			return &answer{text: *out.RetrievalResults[0].Content.Text, value: out}, nil
		}, nil
	},
	lacks: streams | ids,
	scenarios: []scenario{mediaScenarios[0], {
		name: "error", why: "an answer like others (design R11)",
		reply: []fakeprovider.Reply{fakeprovider.Error(400, "ValidationException", "that is wrong")},
		ask:   question{text: "sunrise"}, says: []string{"that is wrong"}, fails: true,
	}},
}

// bedrockGenerate has a model answer from passages of a knowledge base.
var bedrockGenerate = sdk{
	name: "aws-sdk-go-v2 retrieve and generate", api: "bedrock.retrieve_and_generate", provider: "bedrock",
	keys: awsKeys, unkeyed: true, errors: awsErrors,
	open: func(ctx context.Context, tf *traceforgetest.Recorder) (asker, error) {
		client, err := newBedrockAgents(ctx, tf)
		if err != nil {
			return nil, err
		}
		return func(ctx context.Context, q question) (*answer, error) {
			about := &agent.RetrieveAndGenerateConfiguration{
				Type: agent.RetrieveAndGenerateTypeKnowledgeBase,
				KnowledgeBaseConfiguration: &agent.KnowledgeBaseRetrieveAndGenerateConfiguration{
					KnowledgeBaseId: aws.String("KB1"), ModelArn: aws.String("arn:aws:bedrock:us-east-1::foundation-model/anthropic.claude"),
					GenerationConfiguration: &agent.GenerationConfiguration{InferenceConfig: &agent.InferenceConfig{
						TextInferenceConfig: &agent.TextInferenceConfig{Temperature: aws.Float32(0)},
					}},
				},
			}
			if !q.stream {
				out, err := client.RetrieveAndGenerate(ctx, &bedrockagentruntime.RetrieveAndGenerateInput{
					Input: &agent.RetrieveAndGenerateInput{Text: &q.text}, RetrieveAndGenerateConfiguration: about,
				})
				if err != nil {
					return nil, err
				}
				out.ResultMetadata = middleware.Metadata{}
				return &answer{text: *out.Output.Text, value: out}, nil
			}
			out, err := client.RetrieveAndGenerateStream(ctx, &bedrockagentruntime.RetrieveAndGenerateStreamInput{
				Input: &agent.RetrieveAndGenerateInput{Text: &q.text}, RetrieveAndGenerateConfiguration: about,
			})
			if err != nil {
				return nil, err
			}
			stream := out.GetStream()
			defer stream.Close()
			a := &answer{}
			var events []agent.RetrieveAndGenerateStreamResponseOutput
			for event := range stream.Events() {
				events = append(events, event)
				if said, ok := event.(*agent.RetrieveAndGenerateStreamResponseOutputMemberOutput); ok {
					a.text += *said.Value.Text
				}
			}
			a.value = events
			return a, stream.Err()
		}, nil
	},
	lacks:     ids,
	scenarios: mediaScenarios[:2],
}
