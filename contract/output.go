package contract

import "github.com/traceforge/traceforge-go/canon"

// An OutputEnvelope is a model's answer in the common form for all providers (LC "Normalized Output Envelope"). It
// describes the first candidate, and is empty if the provider reported an error.
type OutputEnvelope struct {
	AssistantText *string     `json:"assistant_text"` // all text, including refusals; not set if there is none
	ToolCallsRef  *canon.Hash `json:"tool_calls_ref"` // blob: a [ToolCallList]; not set without calls
	ReasoningRef  *canon.Hash `json:"reasoning_ref"`  // blob: the text of the reasoning, UTF-8; not set without reasoning
}

// A ToolCall is a call that the model asks its caller to make (LC "Normalized Output Envelope").
// Calls of tools that the provider runs itself are not in envelopes.
type ToolCall struct {
	CallID   string `json:"call_id"` // call_1, call_2, … in order of appearance in the conversation (design R8)
	ToolName string `json:"tool_name"`
	// blob: JSON, usually an object; a string if the model's text is not JSON
	ArgumentsRef   canon.Hash `json:"arguments_ref"`
	ProviderCallID *string    `json:"provider_call_id"`
}

// A ToolCallList is the list of an answer's tool calls, in order.
type ToolCallList []ToolCall

// UnmarshalJSON reads o strictly. It returns an [*Error] with everything that is wrong.
func (o *OutputEnvelope) UnmarshalJSON(data []byte) error {
	return unmarshal("output envelope", data, o)
}

// UnmarshalJSON reads c strictly. It returns an [*Error] with everything that is wrong.
func (c *ToolCall) UnmarshalJSON(data []byte) error { return unmarshal("tool call", data, c) }

// UnmarshalJSON reads l strictly. It returns an [*Error] with everything that is wrong.
func (l *ToolCallList) UnmarshalJSON(data []byte) error { return unmarshal("tool call list", data, l) }
