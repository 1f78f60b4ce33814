package fakeprovider

import (
	"bytes"
	"strings"
)

// An event is one piece of a streamed answer before it is framed.
type event struct {
	name   string // "" for an event without a name
	data   []byte
	failed bool // an exception of AWS's event streams
}

// jsonEvent returns an event that carries v.
func jsonEvent(name string, v any) event { return event{name: name, data: marshal(v)} }

// A framing encodes the events of a stream for the wire.
type framing struct {
	contentType string
	frames      func([]event, Stream) [][]byte
}

// sse frames server-sent events.
func sse() framing {
	return framing{"text/event-stream; charset=utf-8", func(events []event, s Stream) [][]byte {
		var out [][]byte
		for i, e := range events {
			if s.NoDone && string(e.data) == "[DONE]" {
				continue
			}
			var b bytes.Buffer
			if s.Comment != "" {
				b.WriteString(": " + s.Comment + "\n\n")
			}
			if e.name != "" {
				b.WriteString("event: " + e.name + "\n")
			}
			for line := range strings.SplitSeq(string(e.data), "\n") {
				b.WriteString("data: " + line + "\n")
			}
			b.WriteByte('\n')
			if s.PingEvery > 0 && (i+1)%s.PingEvery == 0 {
				b.WriteString("event: ping\ndata: {\"type\": \"ping\"}\n\n")
			}
			frame := b.Bytes()
			if s.CRLF {
				frame = bytes.ReplaceAll(frame, []byte("\n"), []byte("\r\n"))
			}
			out = append(out, frame)
		}
		return out
	}}
}

// ndjson frames lines of JSON.
func ndjson(contentType string) framing {
	return framing{contentType, func(events []event, _ Stream) [][]byte {
		var out [][]byte
		for _, e := range events {
			out = append(out, append(e.data, '\n'))
		}
		return out
	}}
}
