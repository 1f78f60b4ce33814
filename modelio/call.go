package modelio

import (
	"encoding/json"
	"math"
)

// ToolAPI is the API of a [Request] that is a tool call. Its Model is the tool's name, and its only message contains
// one tool request (GK "Tool Request Part").
const ToolAPI = "tool.call"

// ModelAPI is the API of calls of a [Model], whose only wire format is GK's own JSON.
const ModelAPI = "genkit.generate"

// A Request is what a caller sent to a model, independent of the wire format. Body members without a field are kept in
// Options as they were sent, so that nothing is lost (design R6). It shares memory with the body it was decoded from.
type Request struct {
	API      string // the codec's name: "openai.chat"
	Model    string
	Messages []Message // nil if Prompt is set
	Prompt   *string   // legacy completions
	Tools    []ToolDefinition

	// The parameters that the snapshot format has fields for; nil if the caller did not send them.
	Temperature      *json.Number
	MaxTokens        *json.Number
	TopP             *json.Number
	FrequencyPenalty *json.Number
	PresencePenalty  *json.Number
	Seed             *json.Number
	Stop             []string

	// Options contains the rest of the body. Its member "$url" contains what the URL adds to the endpoint: a deployment
	// or an API version, never a key. Other members that start with "$" are explained in docs/format.md.
	Options Object
}

// A Response is a provider's answer, aggregated if it was streamed.
type Response struct {
	Candidates []Candidate // one, unless the caller asked for more; if Error is set, what was received before it
	Usage      *Usage
	ID         string         // the provider's own id of the answer; empty if it has none
	Model      string         // the model that answered, in the provider's words
	Error      *ProviderError // an error that the provider reported in place of an answer, or in the middle of a stream

	// Complete reports whether the answer is complete. An answer that was not streamed always is. A stream is complete
	// after its API's terminal event: for chat completions "[DONE]" or a finish_reason for each choice, because real
	// streams may lack either; message_stop, response.completed or response.incomplete, message-end, messageStop; a
	// finishReason for each candidate; "done":true. A reported Error also ends a stream, but does not complete it.
	Complete bool

	// Metadata is the rest of the answer: creation time, fingerprints, filter results, sources. Much of it changes with
	// every call.
	Metadata Object
}

// A Candidate is one of the alternative answers in a response.
type Candidate struct {
	Message         Message
	FinishReason    FinishReason
	FinishReasonRaw string // the provider's own word; empty if it gave none
	Citations       []Citation
}

// A Citation describes what an answer is based on, in the same terms for all providers (design R6). Fields that a
// provider does not report are empty.
type Citation struct {
	// the cited part of the answer's text, in Unicode code points from 0, excluding End; nil if not reported
	Start, End *int64
	URL        string
	Title      string
	Quote      string // text of the source, not of the answer
	Source     string // the source in the provider's terms: the id of a file or document, or its number in the request
}

// A ProviderError is a provider's error object.
type ProviderError struct {
	// HTTP status; 0 if the error came in an answer with status 200, or in the middle of a stream
	Status  int `json:",omitempty"`
	Type    string
	Code    string
	Param   string `json:",omitempty"` // the parameter of the request that it is about
	Message string // the complete body if it has no known form
}

// A Parameter is a numeric parameter of a request that the snapshot format has a member for (SF "Request Fields").
type Parameter struct {
	Name        string                       // of the member
	Least, Most float64                      // the smallest and largest value that the format permits
	Field       func(*Request) **json.Number // returns its field in a request, which is nil if it was not sent
}

// Parameters are the numeric parameters of a [Request] that have a member in the snapshot format, sorted by name. Do
// not modify them.
var Parameters = []Parameter{
	{"frequency_penalty", -2, 2, func(r *Request) **json.Number { return &r.FrequencyPenalty }},
	{"max_tokens", -math.MaxFloat64, math.MaxFloat64, func(r *Request) **json.Number { return &r.MaxTokens }},
	{"presence_penalty", -2, 2, func(r *Request) **json.Number { return &r.PresencePenalty }},
	{"seed", -math.MaxFloat64, math.MaxFloat64, func(r *Request) **json.Number { return &r.Seed }},
	{"temperature", 0, 2, func(r *Request) **json.Number { return &r.Temperature }},
	{"top_p", -math.MaxFloat64, math.MaxFloat64, func(r *Request) **json.Number { return &r.TopP }},
}
