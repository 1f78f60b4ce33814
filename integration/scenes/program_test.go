package scenes_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"github.com/traceforge/traceforge-go/internal/fakeprovider"
	"github.com/traceforge/traceforge-go/internal/tbtest"
	"github.com/traceforge/traceforge-go/traceforgetest"
)

func client(tf *traceforgetest.Recorder) openai.Client {
	return clientOf(tf, "https://api.openai.com/v1")
}

func clientOf(tf *traceforgetest.Recorder, base string) openai.Client {
	return openai.NewClient(option.WithHTTPClient(tf.Client()), option.WithBaseURL(base), option.WithAPIKey("unused"),
		option.WithMaxRetries(0))
}

func params(messages ...openai.ChatCompletionMessageParamUnion) openai.ChatCompletionNewParams {
	return openai.ChatCompletionNewParams{
		Model: "gpt-4o-mini", Temperature: openai.Float(0), Seed: openai.Int(42), Messages: messages,
	}
}

// asks returns a program that asks one question for each user text, all with one system prompt.
func asks(system string, questions ...string) program {
	return func(tb *tbtest.TB, tf *traceforgetest.Recorder) {
		c := client(tf)
		for _, question := range questions {
			_, err := c.Chat.Completions.New(context.Background(), params(openai.SystemMessage(system), openai.UserMessage(question)))
			if err != nil {
				tb.Errorf("asking %q: %v", question, err)
			}
		}
	}
}

// An agent is a program that calls a tool in each turn and gets a text in the last.
type agent struct {
	system   string
	turns    int
	stubborn bool             // goes on after an error
	found    func(int) string // returns the tool's result for a turn; nil for the function found
}

func (a agent) run(tb *tbtest.TB, tf *traceforgetest.Recorder) {
	c := client(tf)
	p := params(openai.SystemMessage(a.system), openai.UserMessage(fmt.Sprintf("work in %d turns", a.turns)))
	p.Tools = []openai.ChatCompletionToolUnionParam{openai.ChatCompletionFunctionTool(openai.FunctionDefinitionParam{
		Name:        "look",
		Description: openai.String("Look at a place."),
		Parameters: openai.FunctionParameters{
			"type": "object", "properties": map[string]any{"place": map[string]string{"type": "string"}},
		},
	})}
	look := found
	if a.found != nil {
		look = a.found
	}
	for turn := range a.turns + 1 {
		completion, err := c.Chat.Completions.New(context.Background(), p)
		if err != nil {
			tb.Errorf("turn %d: %v", turn, err)
			if !a.stubborn {
				return
			}
			p.Messages = append(p.Messages, openai.UserMessage(fmt.Sprintf("go on after error %d", turn)))
			continue
		}
		message := completion.Choices[0].Message
		p.Messages = append(p.Messages, message.ToParam())
		for _, call := range message.ToolCalls {
			p.Messages = append(p.Messages, openai.ToolMessage(look(turn), call.ID))
		}
	}
}

func found(turn int) string {
	return fmt.Sprintf("room %d has a table, a lamp and %d chairs\nand a window", turn, turn)
}

// answers answers by the last user message. An agent gets a tool call for each of its turns.
func answers(call fakeprovider.Call) fakeprovider.Reply {
	turns := 0
	if _, err := fmt.Sscanf(call.LastUser(), "work in %d turns", &turns); err == nil {
		if done := toolResults(call); done < turns {
			return fakeprovider.CallTools(fakeprovider.ToolCall{
				Name: "look", Arguments: fmt.Sprintf(`{"place": "room %d"}`, done),
			})
		}
	}
	return fakeprovider.Text("Answer to " + call.LastUser() + "\nand no more.")
}

// rules returns a system prompt of n rules.
func rules(n int) string {
	var b strings.Builder
	b.WriteString("You are a careful assistant of a shop.\n")
	for i := range n {
		fmt.Fprintf(&b, "Rule %d: when the customer asks about matter %d, answer shortly and kindly, and name the order.\n", i+1, i+1)
	}
	return b.String()
}

func edited(prompt, was, is string) string { return strings.Replace(prompt, was, is, 1) }

func toolResults(call fakeprovider.Call) (n int) {
	for _, m := range call.Messages {
		n += len(m.ToolResults)
	}
	return n
}
