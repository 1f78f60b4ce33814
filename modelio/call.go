package modelio

import (
	"encoding/json"
	"math"
)

// ToolAPI is the API of a [Request] that is a call of a tool. Its Model is the tool's name, and its only message
// has one tool request (GK "Tool Request Part").
const ToolAPI = "tool.call"

// ModelAPI is the API of the calls of a [Model], which have no wire format but GK's own JSON.
const ModelAPI = "genkit.generate"

// A Request is what a caller sent to a model, whatever the wire format. Body members that
// have no field here are in Options as they were sent, so that nothing is lost (design R6).
// It shares memory with the body it was decoded from.
type Request struct {
	API      string // the codec's name: "openai.chat"
	Model    string
	Messages []Message // nil where Prompt is set
	Prompt   *string   // legacy completions
	Tools    []ToolDefinition

	// The parameters that the snapshot format has fields for; nil where the caller sent none.
	Temperature      *json.Number
	MaxTokens        *json.Number
	TopP             *json.Number
	FrequencyPenalty *json.Number
	PresencePenalty  *json.Number
	Seed             *json.Number
	Stop             []string

	// Options is everything else of the body. Its member "$url" is what the URL says beyond the endpoint: a
	// deployment or an API version, never a key. Other members that begin with "$" are marks of ours, which
	// docs/format.md explains.
	Options Object
}

// A Response is what a provider answered, aggregated where it was streamed.
type Response struct {
	Candidates []Candidate // one, except for callers that ask for more; what came before Error, if that is set
	Usage      *Usage
	ID         string         // the provider's own id of the answer; empty means it has none
	Model      string         // the model that answered, in the provider's words
	Error      *ProviderError // what the provider reported instead of an answer, or in mid-stream after a part of one

	// Complete reports whether the whole answer is there. An answer that was not streamed is whole. A stream is whole
	// once its API's terminal event came: for chat completions "[DONE]" or a finish_reason for each choice, as real
	// streams lack either; message_stop, response.completed or response.incomplete, message-end, messageStop; a
	// finishReason for each candidate; "done":true. A reported Error ends a stream too, but does not complete it.
	Complete bool

	// Metadata is what the answer says beside its candidates: creation time, fingerprints,
	// filter results, sources. Much of it changes with every call.
	Metadata Object
}

// A Candidate is one of a response's answers.
type Candidate struct {
	Message         Message
	FinishReason    FinishReason
	FinishReasonRaw string // the provider's own word; empty means it gave none
	Citations       []Citation
}

// A Citation says on what an answer rests, in the same terms for all providers (design R6). A field that a provider
// does not fill is empty.
type Citation struct {
	Start, End *int64 // the part of the answer's text, in Unicode code points from 0, End not in it; nil means not said
	URL        string
	Title      string
	Quote      string // of the source, not of the answer
	Source     string // the source in the provider's words: the id of a file or of a document, or its number in the request
}

// A ProviderError is a provider's error object.
type ProviderError struct {
	Status  int `json:",omitempty"` // HTTP status; 0 means the error came in an answer of status 200, or in mid-stream
	Type    string
	Code    string
	Message string // the whole body where it is no error object that we know
}

// A Parameter is one of the numbers of a request that the snapshot format has a member for (SF
// "Request Fields").
type Parameter struct {
	Name        string                       // of the member
	Least, Most float64                      // the least and the greatest value that the format takes
	Field       func(*Request) **json.Number // returns where a request has it; nil there means not sent
}

// Parameters are the numbers of a [Request] that have a member in the snapshot format, sorted by name. Do not change
// them.
var Parameters = []Parameter{
	{"frequency_penalty", -2, 2, func(r *Request) **json.Number { return &r.FrequencyPenalty }},
	{"max_tokens", -math.MaxFloat64, math.MaxFloat64, func(r *Request) **json.Number { return &r.MaxTokens }},
	{"presence_penalty", -2, 2, func(r *Request) **json.Number { return &r.PresencePenalty }},
	{"seed", -math.MaxFloat64, math.MaxFloat64, func(r *Request) **json.Number { return &r.Seed }},
	{"temperature", 0, 2, func(r *Request) **json.Number { return &r.Temperature }},
	{"top_p", -math.MaxFloat64, math.MaxFloat64, func(r *Request) **json.Number { return &r.TopP }},
}
