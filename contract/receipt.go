package contract

import "github.com/traceforge/traceforge-go/canon"

// A GenerateReceipt says what became of one call (LC "LLM Receipt"). All of its refs are blobs of the
// store that the [Adapter] writes to.
//
// Two recordings of the same behaviour differ in provider_response_id, raw_output_ref, the token counts and, through
// provider_call_id, in output_ref (design R3). The finish reason and what the envelope says otherwise are what a
// caller may branch on.
type GenerateReceipt struct {
	OutputRef          canon.Hash    `json:"output_ref"`           // blob: an [OutputEnvelope]
	RawOutputRef       *canon.Hash   `json:"raw_output_ref"`       // blob: the provider's own bytes, without their content encoding
	ProviderResponseID *string       `json:"provider_response_id"` // what the provider calls the answer
	FinishReason       FinishReason  `json:"finish_reason"`
	TokenUsage         TokenUsage    `json:"token_usage"`
	UsageDetails       *UsageDetails `json:"usage_details"`
	WarningsRef        *canon.Hash   `json:"warnings_ref"` // blob: a list of [Warning]
	CostCents          *uint64       `json:"cost_cents"`   // never set here: what hosts report are fractions of a cent, which raw_output_ref has
	ProviderID         string        `json:"provider_id"`  // the params' provider
}

// A FinishReason says why a generation ended.
type FinishReason struct {
	Reason string  `json:"reason"` // one of the Finish constants
	Raw    *string `json:"raw"`    // the provider's own word
}

// Why a generation ended: GK's reasons (design R15), and those of them that LC tells apart.
const (
	FinishStop      = "stop"       // the model was done
	FinishToolCalls = "tool_calls" // the model was done, and waits for the results of its tool calls
	FinishLength    = "length"     // the limit of tokens was reached
	FinishBlocked   = "blocked"    // a filter, or the model refused
	FinishOther     = "other"      // anything else, also where the provider says nothing
	FinishError     = "error"      // the provider reported an error: [ProviderError] has it
)

// TokenUsage counts tokens. A count that the provider did not report is 0, and a [Warning] says so.
type TokenUsage struct {
	Prompt     uint64 `json:"prompt"`
	Completion uint64 `json:"completion"`
}

// UsageDetails count parts of [TokenUsage]: reasoning of Completion, and tokens of the cache of Prompt. That is so for
// all providers, also for those that count them apart. A count that the provider did not report is not set.
type UsageDetails struct {
	ReasoningTokens  *uint64 `json:"reasoning_tokens"`
	CacheReadTokens  *uint64 `json:"cache_read_tokens"`
	CacheWriteTokens *uint64 `json:"cache_write_tokens"`
}

// A Warning says what about a call was not as one might expect, though it did not fail.
type Warning struct {
	Code    string `json:"code"` // one of the Warn constants, or of a provider's words
	Message string `json:"message"`
}

// The codes of warnings.
const (
	WarnUsage      = "usage_not_reported" // the token counts that are 0 are not known
	WarnCandidates = "more_candidates"    // the envelope is of the first candidate
	WarnIncomplete = "incomplete"         // a recorded answer was cut
	WarnError      = "provider_error"     // what the provider reported
	WarnReading    = "reading"            // what other programs read in a recorded answer
)

// UnmarshalJSON reads g strictly. An error is an [*Error] with all that is wrong.
func (g *GenerateReceipt) UnmarshalJSON(data []byte) error {
	return unmarshal("generate receipt", data, g)
}

// UnmarshalJSON reads f strictly. An error is an [*Error].
func (f *FinishReason) UnmarshalJSON(data []byte) error { return unmarshal("finish reason", data, f) }

// UnmarshalJSON reads u strictly. An error is an [*Error].
func (u *TokenUsage) UnmarshalJSON(data []byte) error { return unmarshal("token usage", data, u) }

// UnmarshalJSON reads u strictly. An error is an [*Error].
func (u *UsageDetails) UnmarshalJSON(data []byte) error { return unmarshal("usage details", data, u) }

// UnmarshalJSON reads w strictly. An error is an [*Error].
func (w *Warning) UnmarshalJSON(data []byte) error { return unmarshal("warning", data, w) }
