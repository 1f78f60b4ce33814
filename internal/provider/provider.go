package provider

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/traceforge/traceforge-go/internal/inorder"
	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/modelio"
)

// A Codec is one wire API: facts about it, and its decoders. A codec has no state; its functions are safe for
// concurrent use with different arguments. Their errors are of type [*WireError].
type Codec struct {
	API      string // the codec's name, which snapshots contain: "openai.chat"
	Provider string // the API's provider, used for unknown hosts; empty for the first part of its name

	// Facts about the provider, declared by the codec of one of its APIs; see [Provider].
	Hosts        []string
	Home         string
	Keys, Tokens []string
	OneKey       bool

	// Generates says that the answers are generated, so that the temperature determines whether they are repeatable
	// (design R7). It is implied by Seeded and by Fixed.
	Generates bool
	Tools     bool // its calls are tool calls, not model calls
	Seeded    bool // the API has a seed parameter (design R7)
	// Fixed returns which of "temperature", "top_p" and "seed" the model does not accept with a value that would make
	// it deterministic (design R7). It adds "max_tokens" if no request can limit the answer. nil means that each model
	// of the API accepts all of them.
	Fixed func(req *modelio.Request) []string

	// InURL says that each of its requests has $url, from its path. Prompted says that its requests have a prompt, or a
	// list of prompts, and never messages. A record without these belongs to another API.
	InURL    bool
	Version  string // prefix of anthropic_version, before 2026-10-21, in bodies of its requests to Claude; may be empty
	Prompted bool

	Pieces []string // unusual members of its events that contain the next words of a text

	Refusal refusalForm // the form of its errors; nil for that of its provider's other APIs, or OpenAI's

	Session *Session // nil if each call is separate
	// Listens reports whether the answer to a request is a stream of the server's own messages, for as long as the
	// client listens. nil means that no answer is.
	Listens func(req *modelio.Request) bool
	// Realtime is set for sessions over a WebSocket; nil if a call is a request with its answer.
	Realtime *Realtime

	// Match reports whether w is a request of this API, by method, path and the shape of the body. No two codecs match
	// the same request. A JSON body that no codec accepts, such as one with a repeated member, is matched by path
	// alone, so that DecodeRequest can report what is wrong with it.
	Match func(w *Wire) bool
	// DecodeRequest fails if it cannot keep something; it never drops anything.
	DecodeRequest func(w *Wire) (*modelio.Request, error)
	// DecodeResponse decodes an answer, complete or streamed, with any status.
	DecodeResponse func(a *Answer) (*modelio.Response, error)

	// If DecodeRequest is nil, Register makes it from the next three fields, and DecodeResponse from the three after
	// them.
	body    func(body jsontext.Value) *modelio.Request // decodes a body that is an object
	request func(w *Wire) (*modelio.Request, error)    // decodes any body; nil for the decoder of Realtime or body
	outside outside                                    // takes data from the path; nil if there is none

	answer decoder   // decodes the body of an answer
	stream foldRules // turns the events of a stream into such a body
	// decodes any answer without an error status; nil for the two decoders above
	response func(a *Answer) (*modelio.Response, error)

	// looks and begins are for the generic codec. It decodes an answer from anywhere with this codec if the body of a
	// complete answer, or an event of a stream, has its form. nil means that no answer does.
	looks  func(body jsontext.Value) bool
	begins func(name string, event jsontext.Value) bool
}

// registered are all codecs except for the generic one. It does not change after the package's variables are
// initialized.
var registered []*Codec

// Register adds the codec of an API. Call it when initializing package variables in the codec's own file, so that no
// other file names the API. The order of calls does not matter, because no two codecs match the same request. It panics
// if the API has a codec already.
func Register(c *Codec) *Codec {
	if _, ok := Named(c.API); ok {
		panic("two codecs for " + c.API)
	}
	registered, pieces = append(registered, c.complete()), append(pieces, c.Pieces...)
	inorder.By(registered, func(a, b *Codec) int { return strings.Compare(a.API, b.API) })
	return c
}

// complete sets implied fields.
func (c *Codec) complete() *Codec {
	c.Generates = c.Generates || c.Seeded || c.Fixed != nil
	if c.Provider == "" {
		c.Provider, _, _ = strings.Cut(c.API, ".")
	}
	switch {
	case c.request != nil:
	case c.Realtime != nil:
		c.request = c.Realtime.request
	default:
		c.request = func(w *Wire) (*modelio.Request, error) { return w.decode(c.body) }
	}
	if c.response == nil {
		c.response = func(a *Answer) (*modelio.Response, error) { return a.decode(c.stream, c.answer) }
	}
	if c.DecodeRequest == nil {
		c.DecodeRequest = c.decodeRequest
	}
	if c.DecodeResponse == nil {
		c.DecodeResponse = c.decodeResponse
	}
	return c
}

// Codecs returns all codecs, sorted by name, followed by the generic one, http.json.
func Codecs() []*Codec { return append(slices.Clip(registered), generic) }

// Match returns the codec of w's API, which is the generic one if no other matches. It reports false for a request that
// is not a model call.
func Match(w *Wire) (*Codec, bool) {
	if i := slices.IndexFunc(registered, func(c *Codec) bool { return c.Match(w) }); i >= 0 {
		return registered[i], true
	}
	return generic, generic.Match(w)
}

// Named returns the codec of an API.
func Named(api string) (*Codec, bool) {
	if i := slices.IndexFunc(registered, func(c *Codec) bool { return c.API == api }); i >= 0 {
		return registered[i], true
	}
	if api == generic.API {
		return generic, true
	}
	return nil, false
}

// Unlike says why a request cannot belong to the API, which either served or refused it; empty if it can.
func (c *Codec) Unlike(req *modelio.Request, served bool) string {
	version := strings.Trim(string(req.Options["anthropic_version"]), `"`)
	isIts := c.Version == "" || strings.HasPrefix(version, c.Version) || isRecentClaude(version)
	if !isIts && (version != "" || served && c.API == vertexAnthropicAPI) {
		return fmt.Sprintf("its anthropic_version is %q, and those of %s begin with %s", version, c.API, c.Version)
	}
	if c.InURL && req.Options[markURL] == nil {
		return "it has no " + markURL + ", which each of " + c.API + " has"
	}
	if c.Prompted && len(req.Messages) > 0 {
		return "it has messages, and those of " + c.API + " have a prompt"
	}
	return ""
}

// An Answer is an HTTP response as received, with its body decoded from any Content-Encoding.
type Answer struct {
	Status      int
	ContentType string
	Body        []byte

	Asked *modelio.Request // the request that it answers; nil if unknown
	Open  bool             // more may follow, so a stream is complete only with its terminal event

	of     []byte             // the body that the fields below belong to
	seen   []Seen             // cached result of Seen
	looked bool               // whether seen is the result, which may be nil
	parsed *jsontext.Document // cached result of Document
}

// A WireError reports what a codec cannot accept, and where.
type WireError struct {
	API     string // the codec's name
	Pointer string // RFC 6901 pointer into the body or the request; empty for all of it
	Reason  string
}

// ofAPI turns err into a [*WireError] that names the API.
func (c *Codec) ofAPI(err error) error {
	wire := (*WireError)(nil)
	if !errors.As(err, &wire) {
		wire = &WireError{Reason: err.Error()}
	}
	wire.API = c.API
	return wire
}

func (e *WireError) Error() string {
	return e.API + ": " + modelio.Violation{Pointer: e.Pointer, Message: e.Reason}.String()
}
