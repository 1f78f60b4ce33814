package agents

import (
	"context"
	"strings"

	"google.golang.org/adk/agent"
	"google.golang.org/adk/agent/llmagent"
	"google.golang.org/adk/model"
	"google.golang.org/adk/model/gemini"
	"google.golang.org/adk/runner"
	"google.golang.org/adk/session"
	"google.golang.org/adk/tool"
	"google.golang.org/adk/tool/functiontool"
	"google.golang.org/genai"
)

func newADK(ctx context.Context, tf asked) (model.LLM, error) {
	model, err := gemini.NewModel(ctx, "gemini-2.5-flash", &genai.ClientConfig{Backend: genai.BackendGeminiAPI, HTTPClient: tf.Client()})
	return model, err
}

func askADK(ctx context.Context, tf asked, instruction, question string) (string, error) {
	return runADK(ctx, tf, instruction, question, agent.StreamingModeNone)
}

func streamADK(ctx context.Context, tf asked, instruction, question string) (string, error) {
	return runADK(ctx, tf, instruction, question, agent.StreamingModeSSE)
}

func runADK(ctx context.Context, tf asked, instruction, question string, mode agent.StreamingMode) (string, error) {
	model, err := newADK(ctx, tf)
	if err != nil {
		return "", err
	}
	type answer struct {
		Weather string `json:"weather"`
	}
	weather, err := functiontool.New(functiontool.Config{Name: "weather", Description: weather},
		func(tool.Context, place) (answer, error) { return answer{"22 degrees"}, nil })
	if err != nil {
		return "", err
	}
	config := &genai.GenerateContentConfig{Temperature: genai.Ptr[float32](0), Seed: genai.Ptr[int32](42)}
	root, err := llmagent.New(llmagent.Config{Name: "root", Model: model, GenerateContentConfig: config,
		Instruction: instruction, Tools: []tool.Tool{weather}})
	if err != nil {
		return "", err
	}
	sessions := session.InMemoryService()
	r, err := runner.New(runner.Config{AppName: "app", Agent: root, SessionService: sessions})
	if err != nil {
		return "", err
	}
	created, err := sessions.Create(ctx, &session.CreateRequest{AppName: "app", UserID: "me"})
	if err != nil {
		return "", err
	}
	var said strings.Builder
	for event, err := range r.Run(ctx, "me", created.Session.ID(), genai.NewContentFromText(question, genai.RoleUser),
		agent.RunConfig{StreamingMode: mode}) {
		if err != nil {
			return "", err
		}
		for _, part := range event.Content.Parts {
			if !event.Partial {
				said.WriteString(part.Text)
			}
		}
	}
	return said.String(), nil
}
