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

// A Realtime makes one call of a session over a WebSocket. The request is the handshake and the client's frames, each
// a message. The answer is the server's, [Frame] by frame, each with the place in the client's words that it
// followed.
type Realtime struct {
	// Message decodes a frame of the client's.
	Message func(req *modelio.Request, frame jsontext.Value) modelio.Message
	// Audio returns of what stream a frame is a piece, where the frame has its data, and the data. Such frames in a row
	// are one message, since how a stream is split is a matter of timing. An empty stream means it is more.
	Audio func(frame jsontext.Value) (stream string, at []string, data []byte)
	// Instructions is the pointer in a frame to the text that [Realtime.Message] makes the text of a system message.
	Instructions string
}

// A Place is how far a client has come: so many messages, and so many bytes of the stream that the last of them is.
type Place struct{ Messages, Bytes int }

// Before reports whether a place is nearer to the beginning than another.
func (p Place) Before(other Place) bool {
	return p.Messages < other.Messages || p.Messages == other.Messages && p.Bytes < other.Bytes
}

// A Progress is a place that frames move on.
type Progress struct {
	Place
	stream string // the stream that the last message is a piece of; empty means none
}

// Take moves on by a frame of the client's, and reports whether it goes on with a stream.
func (p *Progress) Take(how *Realtime, f Frame) (goesOn bool) {
	stream, _, data := how.Piece(f)
	if goesOn = stream != "" && stream == p.stream; !goesOn {
		p.Messages, p.Bytes = p.Messages+1, 0
	}
	p.stream = stream
	p.Bytes += len(data)
	return goesOn
}

// Piece returns what [Realtime.Audio] does.
func (how *Realtime) Piece(f Frame) (stream string, at []string, data []byte) {
	return how.Audio(jsontext.ValueOf(f.Data)) // what is no JSON is no piece
}

// withMember returns a message with another value for a member that it has, and as it is where there is no other.
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

// streamBytes returns the bytes of a text in base64; nil means it is none.
func streamBytes(encoded string) []byte {
	data, err := base64.StdEncoding.Strict().DecodeString(encoded)
	if err != nil || strings.ContainsAny(encoded, "\r\n") || encoded == "" {
		return nil
	}
	return data
}

// opens returns a Match for handshakes of WebSockets on a path that ends in one of suffixes.
func opens(suffixes ...string) func(*Wire) bool {
	return func(w *Wire) bool {
		return w.Method == http.MethodGet && strings.EqualFold(w.Header.Get("Upgrade"), "websocket") && w.pathEndsIn(suffixes)
	}
}

// request decodes a handshake, whose body is the client's frames, as lines.
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

// message decodes a frame that is no piece of a stream.
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

// opaqueFrame keeps a frame that is no JSON object.
func opaqueFrame(f Frame) modelio.Message {
	m := customMessage(modelio.RoleUser, opaque(f.Data))
	mark(&m.Metadata, "text")
	return m
}

// subprotocols returns what a client offers, without keys and accounts.
func subprotocols(w *Wire) []string {
	return slices.DeleteFunc(headerValues(w.Header.Values("Sec-Websocket-Protocol")), func(name string) bool {
		return strings.Contains(name, "key") || strings.Contains(name, "organization.") || strings.Contains(name, "project.") ||
			strings.Contains(name, "token")
	})
}

// customMessage keeps a frame as it is.
func customMessage(role modelio.Role, frame map[string]json.RawMessage) modelio.Message {
	return modelio.Message{Role: role, Content: []modelio.Part{{Custom: frame}}}
}
