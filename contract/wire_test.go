package contract_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/contract"
	"github.com/traceforge/traceforge-go/internal/fakeprovider"
	"github.com/traceforge/traceforge-go/modelio"
)

// TestUnsetControlsAreNotSent shows the whole body of a call without controls.
func TestUnsetControlsAreNotSent(t *testing.T) {
	want := map[string]string{
		contract.OpenAIChat:        `{"messages":[{"content":"Say hello","role":"user"}],"model":"gpt-4o-mini"}`,
		contract.OpenAIResponses:   `{"input":[{"content":"Say hello","role":"user"}],"model":"gpt-5.2"}`,
		contract.AnthropicMessages: `{"max_tokens":4096,"messages":[{"content":[{"text":"Say hello","type":"text"}],"role":"user"}],"model":"claude-sonnet-4-5"}`,
	}
	eachAPI(t, func(s *scene, a api) {
		s.provider.Handle(fakeprovider.Echo())
		s.generate(s.asks(a))
		require.Equal(s, want[a.name], string(s.provider.Calls()[0].Body))
	})
}

// TestControlsOnTheWire shows the whole body of a call with all of the API's controls.
func TestControlsOnTheWire(t *testing.T) {
	want := map[string]string{
		contract.OpenAIChat: `{"max_tokens":9,"messages":[{"content":"Say hello","role":"user"}],"metadata":{"trace":"t-1","user_id":"u-1"},"model":"gpt-4o-mini",
			"reasoning_effort":"low","response_format":{"type":"json_schema","json_schema":{"name":"response","schema":{"type":"object"},"strict":true}},
			"stop":["END"],"store":true,"stream":true,"stream_options":{"include_usage":true},"temperature":0.20,
			"tool_choice":{"type":"function","function":{"name":"calc"}},"tools":[{"type":"function","function":{"name":"calc","parameters":{"type":"object"}}}]}`,
		contract.OpenAIResponses: `{"input":[{"content":"Say hello","role":"user"}],"max_output_tokens":9,"metadata":{"trace":"t-1","user_id":"u-1"},"model":"gpt-5.2",
			"reasoning":{"effort":"low"},"store":true,"stream":true,"temperature":0.20,
			"text":{"format":{"type":"json_schema","name":"response","schema":{"type":"object"},"strict":true}},
			"tool_choice":{"type":"function","name":"calc"},"tools":[{"type":"function","name":"calc","parameters":{"type":"object"}}]}`,
		contract.AnthropicMessages: `{"max_tokens":9,"messages":[{"content":[{"text":"Say hello","type":"text"}],"role":"user"}],"metadata":{"user_id":"u-1"},"model":"claude-sonnet-4-5",
			"output_config":{"effort":"low","format":{"type":"json_schema","schema":{"type":"object"}}},
			"stop_sequences":["END"],"stream":true,"temperature":0.20,"tool_choice":{"type":"tool","name":"calc"},
			"tools":[{"name":"calc","input_schema":{"type":"object"}}]}`,
	}
	eachAPI(t, func(s *scene, a api) {
		s.adapter.Stream = true
		s.provider.Handle(fakeprovider.Echo())
		params := s.asks(a)
		params.Runtime = contract.RuntimeArgs{
			Temperature: contract.Some[contract.Decimal]("+00.20"), MaxTokens: contract.Some[uint64](9),
			ToolRefs:   []canon.Hash{s.put(modelio.ToolDefinition{Name: "calc", InputSchema: json.RawMessage(`{"type":"object"}`)})},
			ToolChoice: &contract.ToolChoice{Tag: contract.ChoiceTool, Name: "calc"}, ReasoningEffort: contract.Some("low"),
			Metadata:           map[string]string{"user_id": "u-1"},
			ProviderOptionsRef: contract.Some(s.put(map[string]any{"openai": map[string]any{"store": true}})),
			ResponseFormatRef:  contract.Some(s.put(contract.ResponseFormat{Type: contract.FormatJSONSchema, JSONSchema: json.RawMessage(`{"type":"object"}`), Strict: contract.Some(true)})),
		}
		if a.name != contract.AnthropicMessages {
			params.Runtime.Metadata["trace"] = "t-1"
		}
		if a.name != contract.OpenAIResponses {
			params.Runtime.StopSequences = []string{"END"}
		}
		receipt := s.generate(params)
		body := string(s.provider.Calls()[0].Body)
		require.JSONEq(s, want[a.name], body)
		require.Contains(s, body, `"temperature":0.20`, "decimals keep their spelling, as far as JSON has it")
		require.Empty(s, s.warnings(receipt))
	})
}

func TestToolChoicesOnTheWire(t *testing.T) {
	want := map[string]map[string]string{
		contract.OpenAIChat:        {contract.ChoiceAuto: `"auto"`, contract.ChoiceNone: `"none"`, contract.ChoiceRequired: `"required"`},
		contract.OpenAIResponses:   {contract.ChoiceAuto: `"auto"`, contract.ChoiceNone: `"none"`, contract.ChoiceRequired: `"required"`},
		contract.AnthropicMessages: {contract.ChoiceAuto: `{"type":"auto"}`, contract.ChoiceNone: `{"type":"none"}`, contract.ChoiceRequired: `{"type":"any"}`},
	}
	eachAPI(t, func(s *scene, a api) {
		s.provider.Handle(fakeprovider.Echo())
		for tag, value := range want[a.name] {
			params := s.asks(a)
			params.Runtime.ToolRefs = []canon.Hash{s.put(calc)}
			params.Runtime.ToolChoice = &contract.ToolChoice{Tag: tag}
			s.generate(params)
			text, err := json.Marshal(s.sent()["tool_choice"])
			require.NoError(s, err)
			require.Equal(s, value, string(text))
		}
	})
}

func TestResponseFormatsOnTheWire(t *testing.T) {
	want := map[string]map[string]string{
		contract.OpenAIChat:        {contract.FormatText: `"response_format":{"type":"text"}`, contract.FormatJSON: `"response_format":{"type":"json_object"}`},
		contract.OpenAIResponses:   {contract.FormatText: `"text":{"format":{"type":"text"}}`, contract.FormatJSON: `"text":{"format":{"type":"json_object"}}`},
		contract.AnthropicMessages: {contract.FormatText: ``, contract.FormatJSON: `unsupported`},
	}
	eachAPI(t, func(s *scene, a api) {
		s.provider.Handle(fakeprovider.Echo())
		for kind, value := range want[a.name] {
			params := s.asks(a)
			params.Runtime.ResponseFormatRef = contract.Some(s.put(contract.ResponseFormat{Type: kind}))
			before := len(s.provider.Calls())
			_, err := s.adapter.Generate(s.Context(), params)
			if value == "unsupported" {
				require.ErrorIs(s, err, contract.ErrUnsupported)
				require.EqualError(s, err, `generate params for anthropic.messages: /runtime/response_format_ref: unsupported: the API has no format "json"`)
				require.Len(s, s.provider.Calls(), before)
				continue
			}
			require.NoError(s, err)
			require.Contains(s, string(s.provider.Calls()[before].Body), value)
			require.NotContains(s, s.sent(), "output_config")
		}
	})
}

// TestDecimalsOnTheWire covers spellings that JSON does not have.
func TestDecimalsOnTheWire(t *testing.T) {
	s := newScene(t)
	s.provider.Handle(fakeprovider.Echo())
	for text, want := range map[contract.Decimal]string{
		"0": "0", "+1": "1", "007": "7", "-00.50": "-0.50", "00": "0", "0e5": "0e5", "00e5": "0e5", "1E+5": "1E+5", "-0": "-0",
	} {
		params := s.asks(apis[0])
		params.Runtime.Temperature = &text
		s.generate(params)
		calls := s.provider.Calls()
		require.Contains(t, string(calls[len(calls)-1].Body), `"temperature":`+want+"}")
	}
}
