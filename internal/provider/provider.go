package provider

import (
	"encoding/json"
	"fmt"

	"github.com/traceforge/traceforge-go/modelio"
)

// A Request is what a caller sent to a model, whatever the wire format. Body members that
// have no field here are in Options as they were sent, so that nothing is lost (design R6).
// It shares memory with the body it was decoded from.
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

	// Options is everything else of the body, and in its member "$url" what the URL says
	// beyond the endpoint: a deployment or an API version, never a key. For the other marks in
	// it see the package's documentation.
	Options modelio.Object
}

// A Number is the text of a JSON number as it was sent.
type Number = json.Number

// A Response is what a provider answered, aggregated where it was streamed.
type Response struct {
	Candidates []Candidate // one, but for callers that ask for more; what came before Error, if that is set
	Usage      *modelio.Usage
	ID         string // the provider's own id of the answer; empty: none
	Model      string // the model that answered, in the provider's words
	Error      *Error // what the provider reported instead of an answer, or in mid-stream after a part of one

	// Complete reports whether the whole answer is there. One that was not streamed is. A
	// stream is once its API's terminal event came: for chat completions "[DONE]" or a
	// finish_reason for each choice, as real streams lack either; message_stop,
	// response.completed or response.incomplete, message-end, messageStop; a finishReason for
	// each candidate; "done":true. A reported Error ends a stream too, but does not complete it.
	Complete bool

	// Metadata is what the answer says beside its candidates: creation time, fingerprints,
	// filter results, sources. Much of it changes with every call.
	Metadata modelio.Object
}

// A Candidate is one of a response's answers.
type Candidate struct {
	Message         modelio.Message
	FinishReason    modelio.FinishReason
	FinishReasonRaw string // the provider's own word; empty: it gave none
}

// An Error is a provider's error object.
type Error struct {
	Type    string
	Code    string
	Message string // the whole body where it is no error object that we know
}

// An Answer is an HTTP response as it came, with its body decoded from any Content-Encoding.
type Answer struct {
	Status      int
	ContentType string
	Body        []byte
}

// A Codec translates one wire API. Codecs have no state; all of their methods are safe for
// concurrent use with different arguments. Their errors are of type [*WireError].
type Codec interface {
	// API is the codec's name, kept in snapshots: "openai.chat".
	API() string
	// Provider is the home provider of the API, used where the host says nothing: "openai".
	Provider() string
	// Seeded reports whether the API has a seed parameter (design R7).
	Seeded() bool
	// Match reports whether w is a request of this API, by method, path and body shape. A
	// body that is JSON but that no codec may take, such as one with a repeated member, is
	// matched by path alone, so that DecodeRequest can say what is wrong with it.
	Match(w *Wire) bool
	// DecodeRequest fails on what it cannot keep; it never drops anything.
	DecodeRequest(w *Wire) (*Request, error)
	// EncodeRequest returns a body that DecodeRequest decodes to req again.
	EncodeRequest(req *Request) ([]byte, error)
	// Endpoint returns the path and query that req is sent to, as the API's home has it.
	// Keys are not in it.
	Endpoint(req *Request) string
	// DecodeResponse decodes an answer, whole or streamed, of any status.
	DecodeResponse(a *Answer) (*Response, error)
}

// A WireError says what a codec cannot take, and where.
type WireError struct {
	API     string // the codec's name
	Pointer string // RFC 6901 pointer into the body or the request; empty: the whole
	Reason  string
}

func (e *WireError) Error() string {
	if e.Pointer == "" {
		return fmt.Sprintf("%s: %s", e.API, e.Reason)
	}
	return fmt.Sprintf("%s: %s: %s", e.API, e.Pointer, e.Reason)
}
