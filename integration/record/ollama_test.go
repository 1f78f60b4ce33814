package record_test

import (
	"context"
	"encoding/json"
	"net/url"

	"github.com/ollama/ollama/api"

	"github.com/traceforge/traceforge-go/traceforgetest"
)

var ollamaChat = sdk{
	name: "ollama chat", api: "ollama.chat", provider: "ollama",
	unkeyed: true, // a local server needs no key
	open: func(_ context.Context, tf *traceforgetest.Recorder) (asker, error) {
		client := newOllama(tf)
		return func(ctx context.Context, q question) (*answer, error) {
			req, err := ollamaRequest(q)
			if err != nil {
				return nil, err
			}
			var pieces []api.ChatResponse
			err = client.Chat(ctx, req, func(piece api.ChatResponse) error {
				pieces = append(pieces, piece)
				return nil
			})
			return ollamaAnswer(pieces), err
		}, nil
	},
	lacks: retries,
}

func newOllama(tf *traceforgetest.Recorder) *api.Client {
	return api.NewClient(&url.URL{Scheme: "http", Host: "localhost:11434"}, tf.Client())
}

var ollamaOptions = map[string]any{"temperature": 0, "seed": 42}

func ollamaRequest(q question) (*api.ChatRequest, error) {
	req := &api.ChatRequest{
		Model: "qwen3", Stream: &q.stream, Options: ollamaOptions,
		Messages: []api.Message{{Role: "system", Content: "be brief"}, {Role: "user", Content: q.text}},
	}
	if q.tools {
		declared, err := json.Marshal([]any{map[string]any{
			"type": "function", "function": map[string]any{"name": "weather", "parameters": weatherSchema},
		}})
		if err == nil {
			err = json.Unmarshal(declared, &req.Tools)
		}
		if err != nil {
			return nil, err
		}
	}
	if q.schema {
		var err error
		if req.Format, err = json.Marshal(summarySchema); err != nil {
			return nil, err
		}
	}
	if q.after != nil {
		asked := q.after.turn.(api.Message)
		req.Messages = append(req.Messages, asked)
		for i, text := range q.results {
			req.Messages = append(req.Messages, api.Message{Role: "tool", ToolName: "weather", ToolCallID: asked.ToolCalls[i].ID, Content: text})
		}
	}
	return req, nil
}

func ollamaAnswer(pieces []api.ChatResponse) *answer {
	whole := api.Message{Role: "assistant"}
	a := &answer{value: pieces}
	for _, piece := range pieces {
		whole.Content += piece.Message.Content
		whole.Thinking += piece.Message.Thinking
		whole.ToolCalls = append(whole.ToolCalls, piece.Message.ToolCalls...)
	}
	for _, call := range whole.ToolCalls {
		a.calls = append(a.calls, call.Function.Arguments.String())
	}
	a.text, a.turn = whole.Content, whole
	return a
}

var ollamaGenerate = sdk{
	name: "ollama generate", api: "ollama.generate", provider: "ollama",
	unkeyed: true,
	open: func(_ context.Context, tf *traceforgetest.Recorder) (asker, error) {
		client := newOllama(tf)
		return func(ctx context.Context, q question) (*answer, error) {
			req := &api.GenerateRequest{Model: "qwen3", Prompt: q.text, System: "be brief", Stream: &q.stream, Options: ollamaOptions}
			if q.schema {
				var err error
				if req.Format, err = json.Marshal(summarySchema); err != nil {
					return nil, err
				}
			}
			a := &answer{}
			var pieces []api.GenerateResponse
			err := client.Generate(ctx, req, func(piece api.GenerateResponse) error {
				pieces = append(pieces, piece)
				a.text += piece.Response
				return nil
			})
			a.value = pieces
			return a, err
		}, nil
	},
	lacks: retries | tools,
}
