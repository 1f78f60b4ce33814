// Package client answers from memory: it hashes the request and looks the answer up. No tool can do less.
package client

import (
	"crypto/sha256"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/traceforge/traceforge-go/bench/client/ask"
)

// New returns a client for the test t.
func New(testing.TB) *http.Client {
	if ask.Recording() {
		return &http.Client{Transport: ask.Provider{}}
	}
	return &http.Client{Transport: memory{}}
}

// answers has one answer for all requests, since the lookup costs the same.
var answers = map[[sha256.Size]byte]string{
	{}: `{"choices":[{"message":{"content":"` + strings.Repeat("An answer. ", 90) + `"}}]}`,
}

type memory struct{}

// RoundTrip implements [http.RoundTripper].
func (memory) RoundTrip(r *http.Request) (*http.Response, error) {
	body := make([]byte, r.ContentLength)
	if _, err := io.ReadFull(r.Body, body); err != nil {
		return nil, err
	}
	answer, ok := answers[sha256.Sum256(body)]
	if !ok {
		answer = answers[[sha256.Size]byte{}]
	}
	return &http.Response{
		Status: "200 OK", StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}},
		Body: io.NopCloser(strings.NewReader(answer)), ContentLength: int64(len(answer)), Request: r,
	}, nil
}
