package provider

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/modelio"
)

// A Realtime turns a session over a WebSocket into one call. The request is the handshake and the client's frames, each
// as a message. The answer is the server's, [Frame] by frame, each with the client's position at that time.
type Realtime struct {
	// Message decodes a frame of the client.
	Message func(req *modelio.Request, frame jsontext.Value) modelio.Message
	// Audio returns the stream that a frame is a piece of, the path of its data, and the data. Consecutive such frames
	// are one message, because how a stream is split depends on timing. An empty stream means that the frame is not
	// only a piece.
	Audio func(frame jsontext.Value) (stream string, at []string, data []byte)
}

// A Place is a client's position: a number of messages, and a number of bytes of the stream that the last of them is.
type Place struct{ Messages, Bytes int }

// Before reports whether a place comes before another.
func (p Place) Before(other Place) bool {
	return p.Messages < other.Messages || p.Messages == other.Messages && p.Bytes < other.Bytes
}

// A Progress is a place that moves with frames.
type Progress struct {
	Place
	stream string // the stream that the last message is a piece of; empty if it is none
}

// Take moves the place by a frame of the client, and reports whether the frame continues a stream.
func (p *Progress) Take(how *Realtime, f Frame) (goesOn bool) {
	stream, _, data := how.Piece(f)
	if goesOn = stream != "" && stream == p.stream; !goesOn {
		p.Messages, p.Bytes = p.Messages+1, 0
	}
	p.stream = stream
	p.Bytes += len(data)
	return goesOn
}

// Piece returns the result of [Realtime.Audio].
func (how *Realtime) Piece(f Frame) (stream string, at []string, data []byte) {
	return how.Audio(jsontext.ValueOf(f.Data)) // a frame that is not JSON is not a piece
}

// withMember returns a message with another value for an existing member, or unchanged without that member.
func withMember(message []byte, value json.RawMessage, path ...string) []byte {
	if value == nil {
		return message
	}
	at := jsontext.ValueOf(message).Member(path...)
	if !at.Present() {
		return message
	}
	start := at.Offset()
	return slices.Concat(message[:start], value, message[start+int64(len(at.Raw())):])
}

// streamBytes returns the bytes of a base64 text; nil for any other text.
func streamBytes(encoded string) []byte {
	data, err := base64.StdEncoding.Strict().DecodeString(encoded)
	if err != nil || strings.ContainsAny(encoded, "\r\n") || encoded == "" {
		return nil
	}
	return data
}

// opens returns a Match for WebSocket handshakes on a path with one of suffixes.
func opens(suffixes ...string) func(*Wire) bool {
	return func(w *Wire) bool {
		return w.Method == http.MethodGet && strings.EqualFold(w.Header.Get("Upgrade"), "websocket") && w.pathEndsIn(suffixes)
	}
}

// request decodes a handshake, whose body is the client's frames as lines.
func (how *Realtime) request(w *Wire) (*modelio.Request, error) {
	req := &modelio.Request{Messages: []modelio.Message{}, Options: modelio.Object{}}
	if offered := subprotocols(w); len(offered) > 0 {
		req.Options["subprotocols"] = jsontext.Texts(offered)
	}
	frames, err := Frames(w.Body)
	if err != nil {
		return nil, err
	}
	for n := 0; n < len(frames); n++ {
		first := frames[n]
		stream, at, data := how.Piece(first)
		if stream == "" {
			m, err := how.message(req, first)
			if err != nil {
				return nil, fmt.Errorf("frame %d to the server: %w", n+1, err)
			}
			req.Messages = append(req.Messages, m)
			continue
		}
		for ; n+1 < len(frames); n++ {
			next, _, more := how.Piece(frames[n+1])
			if next != stream {
				break
			}
			data = append(data, more...)
		}
		text := jsontext.Text(base64.StdEncoding.EncodeToString(data))
		req.Messages = append(req.Messages, how.Message(req, jsontext.ValueOf(withMember(first.Data, text, at...))))
	}
	return req, nil
}

// message decodes a frame that is not a piece of a stream.
func (how *Realtime) message(req *modelio.Request, f Frame) (modelio.Message, error) {
	doc, err := jsontext.Parse(f.Data)
	switch {
	case err == nil && doc.Root().IsObject() && !doc.Root().IsEmpty():
		return how.Message(req, doc.Root()), nil
	case err != nil && bytes.HasPrefix(f.Data, []byte("{")):
		return modelio.Message{}, err
	}
	return opaqueFrame(f), nil
}

// opaqueFrame keeps a frame that is not a JSON object.
func opaqueFrame(f Frame) modelio.Message {
	m := customMessage(modelio.RoleUser, opaque(f.Data))
	mark(&m.Metadata, "text")
	return m
}

// subprotocols returns those that a client offers, without keys and accounts.
func subprotocols(w *Wire) []string {
	return slices.DeleteFunc(headerValues(w.Header.Values("Sec-Websocket-Protocol")), func(name string) bool {
		return strings.Contains(name, "key") || strings.Contains(name, "organization.") ||
			strings.Contains(name, "project.") ||
			strings.Contains(name, "token")
	})
}

// customMessage keeps a frame unchanged.
func customMessage(role modelio.Role, frame map[string]json.RawMessage) modelio.Message {
	return modelio.Message{Role: role, Content: []modelio.Part{{Custom: frame}}}
}
