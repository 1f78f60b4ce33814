package recorder

import (
	"context"
	"net/http"
)

// An upstreamKey is the key of a request's context under which that stands which makes its live call.
type upstreamKey struct{}

// Over returns a transport whose live calls are made by upstream instead of the recorder's.
func (r *Recorder) Over(upstream http.RoundTripper) http.RoundTripper {
	return markedTransport{r, upstreamKey{}, upstream}
}

// withUpstream returns ctx for a call whose live call is made by what makes that of a request with the context of.
func withUpstream(ctx, of context.Context) context.Context {
	return context.WithValue(ctx, upstreamKey{}, of.Value(upstreamKey{}))
}

// upstreamOf returns what makes the live call of a request.
func (s *setup) upstreamOf(ctx context.Context) http.RoundTripper {
	if upstream, ok := ctx.Value(upstreamKey{}).(http.RoundTripper); ok {
		return upstream
	}
	return s.Upstream
}
