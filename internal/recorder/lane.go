package recorder

import (
	"context"
	"net/http"

	"github.com/traceforge/traceforge-go/internal/inorder"
)

// A laneKey is the key of a request's context under which the name of its lane stands.
type laneKey struct{}

// Lane returns a transport whose calls are paired among themselves: the name is a part of their identity,
// and stands in their records. It may be used by several goroutines, which then share the lane.
func (r *Recorder) Lane(name string) http.RoundTripper { return markedTransport{r, laneKey{}, name} }

// A markedTransport is a recorder whose requests have a value in their context.
type markedTransport struct {
	*Recorder
	key, value any
}

// RoundTrip is [Recorder.RoundTrip] of a request that is marked.
func (m markedTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := m.Recorder.RoundTrip(req.WithContext(context.WithValue(req.Context(), m.key, m.value)))
	if resp != nil {
		resp.Request = req
	}
	return resp, err
}

// nameIn returns the name that a context has under a key; "" where it has none.
func nameIn(ctx context.Context, key any) string {
	name, _ := ctx.Value(key).(string)
	return name
}

// elsewhere returns in which other lanes the request of a call is recorded.
func (t *tape) elsewhere(k key) (lanes []string) {
	for _, recorded := range t.keys[:t.computed] {
		if recorded.provider == k.provider && recorded.core == k.core && recorded.lane != k.lane {
			lanes = inorder.With(lanes, laneText(recorded.lane))
		}
	}
	return lanes
}

func laneText(name string) string {
	if name == "" {
		return "no lane"
	}
	return "lane " + name
}
