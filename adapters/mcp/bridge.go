package mcptraceforge

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"slices"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A bridge responds like a streamable HTTP server (2025-11-25, "Streamable HTTP") with messages from a server behind
// another transport. It is safe for concurrent use.
type bridge struct {
	name  string
	inner mcp.Transport

	mu        sync.Mutex
	conn      mcp.Connection // nil before the first message
	broke     error          // why the connection has ended
	calls     []*stream      // unanswered calls, in order
	listening *stream        // for messages that belong to no call; nil if nobody listens
	unheard   [][]byte       // messages that belong to no call, until somebody listens
	opened    *jsonrpc.Response
}

func newBridge(name string, inner mcp.Transport) *bridge { return &bridge{name: name, inner: inner} }

// RoundTrip implements [http.RoundTripper].
func (b *bridge) RoundTrip(req *http.Request) (*http.Response, error) {
	var body []byte
	if req.Body != nil {
		defer req.Body.Close()
		var err error
		if body, err = io.ReadAll(req.Body); err != nil {
			return nil, err
		}
	}
	switch req.Method {
	case http.MethodDelete:
		return b.answer(req, http.StatusNoContent, nil), b.close()
	case http.MethodGet:
		return b.answer(req, http.StatusOK, b.listen(req.Context())), nil
	}
	message, err := jsonrpc.DecodeMessage(body)
	if err != nil {
		return nil, err
	}
	conn, err := b.connect(req.Context())
	if err != nil {
		return nil, err
	}
	request, _ := message.(*jsonrpc.Request)
	if request == nil || !request.IsCall() {
		return b.answer(req, http.StatusAccepted, nil), conn.Write(req.Context(), message)
	}
	call := newStream(req.Context(), request)
	if b.begin(call) {
		if err := conn.Write(req.Context(), message); err != nil {
			return nil, err
		}
	}
	return b.answer(req, http.StatusOK, call), nil
}

// answer makes the response to a request. All responses belong to the one session.
func (b *bridge) answer(req *http.Request, status int, body io.ReadCloser) *http.Response {
	resp := &http.Response{
		Status: fmt.Sprintf("%d %s", status, http.StatusText(status)), StatusCode: status,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"Mcp-Session-Id": {b.name}}, Body: http.NoBody, Request: req,
	}
	if body != nil {
		resp.Header.Set("Content-Type", "text/event-stream")
		resp.Body, resp.ContentLength = body, -1
	}
	return resp
}

// connect returns the connection to the server, which the first message opens. The connection outlives that message.
func (b *bridge) connect(ctx context.Context) (mcp.Connection, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.broke != nil:
		return nil, fmt.Errorf("mcptraceforge: server %s: %w", b.name, b.broke)
	case b.conn != nil:
		return b.conn, nil
	case b.inner == nil:
		return nil, fmt.Errorf(
			"mcptraceforge: server %s has to be asked, and the test gives Transport nothing to reach it by: "+
				"give it the server's transport where tf.Recording() is true", b.name)
	}
	ctx = context.WithoutCancel(ctx)
	conn, err := b.inner.Connect(ctx)
	if err != nil {
		b.broke = err
		return nil, err
	}
	b.conn = conn
	go b.read(ctx, conn)
	return conn, nil
}

// mostUnanswered is the number of unanswered calls from which on those that the client gave up are forgotten.
const mostUnanswered = 100

// begin notes a call, and reports whether it must be sent to the server. A session is initialized once: a client that
// initializes it again, as the recorder does for requests outside of the test's calls, gets the same answer.
func (b *bridge) begin(call *stream) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.opened != nil && call.request.Method == "initialize" {
		again := *b.opened
		again.ID = call.request.ID
		text, err := jsonrpc.EncodeMessage(&again)
		call.say(text)
		call.end(err)
		return false
	}
	if len(b.calls) >= mostUnanswered { // servers leave unanswered what the client gave up
		b.calls = slices.DeleteFunc(b.calls, (*stream).isOver)
	}
	b.calls = append(b.calls, call)
	return true
}

// read passes on the server's messages until the connection ends. It answers pings itself, which do not concern the
// program.
func (b *bridge) read(ctx context.Context, conn mcp.Connection) {
	for {
		message, err := conn.Read(ctx)
		var text []byte
		if err == nil {
			text, err = jsonrpc.EncodeMessage(message)
		}
		if err != nil {
			b.breakOff(err)
			return
		}
		if request, ok := message.(*jsonrpc.Request); ok && request.IsCall() && request.Method == "ping" {
			// an error shows in the next Read
			_ = conn.Write(ctx, &jsonrpc.Response{ID: request.ID, Result: json.RawMessage("{}")})
			continue
		}
		b.handOn(message, text)
	}
}

// handOn passes a message to the call that it belongs to, or else to the listener.
func (b *bridge) handOn(message jsonrpc.Message, text []byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if response, ok := message.(*jsonrpc.Response); ok {
		i := slices.IndexFunc(b.calls, func(s *stream) bool { return s.request.ID == response.ID })
		if i < 0 {
			return // nobody sent the request
		}
		call := b.calls[i]
		b.calls = slices.Delete(b.calls, i, i+1)
		if call.request.Method == "initialize" && response.Error == nil {
			b.opened = response
		}
		call.say(text)
		call.end(io.EOF)
		return
	}
	request, _ := message.(*jsonrpc.Request) // there is no third kind
	switch call := b.of(request); {
	case call != nil:
		call.say(text)
	case b.listening != nil && !b.listening.isOver():
		b.listening.say(text)
	default:
		b.unheard = append(b.unheard, text)
	}
}

// of returns the call that a message from the server belongs to. It is the call whose progress the message reports or
// that listens for it, or else the latest that the client waits for. It is nil if there is none.
func (b *bridge) of(request *jsonrpc.Request) *stream {
	params := paramsOf(request)
	for _, call := range slices.Backward(b.calls) {
		switch {
		case params.Token != nil:
			if reflect.DeepEqual(paramsOf(call.request).Meta.Token, params.Token) { // tokens may have different types
				return call
			}
		case params.Meta.Subscription != nil:
			if id, err := jsonrpc.MakeID(params.Meta.Subscription); err == nil && call.request.ID == id {
				return call
			}
		case call.request.Method != "subscriptions/listen" && !call.isOver():
			return call
		}
	}
	return nil
}

// A messageParams holds the parameters of a message that relate it to another.
type messageParams struct {
	Token any `json:"progressToken"`
	Meta  struct {
		Token        any `json:"progressToken"` // identifies the call of a progress message
		Subscription any `json:"io.modelcontextprotocol/subscriptionId"`
	} `json:"_meta"`
}

func paramsOf(request *jsonrpc.Request) (params messageParams) {
	_ = json.Unmarshal(request.Params, &params) // parameters that are not an object relate to nothing
	return params
}

// listen opens the stream for messages that belong to no call.
func (b *bridge) listen(ctx context.Context) *stream {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.listening = newStream(ctx, nil)
	for _, text := range b.unheard {
		b.listening.say(text)
	}
	b.unheard = nil
	return b.listening
}

// breakOff ends all streams.
func (b *bridge) breakOff(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.broke = err
	for _, call := range b.calls {
		call.end(io.ErrUnexpectedEOF)
	}
	if b.listening != nil {
		b.listening.end(io.EOF)
	}
	b.calls, b.listening = nil, nil
}

// close ends the session.
func (b *bridge) close() error {
	b.mu.Lock()
	conn := b.conn
	b.mu.Unlock()
	if conn == nil {
		return nil
	}
	err := conn.Close()
	b.breakOff(errors.New("the session was closed"))
	return err
}

// A stream carries the server's messages for a call, or those for no call, as server-sent events.
type stream struct {
	ctx     context.Context
	request *jsonrpc.Request // nil for messages that belong to no call

	mu     sync.Mutex
	rest   bytes.Buffer
	ended  error         // nil while more may come
	change chan struct{} // closed when there is more
}

func newStream(ctx context.Context, request *jsonrpc.Request) *stream {
	return &stream{ctx: ctx, request: request, change: make(chan struct{})}
}

func (s *stream) say(message []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	fmt.Fprintf(&s.rest, "event: message\ndata: %s\n\n", message)
	s.changed()
}

func (s *stream) end(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = cmp.Or(err, io.EOF)
	s.changed()
}

func (s *stream) changed() {
	close(s.change)
	s.change = make(chan struct{})
}

func (s *stream) Read(p []byte) (int, error) {
	for {
		s.mu.Lock()
		if s.rest.Len() > 0 {
			defer s.mu.Unlock()
			return s.rest.Read(p)
		}
		ended, change := s.ended, s.change
		s.mu.Unlock()
		if ended != nil {
			return 0, ended
		}
		select {
		case <-change:
		case <-s.ctx.Done():
			return 0, s.ctx.Err()
		}
	}
}

// isOver reports whether nothing more is to be read.
func (s *stream) isOver() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ended != nil || s.ctx.Err() != nil
}

func (s *stream) Close() error {
	s.end(http.ErrBodyReadAfterClose)
	return nil
}
