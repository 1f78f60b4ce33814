package provider

import (
	"bytes"
	"io"
	"mime"
)

// Events returns the events of a streamed answer, or nil for one that was not streamed. How
// the body begins counts for more than its content type: an error that is one JSON object is
// none, also where it is labelled text/event-stream.
func (a *Answer) Events() *Events {
	split := framing(a.ContentType, a.Body)
	if split == nil {
		return nil
	}
	return &Events{buf: a.Body, err: io.EOF, split: split}
}

func framing(contentType string, body []byte) splitter {
	begin := bytes.TrimLeft(bytes.TrimPrefix(body, byteOrderMark), " \t\r\n")
	if len(begin) == 0 || begin[0] == '{' || begin[0] == '[' {
		return nil
	}
	mediaType, _, _ := mime.ParseMediaType(contentType)
	if mediaType == "text/event-stream" {
		return &sseSplitter{}
	}
	for _, field := range []string{"data:", "event:", "id:", "retry:"} {
		if bytes.HasPrefix(begin, []byte(field)) {
			return &sseSplitter{}
		}
	}
	return nil
}
