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

// A RunConfig says which model a run calls, and how (LC "Purpose"). A session's defaults and their overrides have this
// type.
type RunConfig struct {
	Provider        string  `json:"provider"`
	Model           string  `json:"model"`
	ReasoningEffort *string `json:"reasoning_effort" is:"word"` // not set: the provider's default applies
	MaxTokens       *uint64 `json:"max_tokens"`                 // not set: the provider's default applies
}

// UnmarshalJSON reads c strictly. It returns an [*Error] with everything that is wrong. A blank provider or model can
// be read; it fails when a run starts.
func (c *RunConfig) UnmarshalJSON(data []byte) error { return unmarshal("run config", data, c) }

// Hash returns the hash of c's canonical JSON, for [snapshot.Provenance].
func (c RunConfig) Hash() (canon.Hash, error) {
	c, err := checked("run config", c)
	if err != nil {
		return "", err
	}
	return canon.SumJSON(c)
}

// A Catalog lists the providers that runs may use, by name. It determines who is called and how, but not what is asked:
// it checks params and never changes them (LC "Determinism rule").
type Catalog map[string]Provider

// A Provider is a host of models.
type Provider struct {
	API    string   // one of the API constants
	URL    string   // the part before the API's own path: "https://gateway.example"; empty for the API's home
	Models []string // the models that may be used; nil for any
}

// The APIs that the [Adapter] supports.
const (
	OpenAIChat        = "openai.chat"        // POST /v1/chat/completions
	OpenAIResponses   = "openai.responses"   // POST /v1/responses
	AnthropicMessages = "anthropic.messages" // POST /v1/messages
)

// A Run is the time in which a session's calls go to one provider and model. Its config cannot change: changes to the
// session apply from the next run on (LC "Model Change Boundary").
type Run struct{ config RunConfig }

// Start starts a run with the session config, or with the overrides in its place (LC "Run-Start and Step
// Materialization Semantics"). If the config lacks a provider or a model, the error is [ErrMissing]; if the catalog
// does not contain it, [ErrUnknown]. The error is an [*Error] with everything that is wrong, the same every time. No
// run is started then.
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
	config, _ := checked("run config", r.config) // checked when the run started
	return config
}

// check returns an error if a call cannot go to a provider's model. what names the caller in the error.
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
	case host.Models != nil && !slices.Contains(host.Models, model):
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

// A StepContext is what one step adds to the config of its run (LC "Run-Start and Step Materialization Semantics").
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

// UnmarshalJSON reads s strictly. It returns an [*Error] with everything that is wrong.
func (s *StepContext) UnmarshalJSON(data []byte) error { return unmarshal("step context", data, s) }

// Materialize makes the params of one step. The same arguments always give the same params or the same error: an
// [*Error] with everything that is wrong, which is [ErrMissing] if the provider, the model or the messages are missing.
// Members that neither argument sets stay unset. The params share no memory with the arguments.
func Materialize(config RunConfig, step StepContext) (GenerateParams, error) {
	params := GenerateParams{
		CorrelationID: step.CorrelationID,
		Provider:      config.Provider,
		Model:         config.Model,
		MessageRefs:   append([]canon.Hash{}, step.MessageRefs...), // never null
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
