package provider

import (
	"bytes"
	"mime"
	"regexp"
	"slices"
	"strings"

	"github.com/traceforge/traceforge-go/internal/jsontext"
)

// Events returns the events of a streamed answer, or nil if it was not streamed. The start of the body counts for more
// than its content type: an error that is one JSON object is not a stream, even if its type is text/event-stream.
func (a *Answer) Events() *Events {
	framing := framingOf(a.ContentType, a.Body)
	if framing == nil {
		return nil
	}
	return &Events{rest: a.Body, framing: *framing}
}

// Elements returns the elements of an answer that is one JSON array, as the events of a stream; nil if it is not an
// array.
func (a *Answer) Elements() *Events {
	if !bytes.HasPrefix(bytes.TrimLeft(a.Body, " \t\r\n"), []byte("[")) {
		return nil
	}
	return &Events{rest: a.Body, framing: arrayElements}
}

func framingOf(contentType string, body []byte) *framing {
	if size, _ := frameSizes(body); size > 0 {
		return &awsFrames
	}
	begin := bytes.TrimLeft(bytes.TrimPrefix(body, byteOrderMark), " \t\r\n")
	switch {
	case len(begin) == 0 || begin[0] == '[':
	case begin[0] == '{':
		if isType(contentType, "application/x-ndjson", "application/jsonl", "application/stream+json") || isLines(begin) {
			return &jsonLines
		}
	case isType(contentType, "text/event-stream") || beginsWithField.Match(begin):
		return &serverSentEvents
	}
	return nil
}

// isType reports whether a content type is one of kinds, ignoring its parameters.
func isType(contentType string, kinds ...string) bool {
	bare, _, _ := strings.Cut(contentType, ";")
	if bare = strings.TrimSpace(bare); !slices.ContainsFunc(kinds,
		func(kind string) bool { return strings.EqualFold(kind, bare) }) {
		return false // the usual case
	}
	mediaType, _, _ := mime.ParseMediaType(contentType)
	return mediaType != ""
}

// beginsWithField matches server-sent events, which may start with comments that keep the connection alive.
var beginsWithField = regexp.MustCompile(`^(:[^\r\n]*[\r\n]+)*(data|event|id|retry):`)

// isLines reports whether a body that starts with an object has another one on its next line.
func isLines(body []byte) bool {
	line, rest, _ := bytes.Cut(body, []byte("\n"))
	return bytes.HasPrefix(bytes.TrimLeft(rest, " \t\r\n"), []byte("{")) &&
		bytes.HasSuffix(bytes.TrimSpace(line), []byte("}")) &&
		jsontext.ValueOf(line).Present()
}
