// Package client records and replays with traceforge.
package client

import (
	"net/http"
	"testing"

	"github.com/traceforge/traceforge-go/bench/client/ask"
	"github.com/traceforge/traceforge-go/traceforgetest"
)

// New returns a client for the test t.
func New(t testing.TB) *http.Client {
	return traceforgetest.New(t, traceforgetest.Upstream(ask.Provider{})).Client()
}
