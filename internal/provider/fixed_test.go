package provider_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/provider"
	"github.com/traceforge/traceforge-go/modelio"
)

// TestFixed checks the known models that take no temperature. The sources are in fixed.go.
func TestFixed(t *testing.T) {
	object := func(text string) modelio.Object {
		var o modelio.Object
		require.NoError(t, json.Unmarshal([]byte(text), &o))
		return o
	}
	cases := []struct {
		api, model, options string
		fixed               bool
		why                 string
	}{
		{"openai.chat", "gpt-4o-mini", ``, false, "it does not reason"},
		{"openai.chat", "gpt-4.1", ``, false, "it does not reason"},
		{"openai.chat", "o1", ``, true, "it reasons"},
		{"openai.chat", "o1-2024-12-17", ``, true, "a dated name"},
		{"openai.responses", "o3-mini", ``, true, "the same on the other API"},
		{"openai.responses", "o4-mini-deep-research", ``, true, "it reasons"},
		{"openai.chat", "openai/o3", ``, true, "a gateway's name"},
		{"openai.chat", "o10", ``, false, "another model's name begins alike"},
		{"openai.chat", "olmo-3", ``, false, "another model"},
		{"openai.chat", "gpt-5", ``, true, "it reasons"},
		{"openai.chat", "gpt-5-nano-2025-08-07", ``, true, "it reasons"},
		{"openai.chat", "gpt-5-chat-latest", ``, false, "the chat variant of 5 does not reason"},
		{"openai.chat", "gpt-5.2", ``, false, "by default it does not reason"},
		{"openai.chat", "gpt-5.2", `{"reasoning_effort":"low"}`, true, "it is asked to reason"},
		{"openai.responses", "gpt-5.4-mini", `{"reasoning":{"effort":"none"}}`, false, "it is asked not to reason"},
		{"openai.responses", "gpt-5.4-mini", `{"reasoning":{"effort":"high"}}`, true, "it is asked to reason"},
		{"openai.chat", "gpt-5.2-chat-latest", ``, true, "takes 1 alone"},
		{"openai.chat", "gpt-5.1-codex-max", ``, true, "it always reasons"},
		{"openai.responses", "gpt-5.5", ``, true, "from 5.5 on they reason by default"},
		{"openai.responses", "gpt-5.6-sol", `{"reasoning":{"effort":"none"}}`, false, "it is asked not to reason"},
		{"openai.responses", "gpt-6", ``, true, "and later"},
		{"openai.chat", "gpt-4o-search-preview", ``, true, "it searches"},
		{"openai.chat", "kimi-k2.5", ``, true, "Moonshot allows 1 only"},
		{"openai.chat", "kimi-k2-turbo-preview", ``, false, "this one takes any"},
		{"anthropic.messages", "claude-opus-4-20250514", ``, false, "a date is no part of the number"},
		{"anthropic.messages", "claude-sonnet-4-5-20250929", ``, false, "4.5"},
		{"anthropic.messages", "claude-sonnet-4-5", `{"thinking":{"type":"enabled","budget_tokens":1024}}`, true, "it thinks"},
		{"anthropic.messages", "claude-sonnet-4-6", `{"thinking":{"type":"disabled"}}`, false, "it does not think"},
		{"anthropic.messages", "claude-3-5-haiku-latest", ``, false, "an older scheme of names"},
		{"anthropic.messages", "claude-opus-4-6", `{"thinking":{"type":"adaptive"}}`, true, "it thinks when it likes"},
		{"anthropic.messages", "claude-mythos-preview", ``, true, "it has no number"},
		{"anthropic.messages", "claude-haiku-4-5", `{"$headers":{"anthropic-version":"2026-10-21"}}`, true, "the API takes none since then"},
		{"anthropic.messages", "claude-haiku-4-5", `{"$headers":{"anthropic-version":"2023-06-01"}}`, false, "it did before"},
		{"vertex.anthropic", "claude-haiku-4-5", `{"anthropic_version":"2026-10-21"}`, true, "Vertex has the version in the body"},
		{"vertex.anthropic", "claude-haiku-4-5", `{"anthropic_version":"vertex-2023-10-16"}`, false, "Vertex's old version"},
		{"bedrock.invoke", "anthropic.claude-haiku-4-5", `{"anthropic_version":"2026-10-21"}`, true, "so has Bedrock"},
		{"anthropic.messages", "claude-opus-4-7", ``, true, "deprecated from 4.7 on"},
		{"anthropic.messages", "claude-opus-4-6", ``, false, "before that not"},
		{"anthropic.messages", "claude-sonnet-5", ``, true, "and later"},
		{"bedrock.invoke", "us.anthropic.claude-opus-4-8-v1:0", ``, true, "Bedrock's name"},
		{"bedrock.converse", "anthropic.claude-sonnet-4-20250514-v1:0", ``, false, "Bedrock's name with a date"},
		{"bedrock.converse", "anthropic.claude-sonnet-4-5-20250929-v1:0",
			`{"additionalModelRequestFields":{"thinking":{"type":"enabled"}}}`, true, "it thinks"},
		{"vertex.anthropic", "claude-opus-4-7@20260401", ``, true, "Vertex's name"},
		{"bedrock.invoke", "amazon.titan-image-generator-v2:0", ``, true, "it draws"},
		{"bedrock.invoke", "us.stability.stable-image-ultra-v1:1", ``, true, "it draws, by a profile"},
		{"bedrock.invoke", "amazon.titan-text-express-v1", ``, false, "it writes"},
	}
	for _, c := range cases {
		t.Run(c.api+" "+c.model+" "+c.options, func(t *testing.T) {
			codec, ok := provider.Named(c.api)
			require.True(t, ok)
			req := &modelio.Request{Model: c.model}
			if c.options != "" {
				req.Options = object(c.options)
			}
			fixed := codec.Fixed(req)
			require.Equal(t, c.fixed, len(fixed) > 0, c.why)
			require.NotContains(t, fixed, "seed", "no model is known to refuse it")
		})
	}
}

// TestNotTaken reads providers' messages that refuse a parameter.
func TestNotTaken(t *testing.T) {
	cases := []struct {
		status        int
		code, message string
		want          []string
		why           string
	}{
		{400, "unsupported_value", "Unsupported value: 'temperature' does not support 0 with this model. Only the default (1) value is supported.",
			[]string{"temperature"}, "OpenAI"},
		{400, "unsupported_parameter", "Unsupported parameter: 'temperature' is not supported with this model.", []string{"temperature"}, "OpenAI"},
		{400, "", "Unsupported parameter: 'top_p' is not supported with this model.", []string{"top_p"}, "OpenAI"},
		{400, "", "Model incompatible request argument supplied: temperature", []string{"temperature"}, "OpenAI's search models"},
		{400, "", "`temperature` is deprecated for this model.", []string{"temperature"}, "Anthropic"},
		{400, "", "temperature: Extra inputs are not permitted", []string{"temperature"}, "Anthropic's version of 2026-10-21"},
		{400, "", "`temperature` may only be set to 1 when thinking is enabled.", []string{"temperature"}, "Anthropic"},
		{400, "", "invalid temperature: only 1 is allowed for this model", []string{"temperature"}, "Moonshot"},
		{400, "", "ollama does not support parameters: {'seed': 1}, for model=llama3", []string{"seed"}, "a gateway"},
		{422, "", "seed is not supported", []string{"seed"}, "the other status for what is not valid"},
		{400, "unsupported_parameter", "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
			nil, "another parameter"},
		{400, "", "it has a temperature value of 1000 but the supported range is from 0 (inclusive) to 2.0001 (exclusive)", nil, "a range: 0 is in it"},
		{400, "", "seeds are not supported", nil, "another word"},
		{500, "", "'temperature' is not supported", nil, "another status"},
	}
	for _, c := range cases {
		require.Equal(t, c.want, provider.NotTaken(c.status, &modelio.ProviderError{Code: c.code, Message: c.message}), "%s: %s", c.why, c.message)
	}
	require.Nil(t, provider.NotTaken(400, nil), "no error was read")
}
