package contract

import (
	"encoding/json"
	"errors"
	"reflect"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/modelio"
)

// GenerateParams are everything that determines one call to a model (LC "LLM Params"). They are a value: this package
// never changes params that it is given.
//
// The JSON has LC's member names. Options that are not set are written as null, and may be null or absent when read.
// Reading rejects unknown and repeated members.
type GenerateParams struct {
	CorrelationID *string          `json:"correlation_id"`     // the caller's own identifier; not sent
	Provider      string           `json:"provider" is:"name"` // a name in the [Catalog]
	Model         string           `json:"model" is:"name"`
	MessageRefs   []canon.Hash     `json:"message_refs" is:"required"` // blobs: one message each, see [PutMessage]
	Runtime       RuntimeArgs      `json:"runtime"`
	APIKey        *TextOrSecretRef `json:"api_key" is:"key"` // never the key itself: a literal key is [ErrLiteralKey]
}

// RuntimeArgs tune one call (LC "LLM Runtime Args"). An arg that is not set is not sent, so the provider's default
// applies.
type RuntimeArgs struct {
	Temperature        *Decimal          `json:"temperature"`
	MaxTokens          *uint64           `json:"max_tokens"` // maximum number of generated tokens
	ToolRefs           []canon.Hash      `json:"tool_refs"`  // blobs: one GK tool definition each; nil if not set
	ToolChoice         *ToolChoice       `json:"tool_choice"`
	ReasoningEffort    *string           `json:"reasoning_effort" is:"word"` // in the provider's words: low, medium, high
	StopSequences      []string          `json:"stop_sequences"`             // nil if not set
	Metadata           map[string]string `json:"metadata"`                   // nil if not set
	ProviderOptionsRef *canon.Hash       `json:"provider_options_ref"`       // blob: see "Blobs" in the package comment
	ResponseFormatRef  *canon.Hash       `json:"response_format_ref"`        // blob: a [ResponseFormat]
}

// UnmarshalJSON reads p strictly. It returns an [*Error] with everything that is wrong.
func (p *GenerateParams) UnmarshalJSON(data []byte) error {
	return unmarshal("generate params", data, p)
}

// UnmarshalJSON reads a strictly. It returns an [*Error] with everything that is wrong.
func (a *RuntimeArgs) UnmarshalJSON(data []byte) error { return unmarshal("runtime args", data, a) }

// Hash returns a hash that identifies the call that p describes: params with the same hash ask the same of the same
// model. It is the hash of p's canonical JSON, in which unset options are explicit nulls, so that different absent
// values cannot be confused. CorrelationID and APIKey are always null in it, because they do not change what is asked.
// A decimal counts as it is spelled.
//
// The error is an [*Error] if p is not valid.
func (p GenerateParams) Hash() (canon.Hash, error) {
	p.CorrelationID, p.APIKey = nil, nil
	p, err := checked("generate params", p)
	if err != nil {
		return "", err
	}
	return canon.SumJSON(p)
}

// checked returns a deep copy of v, or an error with everything that is wrong with it, including the known violations.
// what names its type. Values in memory must meet the rules of their JSON.
func checked[T any](what string, v T, known ...modelio.Violation) (T, error) {
	var same, none T
	text, err := json.Marshal(v)
	var inner *json.MarshalerError
	if errors.As(err, &inner) {
		err = inner.Err
	}
	if err != nil {
		return none, wrong(what, "", ruleJSON, "%v", err)
	}
	if err := unmarshal(what, text, &same, known...); err != nil {
		return none, err
	}
	if !reflect.DeepEqual(same, v) {
		return none, wrong(what, "", ruleUnicode, "a text is not valid UTF-8")
	}
	return same, nil
}

// Some returns a pointer to v, for options.
func Some[T any](v T) *T { return &v }
