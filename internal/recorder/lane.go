package recorder

import (
	"context"
	"net/http"

	"github.com/traceforge/traceforge-go/internal/inorder"
)

// A laneKey is the context key of a lane's name.
type laneKey struct{}

// Lane returns a transport whose calls are matched among themselves: the lane's name is a part of their identity and of
// their records. Several goroutines may use it, and then share the lane.
func (r *Recorder) Lane(name string) http.RoundTripper { return markedTransport{r, laneKey{}, name} }

// A markedTransport is a recorder that sets a value in the context of each request.
type markedTransport struct {
	recorder   *Recorder
	key, value any
}

// RoundTrip calls [Recorder.RoundTrip] with the value in the request's context.
func (m markedTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := m.recorder.RoundTrip(req.WithContext(context.WithValue(req.Context(), m.key, m.value)))
	if resp != nil {
		resp.Request = req
	}
	return resp, err
}

// nameIn returns the name under a key of a context, or "".
func nameIn(ctx context.Context, key any) string {
	name, _ := ctx.Value(key).(string)
	return name
}

// laneRule is the cause for a record of a call that had no lane when it was recorded.
const laneRule = "lane"

// otherLanes returns the other lanes that recorded the request of a call.
func (t *tape) otherLanes(k key) (lanes []string) {
	for _, recorded := range t.identities { // those with as many messages, at least
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
