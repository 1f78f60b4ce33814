package fakeprovider

import (
	"fmt"
	"net/http"
	"strings"
	"time"
)

// A Reply is what the server answers to one call. The zero Reply is an answer without text.
type Reply struct {
	Text      string
	Thinking  string // the reasoning that goes before the text
	Signature string // the seal of Thinking, where the format has one; empty means a random one
	Refusal   string // why the model does not answer
	ToolCalls []ToolCall
	Choices   []Reply     // the further answers where the call asks for n; the last one stands for those that are missing
	Finish    string      // the provider's own finish reason; empty means what the content implies
	Usage     *Usage      // nil means counted in words
	Model     string      // the model that answers; empty means the one asked for
	ID        string      // of the answer; empty means a random one
	Vectors   [][]float64 // the embeddings, where the call asks for those; nil means made from the inputs
	Media     []byte      // the image or the sound, where the call asks for one; nil means made from the inputs

	Failure *Failure // an error instead of an answer, or in mid-stream: see Stream.FailAfter
	Raw     *Raw     // exact bytes instead of all the above

	Header   http.Header   // set on the response after the provider's own headers
	Delay    time.Duration // before the first byte
	Gzip     bool          // compress the body if the client accepts it
	Cut      Cut           // end the connection early
	CutAfter int           // events that are sent before the cut; a body that is not streamed is cut in its middle
	Stream   Stream
}

// A ToolCall is a function call of the model.
type ToolCall struct {
	ID        string // empty means a random one
	Name      string
	Arguments string // JSON
}

// Usage counts tokens.
type Usage struct {
	Input      int // all input tokens, those of the cache included
	Output     int // all output tokens, reasoning included
	Reasoning  int
	CacheRead  int
	CacheWrite int
}

// A Failure is a provider's error. Each format shows the fields that it has.
type Failure struct {
	Status  int // HTTP status; 0 means 500
	Type    string
	Code    string
	Param   string
	Message string
}

// Raw is an answer byte by byte.
type Raw struct {
	Status      int // 0 means 200
	ContentType string
	Chunks      []string // each is written and flushed on its own, and counts as an event
}

// A Cut says how a connection ends before its answer is whole.
type Cut int

// The ways to end a connection early.
const (
	CutNone   Cut = iota
	CutReset      // by a reset: the client reads ECONNRESET, on some systems without what it has not read yet
	CutDrop       // closed without the end of the body: the client reads io.ErrUnexpectedEOF
	CutEnd        // the body ends as a whole one does: the client reads io.EOF
	CutHangup     // reset before any byte of the response, whatever CutAfter says
)

// Stream says how a streamed answer is cut into events and written.
type Stream struct {
	Fragments []string      // the exact fragments of Text, which they must add up to
	Sizes     []int         // lengths of the fragments in characters, the last one repeated; nil means words
	Gap       time.Duration // between events
	WriteSize int           // bytes a write, so that events and characters are split; 0 means one write an event
	FailAfter int           // events before Reply.Failure, which then comes in mid-stream; 0 means at once, by status

	// Variants of server-sent events:

	CRLF      bool   // lines end with CR LF
	Comment   string // a comment before each event
	PingEvery int    // a ping event after every so many events; 0 means only what the format has
	NoDone    bool   // leave out [DONE]
}

// Text returns a reply that says text.
func Text(text string) Reply { return Reply{Text: text} }

// Fragments returns a reply that says the text in these pieces when it is streamed.
func Fragments(fragments ...string) Reply {
	return Reply{Text: strings.Join(fragments, ""), Stream: Stream{Fragments: fragments}}
}

// CallTools returns a reply that calls tools.
func CallTools(calls ...ToolCall) Reply { return Reply{ToolCalls: calls} }

// Error returns a reply that fails with an HTTP status and a provider's error.
func Error(status int, typ, message string) Reply {
	return Reply{Failure: &Failure{Status: status, Type: typ, Message: message}}
}

// Bytes returns a reply of exactly these bytes, each chunk flushed on its own.
func Bytes(contentType string, chunks ...string) Reply {
	return Reply{Raw: &Raw{ContentType: contentType, Chunks: chunks}}
}

// A scriptError is what is wrong with a reply. It is a panic, so that rendering can do
// without errors; render recovers it.
type scriptError string

// fragments cuts the text of a reply.
func (r Reply) fragments() []string {
	if r.Stream.Fragments == nil {
		return r.Stream.split(r.Text, words)
	}
	if strings.Join(r.Stream.Fragments, "") != r.Text {
		panic(scriptError(fmt.Sprintf("Stream.Fragments %q do not add up to Text %q", r.Stream.Fragments, r.Text)))
	}
	return r.Stream.Fragments
}

// split cuts text by s.Sizes, else by def.
func (s Stream) split(text string, def func(string) []string) []string {
	if len(s.Sizes) == 0 {
		return def(text)
	}
	var out []string
	rest := []rune(text)
	for i := 0; len(rest) > 0; i++ {
		n := max(1, s.Sizes[min(i, len(s.Sizes)-1)])
		n = min(n, len(rest))
		out = append(out, string(rest[:n]))
		rest = rest[n:]
	}
	return out
}

// words cuts text before each space, as tokens are.
func words(text string) []string {
	var out []string
	start := 0
	for i := 1; i < len(text); i++ {
		if text[i] == ' ' && text[i-1] != ' ' {
			out = append(out, text[start:i])
			start = i
		}
	}
	if start < len(text) {
		out = append(out, text[start:])
	}
	return out
}

// pieces cuts text into eight characters each, as the arguments of tool calls are.
func pieces(text string) []string { return Stream{Sizes: []int{8}}.split(text, nil) }

// codeOrType is the failure's code, or its type where it has no code.
func (f Failure) codeOrType() string {
	if f.Code != "" {
		return f.Code
	}
	return f.Type
}
