package contract

import "github.com/traceforge/traceforge-go/canon"

// A GenerateReceipt describes the outcome of one call (LC "LLM Receipt"). All of its refs are blobs of the store that
// the [Adapter] writes to.
//
// Two recordings of the same behavior differ in provider_response_id, raw_output_ref, the token counts and, through
// provider_call_id, in output_ref (design R3). Callers may branch on the finish reason and on the rest of the envelope.
type GenerateReceipt struct {
	OutputRef canon.Hash `json:"output_ref"` // blob: an [OutputEnvelope]
	// blob: the provider's own bytes, without their content encoding
	RawOutputRef       *canon.Hash   `json:"raw_output_ref"`
	ProviderResponseID *string       `json:"provider_response_id"` // the provider's id of the answer
	FinishReason       FinishReason  `json:"finish_reason"`
	TokenUsage         TokenUsage    `json:"token_usage"`
	UsageDetails       *UsageDetails `json:"usage_details"`
	WarningsRef        *canon.Hash   `json:"warnings_ref"` // blob: a list of [Warning]
	// never set here: hosts report fractions of a cent, which raw_output_ref contains
	CostCents  *uint64 `json:"cost_cents"`
	ProviderID string  `json:"provider_id"` // the params' provider
}

// A FinishReason is the reason why a generation ended.
type FinishReason struct {
	Reason string  `json:"reason"` // one of the Finish constants
	Raw    *string `json:"raw"`    // the provider's own word for it
}

// The finish reasons: GK's (design R15), and those that LC distinguishes in addition.
const (
	FinishStop      = "stop"       // the model was done
	FinishToolCalls = "tool_calls" // the model is done and waits for the results of its tool calls
	FinishLength    = "length"     // the token limit was reached
	FinishBlocked   = "blocked"    // a filter stopped it, or the model refused
	FinishOther     = "other"      // any other reason, or none from the provider
	FinishError     = "error"      // the provider reported an error: see [ProviderError]
)

// TokenUsage counts tokens. A count that the provider did not report is 0, with a [Warning].
type TokenUsage struct {
	Prompt     uint64 `json:"prompt"`
	Completion uint64 `json:"completion"`
}

// UsageDetails count parts of [TokenUsage]: reasoning is part of Completion, and cached tokens are part of Prompt, even
// for providers that count them separately. A count that the provider did not report is not set.
type UsageDetails struct {
	ReasoningTokens  *uint64 `json:"reasoning_tokens"`
	CacheReadTokens  *uint64 `json:"cache_read_tokens"`
	CacheWriteTokens *uint64 `json:"cache_write_tokens"`
}

// A Warning reports something unexpected about a call that did not fail.
type Warning struct {
	Code    string `json:"code"` // one of the Warn constants, or a word of the provider
	Message string `json:"message"`
}

// The codes of warnings.
const (
	WarnUsage      = "usage_not_reported" // token counts that are 0 are unknown
	WarnCandidates = "more_candidates"    // the envelope describes the first candidate
	WarnIncomplete = "incomplete"         // a recorded answer was truncated
	WarnError      = "provider_error"     // an error that the provider reported
	WarnReading    = "reading"            // what other programs read in a recorded answer
)

// UnmarshalJSON reads g strictly. It returns an [*Error] with everything that is wrong.
func (g *GenerateReceipt) UnmarshalJSON(data []byte) error {
	return unmarshal("generate receipt", data, g)
}

// UnmarshalJSON reads f strictly. It returns an [*Error] with everything that is wrong.
func (f *FinishReason) UnmarshalJSON(data []byte) error { return unmarshal("finish reason", data, f) }

// UnmarshalJSON reads u strictly. It returns an [*Error] with everything that is wrong.
func (u *TokenUsage) UnmarshalJSON(data []byte) error { return unmarshal("token usage", data, u) }

// UnmarshalJSON reads u strictly. It returns an [*Error] with everything that is wrong.
func (u *UsageDetails) UnmarshalJSON(data []byte) error { return unmarshal("usage details", data, u) }

// UnmarshalJSON reads w strictly. It returns an [*Error] with everything that is wrong.
func (w *Warning) UnmarshalJSON(data []byte) error { return unmarshal("warning", data, w) }
