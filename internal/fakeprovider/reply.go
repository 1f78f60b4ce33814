package fakeprovider

import (
	"fmt"
	"net/http"
	"strings"
	"time"
)

// A Reply is the server's answer to one call. The zero Reply is an answer without text.
type Reply struct {
	Text      string
	Thinking  string // the reasoning before the text
	Signature string // the signature of Thinking, in formats that have one; empty for a random one
	Refusal   string // why the model refuses to answer
	ToolCalls []ToolCall
	Choices   []Reply     // the further answers if the call requests n; the last one is repeated if there are too few
	Finish    string      // the provider's own finish reason; empty to derive it from the content
	Usage     *Usage      // nil to count words
	Model     string      // the model that answers; empty for the requested one
	ID        string      // id of the answer; empty for a random one
	Vectors   [][]float64 // embeddings, if the call requests them; nil to derive them from the inputs
	Media     []byte      // image or sound, if the call requests one; nil to derive it from the inputs

	Failure *Failure // an error instead of an answer, or in the middle of a stream: see Stream.FailAfter
	Raw     *Raw     // exact bytes instead of all the above

	Header   http.Header   // added to the response after the provider's own headers
	Delay    time.Duration // before the first byte
	Gzip     bool          // compress the body if the client accepts it
	Cut      Cut           // end the connection early
	CutAfter int           // events sent before the cut; a body that is not streamed is cut in the middle
	Stream   Stream
}

// A ToolCall is a function call of the model.
type ToolCall struct {
	ID        string // empty for a random one
	Name      string
	Arguments string // JSON
}

// Usage counts tokens.
type Usage struct {
	Input      int // all input tokens, including cached ones
	Output     int // all output tokens, including reasoning
	Reasoning  int
	CacheRead  int
	CacheWrite int
}

// A Failure is a provider's error. Each format includes the fields that it supports.
type Failure struct {
	Status  int // HTTP status; 0 means 500
	Type    string
	Code    string
	Param   string
	Message string
}

// Raw is an answer with exact bytes.
type Raw struct {
	Status      int // 0 means 200
	ContentType string
	Chunks      []string // each is written and flushed separately, and counts as an event
}

// A Cut selects how a connection ends before its answer is complete.
type Cut int

// The ways to end a connection early.
const (
	CutNone   Cut = iota
	CutReset      // by a reset: the client reads ECONNRESET, on some systems without the data that it has not read yet
	CutDrop       // closed without the end of the body: the client reads io.ErrUnexpectedEOF
	CutEnd        // the body ends like a complete one: the client reads io.EOF
	CutHangup     // reset before any byte of the response, whatever the value of CutAfter
)

// Stream controls how a streamed answer is split into events and written.
type Stream struct {
	Fragments []string      // the exact fragments of Text; joined, they must equal it
	Sizes     []int         // lengths of the fragments in characters, with the last one repeated; nil to split into words
	Gap       time.Duration // between events
	WriteSize int           // bytes per write, to split events and characters; 0 for one write per event
	FailAfter int           // events before Reply.Failure, which then occurs in mid-stream; 0 to fail at once, by status

	// Variants of server-sent events:

	CRLF      bool   // lines end with CR LF
	Comment   string // a comment before each event
	PingEvery int    // a ping event after every so many events; 0 for only those of the format
	NoDone    bool   // leave out [DONE]
}

// Text returns a reply with the given text.
func Text(text string) Reply { return Reply{Text: text} }

// Fragments returns a reply whose text is streamed in these pieces.
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

// A scriptError describes a mistake in a reply. It is used as a panic value, so that rendering needs no error returns;
// render recovers it.
type scriptError string

// fragments splits the text of a reply.
func (r Reply) fragments() []string {
	if r.Stream.Fragments == nil {
		return r.Stream.split(r.Text, words)
	}
	if strings.Join(r.Stream.Fragments, "") != r.Text {
		panic(scriptError(fmt.Sprintf("Stream.Fragments %q do not add up to Text %q", r.Stream.Fragments, r.Text)))
	}
	return r.Stream.Fragments
}

// split splits text by s.Sizes, or else with def.
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

// words splits text before each space, like tokens.
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

// pieces splits text into pieces of eight characters, like the arguments of tool calls.
func pieces(text string) []string { return Stream{Sizes: []int{8}}.split(text, nil) }

// codeOrType returns the failure's code, or its type if it has no code.
func (f Failure) codeOrType() string {
	if f.Code != "" {
		return f.Code
	}
	return f.Type
}
