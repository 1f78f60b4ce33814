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

// anyMethod is what a format has to which calls come by other methods than POST.
type anyMethod interface{ anyMethod() }

// formats find the format that lives at a call's path; each returns nil where its own does not. No
// two of them find one at the same path, so their order does not matter.
var formats []func(*Call) format

// serve adds what finds a format. It is for the initialization of package variables, in the
// format's own file, so that no other file names a format.
func serve(find func(*Call) format) bool {
	formats = append(formats, find)
	return true
}

// at returns what finds a format at the paths that end so.
func at(f format, suffix string) func(*Call) format {
	return func(c *Call) format {
		if strings.HasSuffix(c.Path, suffix) {
			return f
		}
		return nil
	}
}

// formatOf returns the format that lives at the call's path.
func formatOf(c *Call) format {
	for _, find := range formats {
		if f := find(c); f != nil {
			return f
		}
	}
	if c.Header.Get("Anthropic-Version") != "" {
		return nowhere{anthropicMessages{}}
	}
	return nowhere{openAIChat{}}
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
