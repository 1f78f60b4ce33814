package contract_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/contract"
	"github.com/traceforge/traceforge-go/internal/fakeprovider"
	"github.com/traceforge/traceforge-go/modelio"
)

// TestSuite is exit criterion 1: no-tool and tool-call flows, streamed and not.
func TestSuite(t *testing.T) {
	for name, flow := range map[string]func(*scene, api){"no_tool": noToolFlow, "tool_calls": toolCallFlow} {
		for _, stream := range []bool{false, true} {
			t.Run(name+map[bool]string{true: "_streamed"}[stream], func(t *testing.T) {
				eachAPI(t, func(s *scene, a api) {
					s.adapter.Stream = stream
					flow(s, a)
					require.NotContains(s, string(s.stored()), apiKey)
				})
			})
		}
	}
}

func noToolFlow(s *scene, a api) {
	s.provider.Reply(fakeprovider.Reply{Text: "Hello there", Usage: &fakeprovider.Usage{Input: 9, Output: 3, Reasoning: 1, CacheRead: 2}})
	receipt := s.generate(s.params(a, s.says(modelio.RoleSystem, "Be brief"), s.says(modelio.RoleUser, "Say hello")))

	require.Equal(s, output{text: "Hello there"}, s.output(receipt))
	require.Equal(s, contract.FinishStop, receipt.FinishReason.Reason)
	require.NotEmpty(s, *receipt.FinishReason.Raw)
	require.Equal(s, contract.TokenUsage{Prompt: 9, Completion: 3}, receipt.TokenUsage, "the cache is in the prompt, also where an API counts it apart")
	require.Equal(s, uint64(2), *receipt.UsageDetails.CacheReadTokens)
	require.NotEmpty(s, *receipt.ProviderResponseID)
	require.Equal(s, a.provider, receipt.ProviderID)
	require.Nil(s, receipt.WarningsRef)
	require.Nil(s, receipt.CostCents)

	calls := s.provider.Calls()
	require.Len(s, calls, 1)
	require.Equal(s, a.name, calls[0].API)
	require.Equal(s, a.model, calls[0].Model)
	require.Equal(s, s.adapter.Stream, calls[0].Stream)
	require.Equal(s, []fakeprovider.Message{{Role: "system", Text: "Be brief"}, {Role: "user", Text: "Say hello"}}, calls[0].Messages)
}

// toolCallFlow makes two calls at once, then one more, and then answers.
func toolCallFlow(s *scene, a api) {
	s.provider.Reply(
		fakeprovider.Reply{Text: "Let me see.", ToolCalls: []fakeprovider.ToolCall{{Name: "calc", Arguments: `{"y":2,"x":1}`}, {Name: "calc", Arguments: `{"x":3,"y":9223372036854775807}`}}},
		fakeprovider.CallTools(fakeprovider.ToolCall{Name: "calc", Arguments: `{}`}),
		fakeprovider.Text("The sum is 6."),
	)
	tools := s.put(calc)
	step := func(messages []canon.Hash) contract.GenerateParams {
		params := s.params(a, messages...)
		params.Runtime.ToolRefs = []canon.Hash{tools}
		params.Runtime.ToolChoice = &contract.ToolChoice{Tag: contract.ChoiceAuto}
		return params
	}
	reply := func(p contract.GenerateParams, r contract.GenerateReceipt) canon.Hash {
		ref, err := s.adapter.Reply(p, r)
		require.NoError(s, err)
		return ref
	}

	messages := []canon.Hash{s.says(modelio.RoleUser, "Add up 1, 2 and 3")}
	first := step(messages)
	receipt := s.generate(first)
	require.Equal(s, contract.FinishToolCalls, receipt.FinishReason.Reason)
	require.Equal(s, output{text: "Let me see.", calls: []call{
		{"call_1", "calc", `{"x":1,"y":2}`}, {"call_2", "calc", `{"x":3,"y":9223372036854775807}`},
	}}, s.output(receipt))
	require.Equal(s, "calc", s.provider.Calls()[0].Tools[0].Name)
	require.JSONEq(s, string(calc.InputSchema), string(s.provider.Calls()[0].Tools[0].Schema))

	// The results may come in one message or several.
	messages = append(messages, reply(first, receipt),
		s.message(results(modelio.ToolResponse{Name: "calc", Ref: "call_1", Output: json.RawMessage("3")})),
		s.message(results(modelio.ToolResponse{Name: "calc", Ref: "call_2", Output: json.RawMessage(`"many"`)})),
	)
	second := step(messages)
	receipt = s.generate(second)
	require.Equal(s, output{calls: []call{{"call_3", "calc", `{}`}}}, s.output(receipt))

	messages = append(messages, reply(second, receipt),
		s.message(results(modelio.ToolResponse{Name: "calc", Ref: "call_3", Output: json.RawMessage(`{"sum":6}`)})))
	receipt = s.generate(step(messages))
	require.Equal(s, contract.FinishStop, receipt.FinishReason.Reason)
	require.Equal(s, output{text: "The sum is 6."}, s.output(receipt))

	var said []string
	for _, m := range s.provider.Calls()[2].Messages {
		for _, c := range m.ToolCalls {
			said = append(said, c.ID+" "+c.Name)
		}
		for _, r := range m.ToolResults {
			said = append(said, r.ID+" = "+r.Text)
		}
	}
	require.Equal(s, 6, len(said))
	require.ElementsMatch(s, []string{
		"call_1 calc", "call_2 calc", "call_1 = 3", "call_2 = many", "call_3 calc", `call_3 = {"sum":6}`,
	}, said, "the ids that the caller sees are those on the wire")
}

// TestProviderOptionsReachTheBody is exit criterion 2.
func TestProviderOptionsReachTheBody(t *testing.T) {
	eachAPI(t, func(s *scene, a api) {
		s.provider.Handle(fakeprovider.Echo())
		params := s.asks(a)
		options := map[string]any{
			"openai":    map[string]any{"parallel_tool_calls": false, "user": "u-1", "store": true, "reasoning": map[string]any{"summary": "auto"}, "big": json.Number("9223372036854775807")},
			"anthropic": map[string]any{"top_k": 3, "thinking": map[string]any{"type": "disabled"}, "output_config": map[string]any{"task_budget": 5}},
			"google":    map[string]any{"ignored": true},
		}
		params.Runtime.ReasoningEffort = contract.Some("low")
		params.Runtime.ProviderOptionsRef = contract.Some(s.put(options))
		s.generate(params)

		body := string(s.provider.Calls()[0].Body)
		for name, value := range options[a.family].(map[string]any) {
			if name == "reasoning" || name == "output_config" {
				continue // shared with reasoning_effort
			}
			text, err := json.Marshal(value)
			require.NoError(s, err)
			require.Contains(s, body, `"`+name+`":`+string(text))
		}
		require.NotContains(s, body, "ignored")
		switch a.name {
		case contract.OpenAIChat:
			require.Contains(s, body, `"reasoning_effort":"low"`)
		case contract.OpenAIResponses:
			require.Contains(s, body, `"reasoning":{"effort":"low","summary":"auto"}`)
		case contract.AnthropicMessages:
			require.Contains(s, body, `"output_config":{"effort":"low","task_budget":5}`)
		}
	})
}

// TestOutputsAreStored is exit criterion 3.
func TestOutputsAreStored(t *testing.T) {
	eachAPI(t, func(s *scene, a api) {
		for _, stream := range []bool{false, true} {
			s.adapter.Stream = stream
			s.provider.Reply(fakeprovider.Reply{Thinking: "They want a greeting.", Text: "Hello", ToolCalls: []fakeprovider.ToolCall{{Name: "wave", Arguments: `{"hand":"left"}`}}})
			receipt := s.generate(s.asks(a))
			out := s.output(receipt)
			require.Equal(s, "Hello", out.text)
			require.Equal(s, "They want a greeting.", out.reasoning)
			require.Equal(s, []call{{"call_1", "wave", `{"hand":"left"}`}}, out.calls)

			raw, err := s.store.Blob(*receipt.RawOutputRef)
			require.NoError(s, err)
			require.Contains(s, string(raw), *receipt.ProviderResponseID, "the provider's own bytes")
			require.Equal(s, stream, string(raw[:1]) != "{")
		}
	})
}

// TestOmittedMaxTokens is exit criterion 4.
func TestOmittedMaxTokens(t *testing.T) {
	eachAPI(t, func(s *scene, a api) {
		s.provider.Handle(fakeprovider.Echo())
		params := s.asks(a)
		before, err := json.Marshal(params)
		require.NoError(s, err)
		s.generate(params)
		after, err := json.Marshal(params)
		require.NoError(s, err)
		require.Equal(s, string(before), string(after), "the default is never written into params")
		require.Nil(s, params.Runtime.MaxTokens)

		limits := func() (all []any) {
			for _, name := range []string{"max_tokens", "max_completion_tokens", "max_output_tokens"} {
				if limit, ok := s.sent()[name]; ok {
					all = append(all, limit)
				}
			}
			return all
		}
		if a.name == contract.AnthropicMessages {
			require.Equal(s, []any{float64(contract.AnthropicMaxTokens)}, limits())
		} else {
			require.Empty(s, limits())
		}

		params.Runtime.MaxTokens = contract.Some[uint64](24)
		s.generate(params)
		require.Equal(s, []any{24.0}, limits())

		if a.name == contract.AnthropicMessages {
			params.Runtime.MaxTokens = nil
			params.Runtime.ProviderOptionsRef = contract.Some(s.put(map[string]any{"anthropic": map[string]any{"max_tokens": 7}}))
			s.generate(params)
			require.Equal(s, []any{7.0}, limits(), "the default does not stand against an option")
		}
	})
}

// TestStreamsGiveTheSameReceipt compares receipts without their raw bytes.
func TestStreamsGiveTheSameReceipt(t *testing.T) {
	reply := fakeprovider.Reply{
		ID: "answer-1", Thinking: "Hm.", Signature: "sig", Text: "Hello there", Usage: &fakeprovider.Usage{Input: 11, Output: 5, Reasoning: 2, CacheRead: 3},
		ToolCalls: []fakeprovider.ToolCall{{ID: "toolu_1", Name: "wave", Arguments: `{"hand":"left"}`}},
	}
	eachAPI(t, func(s *scene, a api) {
		var receipts []contract.GenerateReceipt
		var replies []canon.Hash
		for _, stream := range []bool{false, true} {
			s.adapter.Stream = stream
			s.provider.Reply(reply)
			params := s.asks(a)
			receipt := s.generate(params)
			ref, err := s.adapter.Reply(params, receipt)
			require.NoError(s, err)
			receipt.RawOutputRef = nil
			receipts, replies = append(receipts, receipt), append(replies, ref)
		}
		require.Equal(s, receipts[0], receipts[1])
		require.Equal(s, replies[0], replies[1])
	})
}

// TestKeyGoesIntoTheHeaderOnly looks for the key in everything that a call leaves behind.
func TestKeyGoesIntoTheHeaderOnly(t *testing.T) {
	headers := map[string]string{contract.OpenAIChat: "Authorization", contract.OpenAIResponses: "Authorization", contract.AnthropicMessages: "X-Api-Key"}
	eachAPI(t, func(s *scene, a api) {
		s.provider.Handle(fakeprovider.Echo())
		params := s.asks(a)
		receipt := s.generate(params)
		sent := s.provider.Calls()[0]
		for name, values := range sent.Header {
			for _, value := range values {
				if name == headers[a.name] {
					require.Contains(s, value, apiKey)
				} else {
					require.NotContains(s, value, apiKey)
				}
			}
		}
		require.NotContains(s, string(sent.Body), apiKey)
		for _, v := range []any{params, receipt} {
			text, err := json.Marshal(v)
			require.NoError(s, err)
			require.NotContains(s, string(text), apiKey)
		}
		require.NotContains(s, string(s.stored()), apiKey)

		// A host that needs no key does not get it.
		s.provider.RequireKey("")
		params.APIKey = nil
		s.generate(params)
		require.Empty(s, s.provider.Calls()[1].Header.Get(headers[a.name]))
	})
}

// TestUnknownProviderIsNotCalled is the adapter's side of exit criterion 7.
func TestUnknownProviderIsNotCalled(t *testing.T) {
	eachAPI(t, func(s *scene, a api) {
		for _, change := range []func(*contract.GenerateParams){
			func(p *contract.GenerateParams) { p.Provider = "nobody" },
			func(p *contract.GenerateParams) { p.Model = "gpt-0" },
		} {
			params := s.asks(a)
			change(&params)
			receipt, err := s.adapter.Generate(s.Context(), params)
			require.ErrorIs(s, err, contract.ErrUnknown)
			require.Zero(s, receipt)
		}
		require.Empty(s, s.provider.Calls())
	})
}

func TestCatalogURL(t *testing.T) {
	eachAPI(t, func(s *scene, a api) {
		s.provider.Handle(fakeprovider.Echo())
		s.adapter.Client = nil // the default client, to a loopback address
		host := s.adapter.Catalog[a.provider]
		host.URL = s.provider.URL() + "/"
		s.adapter.Catalog[a.provider] = host
		s.generate(s.asks(a))
		require.Equal(s, a.name, s.provider.Calls()[0].API)
	})
}

func TestConcurrentCalls(t *testing.T) {
	eachAPI(t, func(s *scene, a api) {
		s.provider.Handle(fakeprovider.Echo())
		params := s.asks(a)
		done := make(chan error)
		for range 8 {
			go func() {
				_, err := s.adapter.Generate(context.Background(), params)
				done <- err
			}()
		}
		for range 8 {
			require.NoError(s, <-done)
		}
	})
}
