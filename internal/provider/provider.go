package provider

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/modelio"
)

// A Codec is one wire API: its declared facts, and how it is decoded. A codec has no state; its
// functions are safe for concurrent use with different arguments. Their errors are of type [*WireError].
type Codec struct {
	API      string // the codec's name, kept in snapshots: "openai.chat"
	Provider string // whose API it is, which counts where the host says nothing; empty means who its name begins with

	// Facts about the provider. The codec of one of its APIs declares them; [Provider] says what they are.
	Hosts  []string
	Home   string
	Keys   []string
	OneKey bool

	// Generates says that the answers are generated: a temperature says whether they would be the same (design R7). It
	// goes without saying where Seeded or Fixed is there.
	Generates bool
	Tools     bool // the calls are of tools, not of models
	Seeded    bool // the API has a seed parameter (design R7)
	// Fixed returns those of "temperature", "top_p" and "seed" for which the model takes no value that would make it
	// deterministic (design R7), and "max_tokens" where no request limits the answer. nil means each model of the API
	// takes all of them.
	Fixed func(req *modelio.Request) []string

	// InURL says that each of its requests has $url, for what its path says. Prompted says that its requests have a
	// prompt, or a list of prompts, and never messages. A record without these is of another API.
	InURL    bool
	Version  string // what anthropic_version begins with in the body of its requests of Claude; empty means they have none
	Prompted bool

	Refusal refusalForm // what its errors look like; nil means as those of its provider's other APIs, or as OpenAI's

	// Passing are the members of a body, each by its path, whose number or text ties messages to each other and says
	// no more. Whether one is there is kept, and not what it is.
	Passing [][]string
	Session *Session // nil means each call stands alone
	// Realtime is for sessions over a WebSocket; nil means a call is a request and its answer.
	Realtime *Realtime

	// Match reports whether w is a request of this API, by method, path and body shape. No two codecs
	// match the same request. A body that is JSON but that no codec may take, such as one with a
	// repeated member, is matched by path alone, so that DecodeRequest can say what is wrong with it.
	Match func(w *Wire) bool
	// DecodeRequest fails on what it cannot keep; it never drops anything.
	DecodeRequest func(w *Wire) (*modelio.Request, error)
	// DecodeResponse decodes an answer, whole or streamed, of any status.
	DecodeResponse func(a *Answer) (*modelio.Response, error)

	// Register makes DecodeRequest of these three, and DecodeResponse of the next three, where it is nil.
	body    func(body jsontext.Value) *modelio.Request // decodes a body that is an object
	request func(w *Wire) (*modelio.Request, error)    // decodes any body; nil means by Realtime, or by body
	outside outside                                    // takes what the path says; nil means the path says nothing

	answer   decoder                                    // decodes the body of an answer
	stream   foldRules                                  // makes such a body of the events of a stream
	response func(a *Answer) (*modelio.Response, error) // decodes any answer but an error status; nil means by the two before

	// looks and begins are for the generic codec: an answer from anywhere that looks like one of this API is decoded
	// as one. They are about the body of a whole answer and about an event of a stream; nil means no answer is.
	looks  func(body jsontext.Value) bool
	begins func(name string, event jsontext.Value) bool
}

// registered are the codecs of all APIs but the generic one. Nothing changes them after the
// package's variables are initialized.
var registered []*Codec

// Register adds the codec of an API. It is for the initialization of package variables, in the
// codec's own file, so that no other file names an API. The order of calls does not matter, since
// no two codecs match the same request. It panics where the API has a codec already.
func Register(c *Codec) *Codec {
	if _, ok := Named(c.API); ok {
		panic("two codecs for " + c.API)
	}
	registered = append(registered, c.complete())
	slices.SortFunc(registered, func(a, b *Codec) int { return strings.Compare(a.API, b.API) })
	return c
}

// complete sets what goes without saying.
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

// Codecs returns the codecs of all APIs, sorted by name, and after them the generic one, http.json.
func Codecs() []*Codec { return append(slices.Clip(registered), generic) }

// Match returns the codec of w's API: the generic one where no other takes it. It reports false
// for what is no model call.
func Match(w *Wire) (*Codec, bool) {
	for _, c := range registered {
		if c.Match(w) {
			return c, true
		}
	}
	return generic, generic.Match(w)
}

// Named returns the codec of an API.
func Named(api string) (*Codec, bool) {
	for _, c := range registered {
		if c.API == api {
			return c, true
		}
	}
	if api == generic.API {
		return generic, true
	}
	return nil, false
}

// Unlike says why a request cannot be one of the API, which served it or refused it; empty means it may be one.
func (c *Codec) Unlike(req *modelio.Request, served bool) string {
	version := strings.Trim(string(req.Options["anthropic_version"]), `"`)
	if c.Version != "" && !strings.HasPrefix(version, c.Version) && (version != "" || served && c.API == vertexAnthropicAPI) {
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

// An Answer is an HTTP response as it came, with its body decoded from any Content-Encoding.
type Answer struct {
	Status      int
	ContentType string
	Body        []byte

	Asked *modelio.Request // what it answers; nil means not known
	Open  bool             // more may come, so a stream is whole only with the event that ends it

	of     []byte             // the body that the rest is of
	seen   []Seen             // what Seen has returned
	parsed *jsontext.Document // what Document has returned
}

// A WireError says what a codec cannot take, and where.
type WireError struct {
	API     string // the codec's name
	Pointer string // RFC 6901 pointer into the body or the request; empty means the whole
	Reason  string
}

// ofAPI returns err, what the API cannot take, as a [*WireError] that names it.
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
