package fakeprovider

import (
	"net/http"
	"strings"
)

// A format is one provider's wire format.
type format interface {
	// name returns the value of Call.API.
	name() string
	// read fills the second group of the call's fields from the first, or returns the real provider's reason to refuse
	// the call.
	read(*Call) *Failure
	badKey(*Call) *Failure
	badMethod(*Call) *Failure

	// header returns the provider's own response headers; Content-Type only if it is not the usual one.
	header(*exchange) http.Header
	// whole returns the body of an answer that is not streamed.
	whole(*exchange) []byte
	// stream returns a streamed answer.
	stream(*exchange) []event
	// framing returns how the events of the call's answer are encoded.
	framing(*Call) framing
	// failure returns the body of an error response.
	failure(*exchange, Failure) []byte
	// failureEvents returns an error in the middle of a stream, after the given number of events.
	failureEvents(x *exchange, f Failure, after int) []event
}

// anyMethod marks a format whose calls may use methods other than POST.
type anyMethod interface{ anyMethod() }

// formats are functions that find the format for a call's path; each returns nil for paths of other formats. No two of
// them match the same path, so their order does not matter.
var formats []func(*Call) format

// serve registers a function that finds a format. Each format's file calls it to initialize a package variable, so that
// no other file names the format.
func serve(find func(*Call) format) bool {
	formats = append(formats, find)
	return true
}

// at returns a function that finds a format at paths with the given suffix.
func at(f format, suffix string) func(*Call) format {
	return func(c *Call) format {
		if strings.HasSuffix(c.Path, suffix) {
			return f
		}
		return nil
	}
}

// formatOf returns the format for the call's path.
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

// nowhere is the format of a path without an API. Its errors are those of the format it embeds.
type nowhere struct{ lost }

type lost interface {
	format
	badPath(*Call) *Failure
}

func (nowhere) name() string                 { return "" }
func (n nowhere) badMethod(c *Call) *Failure { return n.badPath(c) }
func (n nowhere) read(c *Call) *Failure      { return n.badPath(c) }
func (n nowhere) badKey(c *Call) *Failure    { return n.badPath(c) }
