// Package fault makes the faults that [traceforgetest.Recorder.Fault] injects into recorded answers, so that tests of
// retries and recovery need no failing provider.
package fault

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net"
	"time"
	"unicode/utf8"

	"github.com/traceforge/traceforge-go/internal/provider"
	"github.com/traceforge/traceforge-go/internal/recorder"
	"github.com/traceforge/traceforge-go/traceforgetest"
)

// A Fault is something that goes wrong with a recorded answer. The zero value does nothing.
type Fault = traceforgetest.Fault

// Status answers with a status from 400 to 599, such as 429, in the provider's error format, with a Retry-After in
// whole seconds.
func Status(status int, retryAfter time.Duration) Fault {
	return recorder.Damage{Name: fmt.Sprintf("Status(%d)", status), Breaks: true, OfHTTP: true, Status: status,
		Retry: retryAfter}.Fault()
}

// Disconnect ends the call without an answer, with a transport error that wraps err. Useful errors are
// [syscall.ECONNRESET], [io.ErrUnexpectedEOF], and [os.ErrDeadlineExceeded] for a timeout. Nil stands for
// [io.ErrUnexpectedEOF].
func Disconnect(err error) Fault {
	err = cmp.Or(err, io.ErrUnexpectedEOF)
	return recorder.Damage{Name: fmt.Sprintf("Disconnect(%v)", err), Breaks: true,
		Err: &net.OpError{Op: "read", Net: "tcp", Err: err}}.Fault()
}

// Delay delays the answer by d.
func Delay(d time.Duration) Fault {
	return recorder.Damage{Name: fmt.Sprintf("Delay(%v)", d), Delay: d}.Fault()
}

// Stall pauses a stream for d after an event; 0 means after the headers.
func Stall(event int, d time.Duration) Fault {
	return ofStream(recorder.Damage{Name: fmt.Sprintf("Stall(%d, %v)", event, d)}, event, 0,
		func(s *stream, event int) remains {
			until, behind := s.cut(event)
			return remains{pieces: [][]byte{until, behind}, pause: d}
		})
}

// CutAfter breaks the connection after an event of a stream; 0 means after the headers. The program reads
// [io.ErrUnexpectedEOF].
func CutAfter(event int) Fault {
	return changed("CutAfter", event, 0, (*stream).until, io.ErrUnexpectedEOF)
}

// EndAfter ends a stream after an event as if it were complete; 0 means after the headers.
func EndAfter(event int) Fault { return changed("EndAfter", event, 0, (*stream).until, nil) }

// Drop leaves out an event of a stream.
func Drop(event int) Fault { return changed("Drop", event, 1, (*stream).drop, nil) }

// Repeat sends an event of a stream twice.
func Repeat(event int) Fault { return changed("Repeat", event, 1, (*stream).repeat, nil) }

// changed returns a fault that serves the result of change in place of a stream. The error end follows, or the stream's
// own end if that is nil.
func changed(name string, event, least int, change func(*stream, int) []byte, end error) Fault {
	d := recorder.Damage{Name: fmt.Sprintf("%s(%d)", name, event), Breaks: true}
	return ofStream(d, event, least,
		func(s *stream, event int) remains { return remains{pieces: [][]byte{change(s, event)}, end: end} })
}

// ofStream returns a fault that serves the result of change in place of a stream. event must be at least least.
func ofStream(d recorder.Damage, event, least int, change func(*stream, int) remains) Fault {
	d.Body = func(ctx context.Context, a *provider.Answer, end error) (io.Reader, string) {
		s := streamOf(a)
		if s == nil {
			return nil, "the answer is no stream"
		}
		if n := len(s.data); event < least || event > n {
			return nil, fmt.Sprintf("want an event from %d to %d", least, n)
		}
		left := change(s, event)
		left.ctx, left.end = ctx, cmp.Or(left.end, end)
		return &left, ""
	}
	return d.Fault()
}

// Split ends a read inside each multi-byte character, as networks may do.
func Split() Fault {
	return recorder.Damage{Name: "Split()", OfHTTP: true,
		Body: func(ctx context.Context, a *provider.Answer, end error) (io.Reader, string) {
			pieces := splits(a.Body)
			if pieces == nil {
				return nil, "the answer has no character of more than one byte"
			}
			return &remains{ctx: ctx, pieces: pieces, end: end}, ""
		}}.Fault()
}

// splits cuts a body inside each multi-byte character; nil if there are none.
func splits(body []byte) (pieces [][]byte) {
	rest := body
	for i := 0; i < len(rest); {
		_, size := utf8.DecodeRune(rest[i:])
		if size == 1 {
			i++
			continue
		}
		pieces, rest, i = append(pieces, rest[:i+1]), rest[i+1:], size-1
	}
	if pieces != nil {
		pieces = append(pieces, rest)
	}
	return pieces
}

// A remains is what a fault left of a body, served piece by piece.
type remains struct {
	ctx    context.Context
	pieces [][]byte
	pause  time.Duration // after the first piece
	end    error
}

func (r *remains) Read(p []byte) (int, error) {
	for len(r.pieces) > 0 && len(r.pieces[0]) == 0 {
		r.pieces = r.pieces[1:]
		if r.pause > 0 {
			select {
			case <-r.ctx.Done():
			case <-time.After(r.pause):
			}
			r.pause = 0
		}
	}
	if err := context.Cause(r.ctx); err != nil {
		return 0, err
	}
	if len(r.pieces) == 0 {
		return 0, r.end
	}
	n := copy(p, r.pieces[0])
	r.pieces[0] = r.pieces[0][n:]
	return n, nil
}
