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

// transportType is the type of the recorded errors that are not a provider's but of the way
// to it.
const transportType = "transport"

// A transportError is a recorded error of the transport. Its text is the recorded one; what
// it wraps is the Go error of its kind, for errors.Is, errors.As and net.Error.
type transportError struct {
	message string
	kind    error
}

func (e *transportError) Error() string { return e.message }
func (e *transportError) Unwrap() error { return e.kind }

// Timeout and Temporary make it a net.Error.
func (e *transportError) Timeout() bool   { return isTimeout(e.kind) }
func (e *transportError) Temporary() bool { return e.Timeout() }

// A transportKind is a kind of error that replay can give again.
type transportKind struct {
	code string
	is   func(error) bool
	err  error // given in replay; nil means only its text is
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

// asA returns the error of a type that an error is or wraps; nil means it is of another.
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

// ofContext returns an error that is the cause for which a context ended as one of its kind: whoever cancels it may say why.
func ofContext(ctx context.Context, err error) error {
	if ctx.Err() != nil && errors.Is(err, context.Cause(ctx)) && !errors.Is(err, ctx.Err()) {
		return &transportError{err.Error(), ctx.Err()}
	}
	return err
}

// recordedTransportError is err as a snapshot has it.
func recordedTransportError(err error) *modelio.Response {
	i := slices.IndexFunc(transportKinds, func(k transportKind) bool { return k.is(err) }) // the last takes all
	code := transportKinds[i].code
	return &modelio.Response{Error: &modelio.ProviderError{Type: transportType, Code: code, Message: err.Error()}}
}

// replayedTransportError is the error of a snapshot that has one instead of an answer.
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

// callerPatience bounds how long the replay of a call or an answer that its caller gave up waits until that is done again.
const callerPatience = 5 * time.Second

// givenUp waits until the caller of a replayed call has ended its context, and returns why it ended; nil: the caller does not.
func givenUp(ctx context.Context) error {
	if ctx.Done() == nil || pause(ctx, callerPatience) {
		return nil
	}
	return context.Cause(ctx)
}

// cutError is the error by which the caller of a replayed answer learns how it was cut. A caller that cut it
// itself does so again, or would by its deadline.
func cutError(ctx context.Context, how string) error {
	if how == cut[aborted] {
		if err := givenUp(ctx); err != nil {
			return err
		}
		if _, limited := ctx.Deadline(); limited {
			return context.DeadlineExceeded
		}
	}
	return io.ErrUnexpectedEOF
}

// inItsTime gives an error to the caller of a call, one of a call that its caller cancelled when that is done again: what
// the call was cancelled for, as another that was faster, comes first.
func inItsTime(ctx context.Context, err error) error {
	if isA[*transportError](err) && errors.Is(err, context.Canceled) {
		return cmp.Or(givenUp(ctx), err)
	}
	return err
}

// needsNoCall reports whether a record need not be played, as chance says whether its call is made: nobody has to listen, or
// its caller cancelled it.
func needsNoCall(s *snapshot.Snapshot) bool {
	return listens(&s.Request) || errors.Is(replayedTransportError(s), context.Canceled)
}
