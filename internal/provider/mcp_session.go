package provider

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/modelio"
)

// A Session describes how requests of an API are messages of a session between two sides instead of separate calls.
// Only MCP has such sessions.
type Session struct {
	Header string // the header with the id of a session, which a server sends and its client returns
	Opened []byte // the message by which a client confirms that the session is open
}

var mcpSession = Session{
	Header: mcpSessionHeader,
	Opened: []byte(`{"jsonrpc":"2.0","method":"notifications/initialized","params":{}}`),
}

// Opens reports whether a request opens a session.
func (*Session) Opens(req *modelio.Request) bool { return mcpMethod(req) == "initialize" }

func mcpMethod(req *modelio.Request) string { return MetadataWord(req.Options, "method") }

// isMCPRequest reports whether a request is a message that gets an answer.
func isMCPRequest(req *modelio.Request) bool {
	method := mcpMethod(req)
	return method != "" && !strings.HasPrefix(method, mcpNotification)
}

// Aside answers a request that clients may make at any time and that asks for nothing. These are notifications, signs
// of life, the end of the session, and the client's directories, which most servers ask for when it is open. It returns
// nil for any other request. req was decoded from w.
func (s *Session) Aside(w *Wire, req *modelio.Request) *Answer {
	body, _ := w.root()
	switch method := mcpMethod(req); {
	case w.Method == http.MethodDelete:
		return &Answer{Status: http.StatusNoContent}
	case strings.HasPrefix(method, mcpNotification), body.Member("result", "roots").IsArray() && isMCPAnswer(body):
		return &Answer{Status: http.StatusAccepted}
	case method == "ping":
		pong := modelio.Object{"jsonrpc": []byte(`"2.0"`), "id": s.ID(w), "result": []byte("{}")}
		return &Answer{Status: http.StatusOK, ContentType: "application/json", Body: jsontext.ObjectText(pong)}
	}
	return nil
}

// mcpListens reports whether a request asks for the server's own messages. Clients may make such requests any number of
// times. A GET that continues another stream listens too.
func mcpListens(req *modelio.Request) bool {
	return mcpMethod(req) == mcpListen || MetadataWord(req.Options, markURL, "method") == "GET"
}

// Asks returns the id by which a client answers a message of the server; "" if the server asks nothing.
func (*Session) Asks(message []byte) string {
	v := jsontext.ValueOf(message)
	if !v.Member("method").IsWord() {
		return ""
	}
	return string(v.Member("id").Raw())
}

// Answers returns the id of the message that a request answers; "" if it answers none.
func (*Session) Answers(w *Wire) string {
	body, _ := w.root()
	if !isMCPAnswer(body) {
		return ""
	}
	return string(body.Member("id").Raw())
}

// ID returns what relates answers to a request, or nil.
func (*Session) ID(w *Wire) json.RawMessage {
	if body, err := w.root(); err == nil && body.Member("method").IsWord() {
		return body.Member("id").Raw()
	}
	return nil
}

// Tie returns the body of a recorded answer as an answer to the request w. It is related to id; nil means to the id of
// w.
func (s *Session) Tie(w *Wire, a *Answer, id json.RawMessage) []byte {
	if id == nil {
		id = s.ID(w)
	}
	body, _ := w.root()
	token := body.Member("params", "_meta", "progressToken").Raw()
	events := a.Events()
	if events == nil {
		return tied(a.Body, id, token)
	}
	var out []byte
	for event, err := events.Next(); err == nil; event, err = events.Next() {
		data := tied(event.Data, id, token)
		if bytes.Equal(data, event.Data) {
			out = append(out, event.Raw...)
			continue
		}
		out = append(out, withData(event.Raw, data)...)
	}
	return out
}

// tied returns a message with the id of the request that it answers, or with the token of the request whose progress it
// reports. It returns any other message unchanged.
func tied(message []byte, id, token json.RawMessage) []byte {
	switch root := jsontext.ValueOf(message); { // anything other than JSON is neither
	case isMCPAnswer(root):
		message = withMember(message, id, "id")
		message = withMember(message, id, "result", "_meta", mcpSubscription)
	case isMCPNotification(root):
		message = withMember(message, token, "params", "progressToken")
		message = withMember(message, id, "params", "_meta", mcpSubscription)
	}
	return message
}

// withData returns a server-sent event with other data, in place of its first data line.
func withData(raw, data []byte) (out []byte) {
	put := false
	for rest := raw; len(rest) > 0; {
		line, after := cutLine(rest)
		whole := rest[:len(rest)-len(after)]
		rest = after
		switch {
		case !bytes.HasPrefix(line, []byte("data:")):
			out = append(out, whole...)
		case !put:
			put = true
			for part := range bytes.SplitSeq(data, []byte("\n")) {
				out = append(append(append(out, "data: "...), part...), '\n')
			}
		}
	}
	return out
}

// EventIDs returns the ids of a stream's events, by which a client asks for the events after them.
func EventIDs(a *Answer) (ids []string) {
	if framing := framingOf(a.ContentType, a.Body); framing != &serverSentEvents {
		return nil
	}
	for rest := a.Body; len(rest) > 0; {
		var line []byte
		line, rest = cutLine(rest)
		if id, ok := bytes.CutPrefix(line, []byte("id:")); ok {
			ids = append(ids, string(bytes.TrimSpace(id)))
		}
	}
	return ids
}
