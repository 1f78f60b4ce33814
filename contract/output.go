package contract

import "github.com/traceforge/traceforge-go/canon"

// An OutputEnvelope is what a model answered, in one shape for all providers (LC "Normalized
// Output Envelope"). It is of the first candidate, and empty where the provider reported an error.
type OutputEnvelope struct {
	AssistantText *string     `json:"assistant_text"` // all text, refusals included; not set: none
	ToolCallsRef  *canon.Hash `json:"tool_calls_ref"` // blob: a [ToolCallList]; not set: no calls
	ReasoningRef  *canon.Hash `json:"reasoning_ref"`  // blob: the text of the reasoning, UTF-8; not set: none
}

// A ToolCall is a call that the model asks its caller to make (LC "Normalized Output Envelope").
// Calls of tools that the provider runs itself are not in envelopes.
type ToolCall struct {
	CallID         string     `json:"call_id"` // call_1, call_2, … in order of appearance in the conversation (design R8)
	ToolName       string     `json:"tool_name"`
	ArgumentsRef   canon.Hash `json:"arguments_ref"` // blob: JSON, mostly an object; a string where the model's text is not JSON
	ProviderCallID *string    `json:"provider_call_id"`
}

// A ToolCallList is the tool calls of an answer, in its order.
type ToolCallList []ToolCall

// UnmarshalJSON reads o strictly. An error is an [*Error] with all that is wrong.
func (o *OutputEnvelope) UnmarshalJSON(data []byte) error {
	return unmarshal("output envelope", data, o)
}

// UnmarshalJSON reads c strictly. An error is an [*Error] with all that is wrong.
func (c *ToolCall) UnmarshalJSON(data []byte) error { return unmarshal("tool call", data, c) }

// UnmarshalJSON reads l strictly. An error is an [*Error] with all that is wrong.
func (l *ToolCallList) UnmarshalJSON(data []byte) error { return unmarshal("tool call list", data, l) }
