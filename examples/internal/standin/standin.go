// Package standin stands in for the model providers when the examples are recorded, so that recording needs no API key
// and costs nothing.
package standin

import (
	"net/http"
	"testing"

	"github.com/traceforge/traceforge-go/internal/fakeprovider"
	"github.com/traceforge/traceforge-go/traceforgetest"
)

// New returns a transport to a provider that gives the replies in order; without replies it echoes the last user
// message.
func New(t testing.TB, replies ...fakeprovider.Reply) http.RoundTripper {
	if traceforgetest.Updating() {
		t.Setenv("ANTHROPIC_API_KEY", "none") // the SDK makes no calls without a key
	}
	server := fakeprovider.New(t)
	server.Handle(fakeprovider.Echo())
	server.Reply(replies...)
	return server.Transport()
}
