package fakeprovider

import (
	"net/http"
	"strings"
)

// A format is one provider's wire format.
type format interface {
	// name is what Call.API says.
	name() string
	// read fills the second group of the call's fields from the first, or says why the real
	// provider refuses the call.
	read(*Call) *Failure
	badKey(*Call) *Failure
	badMethod(*Call) *Failure

	// header returns the provider's own response headers; Content-Type only where it is not
	// the usual one.
	header(*exchange) http.Header
	// whole returns the body of an answer that is not streamed.
	whole(*exchange) []byte
	// stream returns a streamed answer.
	stream(*exchange) []event
	// framing says how the events of the call's answer go over the wire.
	framing(*Call) framing
	// failure returns the body of an error that the status tells of.
	failure(*exchange, Failure) []byte
	// failureEvents returns an error that comes in mid-stream, after so many events.
	failureEvents(x *exchange, f Failure, after int) []event
}

// formatOf returns the format that lives at the call's path.
func formatOf(c *Call) format {
	if f := openAIFormat(c); f != nil {
		if onAzure(c) {
			return azure{f}
		}
		return f
	}
	switch {
	case strings.HasSuffix(c.Path, "/v1/messages"):
		return anthropicMessages{}
	case onVertexClaude(c):
		return vertexClaude{}
	case onGemini(c):
		return gemini{}
	case strings.HasSuffix(c.Path, "/api/chat"):
		return ollama{}
	case strings.HasSuffix(c.Path, "/api/generate"):
		return ollama{generate: true}
	case strings.HasSuffix(c.Path, "/v2/chat"):
		return cohere{}
	}
	if f := bedrockFormat(c); f != nil {
		return f
	}
	if c.Header.Get("Anthropic-Version") != "" {
		return nowhere{anthropicMessages{}}
	}
	return nowhere{openAIChat{}}
}

// openAIFormat returns the format of OpenAI's, or of those that share its paths, at the
// call's path; nil: none.
func openAIFormat(c *Call) format {
	switch {
	case strings.HasSuffix(c.Path, "/chat/completions") && onMistral(c):
		return mistral{}
	case strings.HasSuffix(c.Path, "/chat/completions"):
		return openAIChat{}
	case strings.HasSuffix(c.Path, "/completions"):
		return openAICompletions{}
	case strings.HasSuffix(c.Path, "/responses"):
		return openAIResponses{}
	case strings.HasSuffix(c.Path, "/embeddings"):
		return openAIEmbeddings{}
	default:
		return nil
	}
}

// nowhere is a path at which there is no API. It fails in the words of the format it embeds.
type nowhere struct{ lost }

type lost interface {
	format
	badPath(*Call) *Failure
}

func (nowhere) name() string                 { return "" }
func (n nowhere) badMethod(c *Call) *Failure { return n.badPath(c) }
func (n nowhere) read(c *Call) *Failure      { return n.badPath(c) }
func (n nowhere) badKey(c *Call) *Failure    { return n.badPath(c) }
