package agents

import (
	"context"

	"github.com/cloudwego/eino-ext/components/model/openai"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/components/tool/utils"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/flow/agent/react"
	"github.com/cloudwego/eino/schema"
)

func newEino(ctx context.Context, tf asked, key string) (*openai.ChatModel, error) {
	temperature, seed := float32(0), 42
	model, err := openai.NewChatModel(ctx, &openai.ChatModelConfig{
		APIKey: key, Model: "gpt-4o", HTTPClient: tf.Client(), Temperature: &temperature, Seed: &seed,
	})
	return model, err
}

func askEino(ctx context.Context, tf asked, instruction, question string) (string, error) {
	model, err := newEino(ctx, tf, "unused")
	if err != nil {
		return "", err
	}
	tools, err := utils.InferTool("weather", weather, func(context.Context, place) (string, error) { return "22 degrees", nil })
	if err != nil {
		return "", err
	}
	agent, err := react.NewAgent(ctx, &react.AgentConfig{
		ToolCallingModel: model, ToolsConfig: compose.ToolsNodeConfig{Tools: []tool.BaseTool{tools}},
	})
	if err != nil {
		return "", err
	}
	said, err := agent.Generate(ctx, []*schema.Message{schema.SystemMessage(instruction), schema.UserMessage(question)})
	if err != nil {
		return "", err
	}
	return said.Content, nil
}
