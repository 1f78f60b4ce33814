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

	// header returns the provider's own response headers.
	header(*exchange) http.Header
	// whole returns the body of an answer that is not streamed.
	whole(*exchange) []byte
	// stream returns a streamed answer.
	stream(*exchange) []event
	// framing says how events go over the wire.
	framing() framing
	// failure returns the body of an error that the status tells of.
	failure(*exchange, Failure) []byte
	// failureEvent returns an error that comes in mid-stream.
	failureEvent(*exchange, Failure) event
}

// formatOf returns the format that lives at the call's path.
func formatOf(c *Call) format {
	switch {
	case strings.HasSuffix(c.Path, "/chat/completions"):
		return openAIChat{}
	case strings.HasSuffix(c.Path, "/v1/messages"):
		return anthropicMessages{}
	case c.Header.Get("Anthropic-Version") != "":
		return nowhere{anthropicMessages{}}
	default:
		return nowhere{openAIChat{}}
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
