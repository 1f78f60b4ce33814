package contract_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/contract"
)

var runCatalog = contract.Catalog{
	"openai":    {API: contract.OpenAIChat, Models: []string{"gpt-4o", "gpt-4o-mini"}},
	"anthropic": {API: contract.AnthropicMessages},
	"carrier":   {API: "pigeon"},
}

// TestUnknownProviderOrModel is exit criterion 7: an unknown provider or model fails the start of a run, in the same
// way every time. There is no run then.
func TestUnknownProviderOrModel(t *testing.T) {
	valid := contract.RunConfig{Provider: "openai", Model: "gpt-4o"}
	for _, test := range []struct {
		name, why string
		config    contract.RunConfig
		is        error
		want      string
	}{
		{"missing_provider", "nobody to ask", contract.RunConfig{Model: "gpt-4o"}, contract.ErrMissing, "run config: /provider: missing: is blank"},
		{"blank_provider", "white space is no name", contract.RunConfig{Provider: " \t", Model: "gpt-4o"}, contract.ErrMissing, "run config: /provider: missing: is blank"},
		{"unknown_provider", "with those that are known", contract.RunConfig{Provider: "opnai", Model: "gpt-4o"}, contract.ErrUnknown, `run config: /provider: unknown: "opnai" is not known; known are anthropic, carrier, openai`},
		{"spelling", "names are exact", contract.RunConfig{Provider: "OpenAI", Model: "gpt-4o"}, contract.ErrUnknown, `run config: /provider: unknown: "OpenAI" is not known; known are anthropic, carrier, openai`},
		{"unknown_api", "the catalog says how", contract.RunConfig{Provider: "carrier", Model: "dove"}, contract.ErrUnknown, `run config: /provider: unknown: "carrier" has the API "pigeon", which is not spoken here`},
		{"missing_model", "nothing to ask", contract.RunConfig{Provider: "openai"}, contract.ErrMissing, "run config: /model: missing: is blank"},
		{"blank_model", "also where any model goes", contract.RunConfig{Provider: "anthropic", Model: " "}, contract.ErrMissing, "run config: /model: missing: is blank"},
		{"unknown_model", "with those that are known", contract.RunConfig{Provider: "openai", Model: "gpt-5"}, contract.ErrUnknown, `run config: /model: unknown: "gpt-5" is not known; known are gpt-4o, gpt-4o-mini`},
		{"both", "all that is wrong", contract.RunConfig{Provider: "x"}, contract.ErrUnknown, "run config: /model: missing: is blank\nrun config: /provider: unknown: \"x\" is not known; known are anthropic, carrier, openai"},
		{"effort", "blank is not unset", contract.RunConfig{Provider: "openai", Model: "gpt-4o", ReasoningEffort: contract.Some("")}, nil, "run config: /reasoning_effort: blank: must not be blank"},
	} {
		t.Run(test.name, func(t *testing.T) {
			for range 3 {
				for _, start := range []func() (*contract.Run, error){
					func() (*contract.Run, error) { return contract.Start(runCatalog, test.config, nil) },
					func() (*contract.Run, error) { return contract.Start(runCatalog, valid, &test.config) },
				} {
					run, err := start()
					require.EqualError(t, err, test.want, test.why)
					require.Nil(t, run)
					if test.is != nil {
						require.ErrorIs(t, err, test.is)
					}
				}
			}
		})
	}
	_, err := contract.Start(nil, valid, nil)
	require.EqualError(t, err, `run config: /provider: unknown: "openai" is not known: the catalog is empty`)
}

func TestStartTakesOverridesWhole(t *testing.T) {
	session := contract.RunConfig{Provider: "openai", Model: "gpt-4o", ReasoningEffort: contract.Some("high"), MaxTokens: contract.Some[uint64](10)}
	run, err := contract.Start(runCatalog, session, nil)
	require.NoError(t, err)
	require.Equal(t, session, run.Config())

	overrides := contract.RunConfig{Provider: "anthropic", Model: "claude"}
	run, err = contract.Start(runCatalog, session, &overrides)
	require.NoError(t, err)
	require.Equal(t, overrides, run.Config(), "nothing of the session's config shines through")

	overrides.Provider = ""
	_, err = contract.Start(runCatalog, session, &overrides)
	require.ErrorIs(t, err, contract.ErrMissing, "not the session's provider")
}

// TestConfigOfRunDoesNotChange is LC "Model Change Boundary": a change during a run applies from the next run on.
func TestConfigOfRunDoesNotChange(t *testing.T) {
	session := contract.RunConfig{Provider: "openai", Model: "gpt-4o", ReasoningEffort: contract.Some("high"), MaxTokens: contract.Some[uint64](10)}
	first, err := contract.Start(runCatalog, session, nil)
	require.NoError(t, err)
	before := first.Config()

	session.Provider, session.Model = "anthropic", "claude"
	*session.ReasoningEffort, *session.MaxTokens = "low", 99
	handedOut := first.Config()
	*handedOut.ReasoningEffort, *handedOut.MaxTokens = "none", 1
	require.Equal(t, before, first.Config())
	require.Equal(t, uint64(10), *first.Config().MaxTokens, "nor does what a caller did with a copy")

	step := contract.StepContext{MessageRefs: []canon.Hash{ref("a")}}
	params, err := contract.Materialize(first.Config(), step)
	require.NoError(t, err)
	require.Equal(t, "openai gpt-4o high", params.Provider+" "+params.Model+" "+*params.Runtime.ReasoningEffort)

	second, err := contract.Start(runCatalog, session, nil)
	require.NoError(t, err)
	params, err = contract.Materialize(second.Config(), step)
	require.NoError(t, err)
	require.Equal(t, "anthropic claude low", params.Provider+" "+params.Model+" "+*params.Runtime.ReasoningEffort)
}

func TestMaterialize(t *testing.T) {
	config := contract.RunConfig{Provider: "openai", Model: "gpt-4o", ReasoningEffort: contract.Some("low"), MaxTokens: contract.Some[uint64](7)}
	step := contract.StepContext{
		CorrelationID: contract.Some("c"), MessageRefs: []canon.Hash{ref("a"), ref("b")}, Temperature: contract.Some[contract.Decimal]("0.20"),
		ToolRefs: []canon.Hash{ref("c")}, ToolChoice: &contract.ToolChoice{Tag: contract.ChoiceRequired}, StopSequences: []string{"END"},
		Metadata: map[string]string{"k": "v"}, ProviderOptionsRef: contract.Some(ref("d")), ResponseFormatRef: contract.Some(ref("e")),
		APIKey: contract.Secret("openai", 1),
	}
	params, err := contract.Materialize(config, step)
	require.NoError(t, err)
	want := contract.GenerateParams{
		CorrelationID: contract.Some("c"), Provider: "openai", Model: "gpt-4o", MessageRefs: []canon.Hash{ref("a"), ref("b")},
		Runtime: contract.RuntimeArgs{
			Temperature: contract.Some[contract.Decimal]("0.20"), MaxTokens: contract.Some[uint64](7), ToolRefs: []canon.Hash{ref("c")},
			ToolChoice: &contract.ToolChoice{Tag: contract.ChoiceRequired}, ReasoningEffort: contract.Some("low"), StopSequences: []string{"END"},
			Metadata: map[string]string{"k": "v"}, ProviderOptionsRef: contract.Some(ref("d")), ResponseFormatRef: contract.Some(ref("e")),
		},
		APIKey: contract.Secret("openai", 1),
	}
	require.Equal(t, want, params)

	// The params share no memory with their inputs.
	step.MessageRefs[0], step.Metadata["k"], step.StopSequences[0], *config.MaxTokens = ref("f"), "w", "STOP", 8
	require.Equal(t, want, params)

	bare, err := contract.Materialize(contract.RunConfig{Provider: "p", Model: "m"}, contract.StepContext{MessageRefs: []canon.Hash{ref("a")}})
	require.NoError(t, err)
	require.Zero(t, bare.Runtime, "what is not set stays unset")
}

func TestMaterializeErrors(t *testing.T) {
	config := contract.RunConfig{Provider: "p", Model: "m"}
	messages := []canon.Hash{ref("a")}
	for _, test := range []struct {
		name, why string
		config    contract.RunConfig
		step      contract.StepContext
		is        error
		want      string
	}{
		{"provider", "nobody to ask", contract.RunConfig{Model: "m"}, contract.StepContext{MessageRefs: messages}, contract.ErrMissing, "generate params: /provider: missing: is blank"},
		{"model", "nothing to ask", contract.RunConfig{Provider: "p", Model: "  "}, contract.StepContext{MessageRefs: messages}, contract.ErrMissing, "generate params: /model: missing: is blank"},
		{"messages_nil", "nothing is asked", config, contract.StepContext{}, contract.ErrMissing, "generate params: /message_refs: missing: must name one message at least"},
		{"messages_empty", "nothing is asked", config, contract.StepContext{MessageRefs: []canon.Hash{}}, contract.ErrMissing, "generate params: /message_refs: missing: must name one message at least"},
		{"ref", "a ref that can be no blob", config, contract.StepContext{MessageRefs: []canon.Hash{"sha256:1"}}, nil, `generate params: /message_refs/0: hash: must be sha256: and 64 lower-case hexadecimal digits, is "sha256:1"`},
		{"decimal", "a number that is none", config, contract.StepContext{MessageRefs: messages, Temperature: contract.Some[contract.Decimal]("warm")}, nil, `generate params: /runtime/temperature: decimal: must be a decimal such as 0.2 or 1e-3, is "warm"`},
		{"choice", "a tool without a name", config, contract.StepContext{MessageRefs: messages, ToolChoice: &contract.ToolChoice{Tag: contract.ChoiceTool}}, contract.ErrMissing, "generate params: /runtime/tool_choice/$value/name: missing: is blank"},
		{"literal", "params are kept", config, contract.StepContext{MessageRefs: messages, APIKey: &contract.TextOrSecretRef{Literal: contract.Some("sk-1")}}, contract.ErrLiteralKey, "generate params: /api_key: literal: params are kept, so an API key must not stand in them: name it as a secret ref"},
		{"key", "a ref to nothing", config, contract.StepContext{MessageRefs: messages, APIKey: &contract.TextOrSecretRef{}}, nil, "generate params: json: text or secret ref: neither a literal nor a secret is set"},
	} {
		t.Run(test.name, func(t *testing.T) {
			for range 3 {
				params, err := contract.Materialize(test.config, test.step)
				require.EqualError(t, err, test.want, test.why)
				require.Zero(t, params)
				if test.is != nil {
					require.ErrorIs(t, err, test.is)
				}
			}
		})
	}
}
