package record_test

import (
	"context"
	"encoding/json"

	"google.golang.org/genai"
	"google.golang.org/genai/interactions/models/interactions"
	"google.golang.org/genai/interactions/models/operations"

	"github.com/traceforge/traceforge-go/traceforgetest"
)

// geminiInteractions uses the API without its state: each request repeats all steps.
var geminiInteractions = sdk{
	name: "genai interactions", api: "google.interactions", provider: "google",
	keys: []string{"GEMINI_API_KEY"},
	open: func(ctx context.Context, tf *traceforgetest.Recorder) (asker, error) {
		client, err := genai.NewClient(ctx, &genai.ClientConfig{HTTPClient: tf.Client(), Backend: genai.BackendGeminiAPI})
		if err != nil {
			return nil, err
		}
		return func(ctx context.Context, q question) (*answer, error) {
			got, err := client.Interactions.Create(ctx, operations.CreateInteractionRequest{
				Body: operations.NewCreateInteractionRequestBody(interactionsRequest(q)),
			})
			if err != nil {
				return nil, err
			}
			if !q.stream {
				return interactionsAnswer(got.Interaction.Steps, got.Interaction), nil
			}
			return streamedInteraction(got)
		}, nil
	},
	lacks: schemas | retries | midError,
}

func interactionsRequest(q question) interactions.CreateModelInteraction {
	temperature, seed, stateless := float32(0), 42, false
	steps := []interactions.Step{interactions.NewStep(interactions.UserInputStep{
		Content: []interactions.Content{interactions.NewContent(interactions.TextContent{Text: q.text})},
	})}
	if q.after != nil {
		steps = append(steps, q.after.turn.([]interactions.Step)...)
		for i, step := range q.after.turn.([]interactions.Step) {
			if call := step.FunctionCallStep; call != nil {
				n := i - (len(q.after.turn.([]interactions.Step)) - len(q.results))
				steps = append(steps, interactions.NewStep(interactions.FunctionResultStep{
					CallID: call.ID, Name: &call.Name, Result: interactions.NewFunctionResultStepResultUnion(q.results[n]),
				}))
			}
		}
	}
	input := interactions.NewInteractionsInput(steps)
	req := interactions.CreateModelInteraction{
		Model: "gemini-2.5-flash", Input: &input, Store: &stateless,
		//lint:ignore SA1019 there is no other place for a temperature yet
		GenerationConfig: &interactions.GenerationConfig{Temperature: &temperature, Seed: &seed},
	}
	if q.stream {
		req.Stream = &q.stream
	}
	if q.tools {
		name := "weather"
		req.Tools = []interactions.Tool{interactions.NewTool(interactions.Function{Name: &name, Parameters: weatherSchema})}
	}
	return req
}

func interactionsAnswer(steps []interactions.Step, value any) *answer {
	a := &answer{value: value, turn: steps}
	for _, step := range steps {
		if said := step.ModelOutputStep; said != nil {
			for _, content := range said.Content {
				a.text += content.TextContent.Text
			}
		}
		if call := step.FunctionCallStep; call != nil {
			arguments, _ := json.Marshal(call.Arguments) // it was decoded from JSON
			a.calls = append(a.calls, string(arguments))
		}
	}
	return a
}

// streamedInteraction joins a stream like an application does.
func streamedInteraction(got *operations.CreateInteractionResponse) (*answer, error) {
	stream := got.InteractionSSEStreamEvent
	defer stream.Close()
	var events []interactions.InteractionSSEStreamEvent
	var steps []interactions.Step
	var text, arguments string
	for stream.Next() {
		event := stream.Value()
		events = append(events, *event)
		if start := event.GetDataStepStart(); start != nil {
			steps, text, arguments = append(steps, start.Step), "", ""
		}
		if len(steps) == 0 {
			continue
		}
		last := &steps[len(steps)-1]
		delta := event.GetDataStepDelta()
		switch {
		case delta == nil:
		case delta.GetDeltaText() != nil:
			text += delta.GetDeltaText().Text
			last.ModelOutputStep.Content = []interactions.Content{interactions.NewContent(interactions.TextContent{Text: text})}
		case delta.GetDeltaThoughtSignature() != nil:
			last.ThoughtStep.Signature = delta.GetDeltaThoughtSignature().Signature
		case delta.GetDeltaArgumentsDelta() != nil:
			arguments += *delta.GetDeltaArgumentsDelta().Arguments
			json.Unmarshal([]byte(arguments), &last.FunctionCallStep.Arguments) // succeeds once the text is complete
		}
	}
	return interactionsAnswer(steps, events), stream.Err()
}
