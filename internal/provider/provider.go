// Package provider decodes and encodes the wire formats of model providers. Each API has one
// codec in one file; all of them speak [Request] and [Response], so that the rest of the
// project never sees a provider's own shape.
package provider

import (
	"encoding/json"
	"net/url"

	"github.com/traceforge/traceforge-go/modelio"
)

// A Wire is one HTTP request as it was sent, with its body decoded from any Content-Encoding.
type Wire struct {
	Method      string
	URL         *url.URL
	ContentType string
	Body        []byte
}

// A Request is what a caller sent to a model, whatever the wire format. Body members that
// have no field here are in Options as they were sent, so that nothing is lost (design R6).
type Request struct {
	API      string // the codec's name: "openai.chat"
	Model    string
	Messages []modelio.Message // nil where Prompt is set
	Prompt   *string           // legacy completions
	Tools    []modelio.ToolDefinition

	// The parameters that the snapshot format has fields for; nil where the caller sent none.
	Temperature      *Number
	MaxTokens        *Number
	TopP             *Number
	FrequencyPenalty *Number
	PresencePenalty  *Number
	Seed             *Number
	Stop             []string

	Options modelio.Object // everything else of the body, and of URL and headers where they carry meaning
}

// A Number is the text of a JSON number as it was sent.
type Number = json.Number

// A Response is what a provider answered, aggregated where it was streamed.
type Response struct {
	Candidates []Candidate // one, but for callers that ask for more; none when Error is set
	Usage      *modelio.Usage
	ID         string // the provider's own id of the answer; empty: none
	Model      string // the model that answered, in the provider's words
	Error      *Error // what the provider reported instead of an answer, or in mid-stream after a part of one
}

// A Candidate is one of a response's answers.
type Candidate struct {
	Message         modelio.Message
	FinishReason    modelio.FinishReason
	FinishReasonRaw string // the provider's own word
}

// An Error is a provider's error object.
type Error struct {
	Type    string
	Code    string
	Message string
}

// An Answer is an HTTP response as it came, with its body decoded from any Content-Encoding.
type Answer struct {
	Status      int
	ContentType string
	Body        []byte
}

// A Codec translates one wire API.
type Codec interface {
	// API is the codec's name, kept in snapshots: "openai.chat".
	API() string
	// Provider is the home provider of the API, used where the host says nothing: "openai".
	Provider() string
	// Seeded reports whether the API has a seed parameter (design R7).
	Seeded() bool
	// Match reports whether w is a request of this API, by method, path and body shape.
	Match(w *Wire) bool
	// DecodeRequest fails on what it cannot keep; it never drops anything.
	DecodeRequest(w *Wire) (*Request, error)
	// EncodeRequest returns a body that DecodeRequest decodes to req again.
	EncodeRequest(req *Request) ([]byte, error)
	// DecodeResponse decodes an answer, whole or streamed, of any status.
	DecodeResponse(a *Answer) (*Response, error)
}
