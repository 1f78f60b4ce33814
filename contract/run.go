package contract

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/traceforge/traceforge-go/canon"
)

// A RunConfig says which model the calls of a run go to, and how (LC "Purpose"). A session's
// defaults have the same shape as what overrides them.
type RunConfig struct {
	Provider        string  `json:"provider"`
	Model           string  `json:"model"`
	ReasoningEffort *string `json:"reasoning_effort" is:"word"` // not set: the provider's default
	MaxTokens       *uint64 `json:"max_tokens"`                 // not set: the provider's default
}

// UnmarshalJSON reads c strictly. An error is an [*Error] with all that is wrong. A blank
// provider or model can be read; it fails the start of a run.
func (c *RunConfig) UnmarshalJSON(data []byte) error { return unmarshal("run config", data, c) }

// Hash returns the hash of c's canonical JSON, for [snapshot.Provenance].
func (c RunConfig) Hash() (canon.Hash, error) {
	c, err := checked("run config", c)
	if err != nil {
		return "", err
	}
	return canon.SumJSON(c)
}

// A Catalog has the providers that runs may use, by name. It says who is called and how, and
// nothing of what is asked: it checks params and never changes them (LC "Determinism rule").
type Catalog map[string]Provider

// A Provider is a host of models.
type Provider struct {
	API    string   // one of the API constants
	URL    string   // what comes before the API's own path: "https://gateway.example"; empty means the API's home
	Models []string // the models that may be used; nil means any
}

// The wire APIs that the [Adapter] speaks.
const (
	OpenAIChat        = "openai.chat"        // POST /v1/chat/completions
	OpenAIResponses   = "openai.responses"   // POST /v1/responses
	AnthropicMessages = "anthropic.messages" // POST /v1/messages
)

// A Run is the time in which a session's calls go to one provider and model. Its config cannot
// change: what is asked of the session meanwhile holds from the next run on (LC "Model Change
// Boundary").
type Run struct{ config RunConfig }

// Start starts a run with the session config, or with the overrides in its place (LC "Run-Start and Step
// Materialization Semantics"). If the config lacks a provider or a model the error is [ErrMissing], if the catalog
// does not have one it is [ErrUnknown]; it is an [*Error] with all that is wrong, the same every time. Then there is
// no run.
func Start(catalog Catalog, session RunConfig, overrides *RunConfig) (*Run, error) {
	config, err := checked("run config", *cmp.Or(overrides, &session))
	if err != nil {
		return nil, err
	}
	if err := catalog.check("run config", config.Provider, config.Model); err != nil {
		return nil, err
	}
	return &Run{config}, nil
}

// Config returns a copy of the run's config, for [Materialize].
func (r *Run) Config() RunConfig {
	config, _ := checked("run config", r.config) // was checked when the run began
	return config
}

// check says why a call cannot go to a provider's model, if it cannot. what asks for it.
func (c Catalog) check(what, provider, model string) error {
	var found violations
	host, known := c[provider]
	switch {
	case strings.TrimSpace(provider) == "":
		found.add("/provider", ruleMissing, "is blank")
	case !known:
		found.add("/provider", ruleUnknown, "%s", notAmong(provider, maps.Keys(c)))
	case dialects[host.API] == nil:
		found.add("/provider", ruleUnknown, "%q has the API %q, which is not spoken here", provider, host.API)
	}
	switch {
	case strings.TrimSpace(model) == "":
		found.add("/model", ruleMissing, "is blank")
	case known && host.Models != nil && !slices.Contains(host.Models, model):
		found.add("/model", ruleUnknown, "%s", notAmong(model, slices.Values(host.Models)))
	}
	return newError(what, found...)
}

func notAmong(name string, known iter.Seq[string]) string {
	names := strings.Join(slices.Sorted(known), ", ")
	if names == "" {
		return fmt.Sprintf("%q is not known: the catalog is empty", name)
	}
	return fmt.Sprintf("%q is not known; known are %s", name, names)
}

// A StepContext is what one step of a run adds to its config (LC "Run-Start and Step
// Materialization Semantics").
type StepContext struct {
	CorrelationID      *string           `json:"correlation_id"`
	MessageRefs        []canon.Hash      `json:"message_refs" is:"required"`
	Temperature        *Decimal          `json:"temperature"`
	ToolRefs           []canon.Hash      `json:"tool_refs"`
	ToolChoice         *ToolChoice       `json:"tool_choice"`
	StopSequences      []string          `json:"stop_sequences"`
	Metadata           map[string]string `json:"metadata"`
	ProviderOptionsRef *canon.Hash       `json:"provider_options_ref"`
	ResponseFormatRef  *canon.Hash       `json:"response_format_ref"`
	APIKey             *TextOrSecretRef  `json:"api_key" is:"key"`
}

// UnmarshalJSON reads s strictly. An error is an [*Error] with all that is wrong.
func (s *StepContext) UnmarshalJSON(data []byte) error { return unmarshal("step context", data, s) }

// Materialize makes the params of one step. The same arguments always give the same params, or the same error: an
// [*Error] with all that is wrong, which is [ErrMissing] for a provider, a model or messages that are not there. A
// member that neither argument sets stays unset. The params share no memory with the arguments.
func Materialize(config RunConfig, step StepContext) (GenerateParams, error) {
	params := GenerateParams{
		CorrelationID: step.CorrelationID,
		Provider:      config.Provider,
		Model:         config.Model,
		MessageRefs:   append([]canon.Hash{}, step.MessageRefs...), // none is not null
		Runtime: RuntimeArgs{
			Temperature:        step.Temperature,
			MaxTokens:          config.MaxTokens,
			ToolRefs:           step.ToolRefs,
			ToolChoice:         step.ToolChoice,
			ReasoningEffort:    config.ReasoningEffort,
			StopSequences:      step.StopSequences,
			Metadata:           step.Metadata,
			ProviderOptionsRef: step.ProviderOptionsRef,
			ResponseFormatRef:  step.ResponseFormatRef,
		},
		APIKey: step.APIKey,
	}
	var found violations
	if len(step.MessageRefs) == 0 {
		found.add("/message_refs", ruleMissing, "must name one message at least")
	}
	return checked("generate params", params, found...)
}
