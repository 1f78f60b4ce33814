package provider

import (
	"fmt"

	"github.com/traceforge/traceforge-go/modelio"
)

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
	DecodeRequest(w *Wire) (*modelio.Request, error)
	// EncodeRequest returns a body that DecodeRequest decodes to req again.
	EncodeRequest(req *modelio.Request) ([]byte, error)
	// Endpoint returns the path and query that req is sent to, as the API's home has it.
	// Keys are not in it.
	Endpoint(req *modelio.Request) string
	// DecodeResponse decodes an answer, whole or streamed, of any status.
	DecodeResponse(a *Answer) (*modelio.Response, error)
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
