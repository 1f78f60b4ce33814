package recorder

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/modelio"
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

// TestAnswerIsNoTransportError: a model's error that has the status of an answer is not recorded as one of the transport, which
// would lose it. A later try that does better is.
func TestAnswerIsNoTransportError(t *testing.T) {
	s := newScene(t)
	returned := []error{&statusError{400, "bad prompt"}}
	live := modelio.ModelFunc(func(context.Context, *modelio.GenerateRequest, modelio.StreamFunc) (*modelio.GenerateResponse, error) {
		err := returned[0]
		returned = returned[1:]
		return &modelio.GenerateResponse{FinishReason: modelio.FinishStop, Message: &modelio.Message{Role: modelio.RoleModel}}, err
	})
	ask := func(r *Recorder) {
		for err := errors.New("not asked"); err != nil && len(returned) > 0; {
			request := &modelio.GenerateRequest{Config: modelio.Object{"temperature": []byte("0")}}
			_, err = r.Generate(context.Background(), Generation{Provider: "acme", Model: "m", Live: live, Request: request})
		}
	}
	allow := func(o *Options) { o.Allowed = TransportErrors }
	told, _ := s.run(Update, ask, allow)
	require.Len(t, told, 1)
	require.Contains(t, told[0].Text, "acme answered with an error (400): bad prompt: it was not recorded")
	require.NotContains(t, told[0].Text, "TransportErrors")

	returned = []error{&statusError{429, "slow down"}, nil}
	told, did := s.run(Update, ask, allow)
	require.Empty(t, told)
	require.Len(t, did.Update.New, 1)
}

// TestCancelledByOther: an errgroup cancels the other calls with the error of the first that failed as the cause, which is no answer
// to them.
func TestCancelledByOther(t *testing.T) {
	s := newScene(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	told, _ := s.run(Update, func(r *Recorder) {
		req, err := http.NewRequestWithContext(ctx, "POST", chatURL, strings.NewReader(askedBody))
		require.NoError(t, err)
		req.Header.Set("Content-Type", "application/json")
		_, err = (&http.Client{Transport: r}).Do(req)
		require.ErrorContains(t, err, "the first answered 400")
	}, func(o *Options) {
		o.Upstream = roundTripper(func(req *http.Request) (*http.Response, error) {
			cancel(errors.New("the first answered 400"))
			return nil, context.Cause(req.Context()) // as the transport of net/http
		})
	})
	require.Len(t, told, 1)
	require.Contains(t, told[0].Text, "openai gave no answer, as its caller cancelled the call: the first answered 400: it was not recorded")
	require.Contains(t, told[0].Text, "or keep the error: traceforgetest.New(t, traceforgetest.Allow(traceforgetest.TransportErrors))")
}

// TestBecameOfARefusal: a recording whose only call was refused before it was sent has failed, and replayed nothing.
func TestBecameOfARefusal(t *testing.T) {
	var recorder *Recorder
	told, _ := newScene(t).run(Update, func(r *Recorder) {
		recorder = r
		_, _ = (&http.Client{Transport: r}).Post(chatURL, "application/json", strings.NewReader(`{"model":"m","messages":[]}`))
	})
	require.Len(t, told, 1)
	require.Equal(t, "unrecorded", recorder.Became())
}

// TestUnsetKey: a token that SDKs use in place of a key stands for one.
func TestUnsetKey(t *testing.T) {
	var s setup
	t.Setenv("ANTHROPIC_API_KEY", "")
	t.Setenv("ANTHROPIC_AUTH_TOKEN", "")
	require.Equal(t, "ANTHROPIC_API_KEY is", s.unsetKey("anthropic"))
	t.Setenv("ANTHROPIC_AUTH_TOKEN", "mine")
	require.Empty(t, s.unsetKey("anthropic"))
}
