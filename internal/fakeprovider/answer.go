package fakeprovider

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"time"
)

// An Asking is a request that was parsed and waits for its reply. It needs no server. Its ids and times depend only on
// the request and its number.
type Asking struct {
	Call    Call     // without an API if the path has no known format
	Refused *Failure // the real provider's refusal, whatever the reply; nil if it accepts the call

	request  *http.Request
	exchange *exchange
}

// Ask reads and closes the body of a request. The number distinguishes equal requests.
func Ask(req *http.Request, n int) (*Asking, error) {
	var body []byte
	if req.Body != nil {
		defer req.Body.Close()
		var err error
		if body, err = io.ReadAll(req.Body); err != nil {
			return nil, err
		}
	}
	call, format := callOf(req, body)
	if call.Host == "" {
		call.Host = req.URL.Host
		format = formatOf(call)
		call.API = format.name()
	}
	a := &Asking{Refused: new(Server).refuse(call, format), request: req}
	a.Call = *call
	a.exchange = &exchange{call: call, format: format, mint: fixedMint(call.Path+"\x00"+string(body), n)}
	return a, nil
}

// Serve sends the answer.
func (a *Asking) Serve(w http.ResponseWriter, reply Reply) {
	a.exchange.reply = reply
	a.exchange.answer(w, a.request)
}

// Respond returns the answer like a transport does: a stream arrives in pieces, with pauses, and ends where it is cut.
// Every cut loses the end of the body, and nothing is compressed.
func (a *Asking) Respond(reply Reply) (*http.Response, error) {
	ctx := a.request.Context()
	if !sleep(ctx, reply.Delay) {
		return nil, ctx.Err()
	}
	a.exchange.reply = reply
	header := http.Header{}
	d := a.exchange.head(header)
	length := int64(-1)
	if !d.streamed {
		length = int64(len(d.chunks[0]))
	}
	body := &respondedBody{ctx: ctx, left: d.uncut(), pause: reply.Stream.Gap, end: io.EOF}
	if reply.Cut != CutNone {
		body.end = io.ErrUnexpectedEOF
	}
	return &http.Response{
		Status: fmt.Sprintf("%d %s", d.status, http.StatusText(d.status)), StatusCode: d.status,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: header, Request: a.request,
		Body: body, ContentLength: length,
	}, nil
}

// Events returns the number of events of a streamed answer, and 0 if it is not streamed.
func (a *Asking) Events(reply Reply) int {
	x := *a.exchange
	x.reply, x.mint = reply, fixedMint("", 0)
	d, _ := x.render()
	if !d.streamed {
		return 0
	}
	return len(d.chunks)
}

// respondedBody is the body of an answer.
type respondedBody struct {
	ctx   context.Context
	left  [][]byte
	rest  bytes.Reader // the unread part of the current piece
	begun bool
	pause time.Duration // between two pieces
	end   error
}

func (p *respondedBody) Read(b []byte) (int, error) {
	for p.rest.Len() == 0 {
		if err := p.ctx.Err(); err != nil {
			return 0, err
		}
		if len(p.left) == 0 {
			return 0, p.end
		}
		if p.begun && !sleep(p.ctx, p.pause) {
			return 0, p.ctx.Err()
		}
		p.begun = true
		p.rest.Reset(p.left[0])
		p.left = p.left[1:]
	}
	return p.rest.Read(b)
}

// Close ends the answer.
func (p *respondedBody) Close() error {
	p.left, p.end = nil, http.ErrBodyReadAfterClose
	p.rest.Reset(nil)
	return nil
}
