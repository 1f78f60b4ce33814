package provider_test

import (
	"github.com/traceforge/traceforge-go/internal/encoder"
	"github.com/traceforge/traceforge-go/internal/provider"
	"github.com/traceforge/traceforge-go/modelio"
)

func init() {
	provider.Encoders = map[string]func(*modelio.Request) []byte{
		"anthropic.messages": encoder.Messages,
		"openai.chat":        encoder.Chat,
		"openai.responses":   encoder.Responses,
	}
}
