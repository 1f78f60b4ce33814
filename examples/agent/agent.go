// Package agent answers questions with an Anthropic model that may look up the weather.
package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/anthropics/anthropic-sdk-go/v2"
)

const maxTurns = 8

// Weather looks up the weather of a city.
type Weather func(city string) (string, error)

// Answer answers a question, in as many turns as the model needs for its tool calls.
func Answer(ctx context.Context, client anthropic.Client, question string, weather Weather) (string, error) {
	messages := []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock(question))}
	for range maxTurns {
		reply, err := client.Messages.New(ctx, anthropic.MessageNewParams{
			Model:     anthropic.ModelClaudeHaiku4_5,
			MaxTokens: 300,
			System:    []anthropic.TextBlockParam{{Text: "Answer in one sentence. Use the tools."}},
			Messages:  messages,
			Tools:     []anthropic.ToolUnionParam{weatherTool},
		})
		if err != nil {
			return "", err
		}
		messages = append(messages, reply.ToParam())
		results := call(reply, weather)
		if len(results) == 0 {
			return text(reply), nil
		}
		messages = append(messages, anthropic.NewUserMessage(results...))
	}
	return "", errors.New("the model calls tools without end")
}

var weatherTool = anthropic.ToolUnionParamOfTool(anthropic.ToolInputSchemaParam{
	Properties: map[string]any{"city": map[string]any{"type": "string"}},
	Required:   []string{"city"},
}, "get_weather")

// call executes the tool calls of a reply.
func call(reply *anthropic.Message, weather Weather) []anthropic.ContentBlockParamUnion {
	var results []anthropic.ContentBlockParamUnion
	for _, block := range reply.Content {
		use, ok := block.AsAny().(anthropic.ToolUseBlock)
		if !ok {
			continue
		}
		var input struct {
			City string `json:"city"`
		}
		err := json.Unmarshal(use.Input, &input)
		result := ""
		if err == nil {
			result, err = weather(input.City)
		}
		if err != nil {
			result = fmt.Sprintf("error: %v", err)
		}
		results = append(results, anthropic.NewToolResultBlock(use.ID, result, err != nil))
	}
	return results
}

func text(reply *anthropic.Message) string {
	var b strings.Builder
	for _, block := range reply.Content {
		b.WriteString(block.Text)
	}
	return b.String()
}
