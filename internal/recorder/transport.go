package recorder

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"os"
	"slices"
	"time"

	"github.com/traceforge/traceforge-go/modelio"
	"github.com/traceforge/traceforge-go/snapshot"
)

// transportType is the type of recorded errors that come from the way to a provider, not from the provider.
const transportType = "transport"

// A transportError is a recorded error of the transport. It has the recorded text, and wraps the Go error of its kind
// for errors.Is, errors.As and net.Error.
type transportError struct {
	message string
	kind    error
}

func (e *transportError) Error() string { return e.message }
func (e *transportError) Unwrap() error { return e.kind }

// Timeout and Temporary make it a net.Error.
func (e *transportError) Timeout() bool   { return isTimeout(e.kind) }
func (e *transportError) Temporary() bool { return e.Timeout() }

// A transportKind is a kind of error that replay can return again.
type transportKind struct {
	code string
	is   func(error) bool
	err  error // returned in replay; nil if only its text is
}

var transportKinds = []transportKind{
	{"canceled", isErr(context.Canceled), context.Canceled},
	{"deadline", isErr(context.DeadlineExceeded), context.DeadlineExceeded},
	{"timeout", isTimeout, &net.OpError{Op: "read", Net: "tcp", Err: os.ErrDeadlineExceeded}},
	{"refused", isErr(errRefused), &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", errRefused)}},
	{"reset", isErr(errReset), &net.OpError{Op: "read", Net: "tcp", Err: os.NewSyscallError("read", errReset)}},
	{"pipe", isErr(errPipe), &net.OpError{Op: "write", Net: "tcp", Err: os.NewSyscallError("write", errPipe)}},
	{"dns", isA[*net.DNSError], &net.DNSError{Err: "no such host", IsNotFound: true}},
	{"certificate", isCertificate, &tls.CertificateVerificationError{Err: x509.UnknownAuthorityError{}}},
	{"tls", isTLS, tls.RecordHeaderError{Msg: "first record does not look like a TLS handshake"}},
	{"eof", isEOF, io.EOF},
	{"other", func(error) bool { return true }, nil},
}

func isErr(target error) func(error) bool {
	return func(err error) bool { return errors.Is(err, target) }
}

func isA[T error](err error) bool { return errors.As(err, new(T)) }

// asA returns the error of a type that an error is or wraps, or nil.
func asA[T error](err error) (found T) {
	errors.As(err, &found)
	return found
}

func isTimeout(err error) bool {
	var t interface{ Timeout() bool }
	return errors.As(err, &t) && t.Timeout()
}

func isCertificate(err error) bool {
	return isA[*tls.CertificateVerificationError](err) || isA[x509.UnknownAuthorityError](err) ||
		isA[x509.HostnameError](err)
}

func isTLS(err error) bool { return isA[tls.RecordHeaderError](err) || isA[tls.AlertError](err) }

func isEOF(err error) bool { return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) }

// ofContext returns an error that is the cause of a context's end as one of the context's kind. Whoever cancels a
// context may give a cause.
func ofContext(ctx context.Context, err error) error {
	if ctx.Err() != nil && errors.Is(err, context.Cause(ctx)) && !errors.Is(err, ctx.Err()) {
		return &transportError{err.Error(), ctx.Err()}
	}
	return err
}

// recordedTransportError returns err as a snapshot stores it.
func recordedTransportError(err error) *modelio.Response {
	i := slices.IndexFunc(transportKinds, func(k transportKind) bool { return k.is(err) }) // the last kind takes all
	code := transportKinds[i].code
	return &modelio.Response{Error: &modelio.ProviderError{Type: transportType, Code: code, Message: err.Error()}}
}

// replayedTransportError returns the error of a snapshot that has one instead of an answer.
func replayedTransportError(s *snapshot.Snapshot) error {
	e := s.Response.Error
	if e == nil || e.Type != transportType || e.Status != 0 {
		return nil
	}
	for _, kind := range transportKinds {
		if kind.code == e.Code {
			return &transportError{e.Message, kind.err}
		}
	}
	return &transportError{e.Message, nil}
}

// callerPatience is how long the replay of a call or an answer that its caller cancelled waits for the caller to do so
// again.
const callerPatience = 5 * time.Second

// awaitCaller waits for the caller of a replayed call to end its context, and returns the cause, or nil if it does not.
func awaitCaller(ctx context.Context) error {
	if ctx.Done() == nil || pause(ctx, callerPatience) {
		return nil
	}
	return context.Cause(ctx)
}

// cutError is the error with which the caller of a replayed answer learns how it was cut. A caller that cut it itself
// does so again, or its deadline does.
func cutError(ctx context.Context, how string) error {
	if how == cut[aborted] {
		if err := awaitCaller(ctx); err != nil {
			return err
		}
		if _, limited := ctx.Deadline(); limited {
			return context.DeadlineExceeded
		}
	}
	return io.ErrUnexpectedEOF
}

// inItsTime returns an error to the caller of a call. If the caller cancelled the recorded call, it waits for that:
// whatever made the caller cancel, such as a faster call or a failed tool, comes first.
func (r *run) inItsTime(ctx context.Context, c *call, err error) error {
	if c.turn != nil {
		r.awaitFailure(ctx, c.turn)
		return err
	}
	if isA[*transportError](err) && errors.Is(err, context.Canceled) {
		return cmp.Or(awaitCaller(ctx), err)
	}
	return err
}

// callerGrace is how long the caller of a failed tool has to cancel the other tools of its turn. Many programs cancel
// none.
const callerGrace = 50 * time.Millisecond

// awaitFailure waits until a context ends, or the caller of a turn's failed tool has had the time to end it.
func (r *run) awaitFailure(ctx context.Context, t *turn) {
	for range callerPatience / callerGrace {
		r.mu.Lock()
		failed := t.hasFailed(r.tape.recordAt, r.tape.isPlayed)
		r.mu.Unlock()
		if !pause(ctx, callerGrace) || failed {
			return
		}
	}
}

// needsNoCall reports whether a record may stay unplayed, since chance decides whether its call is made. It is of a
// server's own messages, or of a call that its caller cancelled.
func needsNoCall(s *snapshot.Snapshot) bool {
	return isListening(&s.Request) && reads(&s.Request) || errors.Is(replayedTransportError(s), context.Canceled)
}
