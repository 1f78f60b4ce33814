package recorder

import (
	"sync"
	"sync/atomic"

	"github.com/traceforge/traceforge-go/internal/websocket"
)

// An outbox sends messages in order, without waiting for a client that does not read.
type outbox struct {
	mu      sync.Mutex
	changed *sync.Cond
	queue   []websocket.Message
	closing *websocket.CloseError
	ended   bool

	steps *atomic.Int64 // see run.steps
	over  chan struct{} // closed when nothing more is sent
	heard int64         // the step before the last message that the client took; it is not read before over
}

func (o *outbox) put(m websocket.Message) { o.change(func() { o.queue = append(o.queue, m) }) }

// close sends the queued messages, and closes the connection with a close frame.
func (o *outbox) close(code int, reason string) {
	o.change(func() { o.closing = &websocket.CloseError{Code: code, Reason: reason} })
}

// hangUp sends the queued messages, and ends the connection without a close frame.
func (o *outbox) hangUp() { o.change(func() { o.ended = true }) }

func (o *outbox) change(how func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	how()
	o.changed.Signal()
}

func (o *outbox) send(conn *websocket.Conn) {
	defer close(o.over)
	for {
		o.mu.Lock()
		for len(o.queue) == 0 && o.closing == nil && !o.ended {
			o.changed.Wait()
		}
		queue, closing, ended := o.queue, o.closing, o.ended
		o.queue = nil
		o.mu.Unlock()
		for _, m := range queue {
			step := o.steps.Add(1) // before the client has it, and may dial again
			if conn.Write(m) != nil {
				return // the client has gone
			}
			o.heard = step
		}
		if closing != nil {
			_ = conn.Close(closing.Code, closing.Reason)
			return
		}
		if ended && len(queue) == 0 {
			conn.HangUp()
			return
		}
	}
}
