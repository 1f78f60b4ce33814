package recorder

import (
	"errors"
	"fmt"
	"net"
	"testing"

	"github.com/stretchr/testify/require"
)

type statusError struct {
	StatusCode int64
	Message    string
}

func (e *statusError) Error() string { return fmt.Sprint(e.StatusCode, " ", e.Message) }

type embedding struct{ *statusError }

func (embedding) Error() string { return "embedded" }

type wrapping struct {
	HTTPCode int
	Message  string
	error
}

func (w wrapping) Unwrap() error { return w.error }

// What came back as an error is told as what it was: an answer, a host that was not reached, or neither.
func TestNoAnswer(t *testing.T) {
	refused := &statusError{429, "slow down"}
	for _, tt := range []struct {
		name string
		err  error
		want string
	}{
		{"an SDK's error", refused, "p answered with an error (429): slow down"},
		{"wrapped by a framework", wrapping{500, "generating: 429 slow down", refused}, "p answered with an error (429): slow down"},
		{"without a message", &statusError{StatusCode: 400}, "p answered with an error (400): 400"},
		{"a code of its own", &statusError{7, "no"}, "p gave no answer: 7 no"},
		{"an embedded nil", embedding{}, "p gave no answer: embedded"},
		{"a closed port", &net.OpError{Op: "dial", Net: "tcp", Addr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1}, Err: errors.New("refused")},
			"cannot reach 127.0.0.1:1 (is there a network?): dial tcp 127.0.0.1:1: refused"},
		{"a name", &net.DNSError{Name: "api.x.ai", Err: "no such host"}, "cannot reach api.x.ai (is there a network?): lookup api.x.ai: no such host"},
		{"a connection that broke", &net.OpError{Op: "read", Net: "tcp", Err: errors.New("reset")}, "p gave no answer: read tcp: reset"},
	} {
		t.Run(tt.name, func(t *testing.T) { require.Equal(t, tt.want, noAnswer("p", tt.err)) })
	}
}
