package modelio

import (
	"context"
	"encoding/json"
)

// A Role is the speaker of a [Message] (GK "Message").
type Role string

// The four roles of GK. Codecs map the providers' own words to them (design R15).
const (
	RoleSystem Role = "system"
	RoleUser   Role = "user"
	RoleModel  Role = "model"
	RoleTool   Role = "tool"
)

// A FinishReason is the reason why a generation stopped (GK "Generate Response").
type FinishReason string

// The four finish reasons of GK.
const (
	FinishStop    FinishReason = "stop"
	FinishLength  FinishReason = "length"
	FinishBlocked FinishReason = "blocked"
	FinishOther   FinishReason = "other"
)

// A ToolChoice tells a model whether it may call tools (GK "Generate Request").
type ToolChoice string

// The tool choices of GK.
const (
	ToolChoiceAuto     ToolChoice = "auto"
	ToolChoiceRequired ToolChoice = "required"
	ToolChoiceNone     ToolChoice = "none"
)

// An Object is a JSON object whose members keep their own bytes, so that large integers, spellings of numbers and
// unknown members are not lost.
type Object map[string]json.RawMessage

// A Message is one turn of a conversation (GK "Message").
type Message struct {
	Role     Role   `json:"role"`
	Content  []Part `json:"content" is:"required"`
	Metadata Object `json:"metadata,omitzero"` // nil if absent
	Unknown  Object `json:"-" is:"unknown"`    // members that GK does not name
}

// A Part is one piece of a message's content (GK "Part"). Exactly one of the six kinds is set. A part of another kind
// (Genkit has data and resource parts) has none of them and keeps its members in Unknown. Only Custom may be combined
// with another kind, as in Genkit's schema.
type Part struct {
	Text         *string       `json:"text,omitzero"`
	Media        *Media        `json:"media,omitzero"`
	ToolRequest  *ToolRequest  `json:"toolRequest,omitzero"`
	ToolResponse *ToolResponse `json:"toolResponse,omitzero"`
	Reasoning    *string       `json:"reasoning,omitzero"`
	Custom       Object        `json:"custom,omitzero"` // non-nil for a custom part, even if it is empty

	Metadata Object `json:"metadata,omitzero"`
	Unknown  Object `json:"-" is:"unknown"`
}

// Media refers to binary content by a data: URI, which every model supports, or by an http(s): URI.
type Media struct {
	ContentType string `json:"contentType,omitzero"` // MIME type; empty if absent
	URL         string `json:"url"`
	Unknown     Object `json:"-" is:"unknown"`
}

// A ToolRequest requests one tool call (GK "Tool Request Part").
type ToolRequest struct {
	Name    string          `json:"name"`
	Input   json.RawMessage `json:"input,omitzero"`   // nil if absent
	Ref     string          `json:"ref,omitzero"`     // empty if absent
	Partial bool            `json:"partial,omitzero"` // for intermediate chunks; GK: MUST NOT be set in the final one
	Unknown Object          `json:"-" is:"unknown"`
}

// A ToolResponse is the result of a tool call (GK "Tool Response Part").
type ToolResponse struct {
	Name    string          `json:"name"`
	Output  json.RawMessage `json:"output,omitzero"` // nil if absent; null is kept
	Ref     string          `json:"ref,omitzero"`
	Content []Part          `json:"content,omitzero"` // Genkit's multipart tool responses; nil if absent
	Unknown Object          `json:"-" is:"unknown"`
}

// A ToolDefinition describes a tool that the model may call.
type ToolDefinition struct {
	Name         string          `json:"name"`
	Description  string          `json:"description,omitzero"`
	InputSchema  json.RawMessage `json:"inputSchema,omitzero"`  // JSON Schema; nil if absent
	OutputSchema json.RawMessage `json:"outputSchema,omitzero"` // JSON Schema; nil if absent
	Metadata     Object          `json:"metadata,omitzero"`
	Unknown      Object          `json:"-" is:"unknown"`
}

// OutputConfig constrains a model's answer.
type OutputConfig struct {
	Format      string          `json:"format,omitzero"`      // "json", "text", …; empty if absent
	Schema      json.RawMessage `json:"schema,omitzero"`      // JSON Schema; nil if absent
	Constrained *bool           `json:"constrained,omitzero"` // nil if absent
	Unknown     Object          `json:"-" is:"unknown"`
}

// A GenerateRequest is the input of a model (GK "Generate Request").
type GenerateRequest struct {
	Messages   []Message        `json:"messages" is:"required"`
	Tools      []ToolDefinition `json:"tools,omitzero"`
	Config     Object           `json:"config,omitzero"` // nil if absent
	ToolChoice ToolChoice       `json:"toolChoice,omitzero"`
	Output     *OutputConfig    `json:"output,omitzero"`
	Unknown    Object           `json:"-" is:"unknown"`
}

// A GenerateResponse is the output of a model (GK "Generate Response").
type GenerateResponse struct {
	Message      *Message        `json:"message,omitzero"`
	FinishReason FinishReason    `json:"finishReason,omitzero"`
	Usage        *Usage          `json:"usage,omitzero"`
	Custom       json.RawMessage `json:"custom,omitzero"` // nil if absent
	Unknown      Object          `json:"-" is:"unknown"`
}

// Usage counts tokens. A count that was not reported is nil, not zero. Counts that codecs decode have the same meaning
// for all providers (design R6): the input is everything the model read, and the output everything it generated.
type Usage struct {
	InputTokens  *int64 `json:"inputTokens,omitzero"`
	OutputTokens *int64 `json:"outputTokens,omitzero"`
	TotalTokens  *int64 `json:"totalTokens,omitzero"` // as reported by the provider, which may not be the sum

	// Parts of the input.
	CachedContentTokens  *int64 `json:"cachedContentTokens,omitzero"`  // Genkit's name for tokens read from the cache
	CacheWriteTokens     *int64 `json:"cacheWriteTokens,omitzero"`     // tokens written to the provider's cache
	CacheWriteHourTokens *int64 `json:"cacheWriteHourTokens,omitzero"` // cache writes kept for an hour, which cost more
	ToolUseTokens        *int64 `json:"toolUseTokens,omitzero"`        // what the model read from the provider's own tools

	// Genkit's name for reasoning tokens, which are part of the output
	ThoughtsTokens *int64 `json:"thoughtsTokens,omitzero"`

	Unknown Object `json:"-" is:"unknown"`
}

// Used returns how many tokens a call used. It is the sum of input and output if both were reported, or else the
// provider's total, or else nil.
func (u *Usage) Used() *int64 {
	switch {
	case u == nil:
		return nil
	case u.InputTokens == nil || u.OutputTokens == nil:
		return u.TotalTokens
	}
	sum := *u.InputTokens + *u.OutputTokens
	return &sum
}

// Completed returns u with a total: if none was reported, the sum of input and output if both were.
func (u *Usage) Completed() *Usage {
	if u == nil || u.TotalTokens != nil {
		return u
	}
	completed := *u
	completed.TotalTokens = u.Used()
	return &completed
}

// A GenerateResponseChunk is one piece of a streamed answer (GK "Streaming").
type GenerateResponseChunk struct {
	Role       Role            `json:"role,omitzero"`  // empty if absent
	Index      int             `json:"index,omitzero"` // candidate index
	Content    []Part          `json:"content" is:"required"`
	Custom     json.RawMessage `json:"custom,omitzero"`
	Aggregated *bool           `json:"aggregated,omitzero"` // the chunk contains the complete answer so far; nil if absent
	Unknown    Object          `json:"-" is:"unknown"`
}

// A StreamFunc receives the chunks of an answer in order. If it returns an error, the generation ends and Generate
// returns that error. A nil StreamFunc means that the answer is not streamed.
type StreamFunc func(context.Context, *GenerateResponseChunk) error

// A Model generates an answer to a request. The response is the complete answer even if it was streamed (GK
// "Streaming"). The end of the context ends the generation with an error that wraps the context's error. A model does
// not change the request, or a chunk or response that it has passed on. Implementations are safe for concurrent use.
// Check in package modeltest tests all of this, except for changes of chunks and responses.
type Model interface {
	Generate(ctx context.Context, req *GenerateRequest, stream StreamFunc) (*GenerateResponse, error)
}

// A ModelFunc is a function that is a [Model].
type ModelFunc func(ctx context.Context, req *GenerateRequest, stream StreamFunc) (*GenerateResponse, error)

// Generate calls f.
func (f ModelFunc) Generate(ctx context.Context, req *GenerateRequest, stream StreamFunc) (*GenerateResponse, error) {
	return f(ctx, req, stream)
}

// TextPart returns a part with a text.
func TextPart(text string) Part { return Part{Text: &text} }

// ReasoningPart returns a part with a reasoning trace.
func ReasoningPart(text string) Part { return Part{Reasoning: &text} }

// MediaPart returns a part that refers to media by URL.
func MediaPart(contentType, url string) Part {
	return Part{Media: &Media{ContentType: contentType, URL: url}}
}
