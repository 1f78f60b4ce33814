package recorder

import (
	"context"
	"net/http"
	"slices"
)

// A laneKey is the key of a request's context under which the name of its lane stands.
type laneKey struct{}

// Lane returns a transport whose calls are paired among themselves: the name is a part of their identity,
// and stands in their records. It may be used by several goroutines, which then share the lane.
func (r *Recorder) Lane(name string) http.RoundTripper { return lane{r, name} }

type lane struct {
	*Recorder
	name string
}

// RoundTrip is [Recorder.RoundTrip] in the lane.
func (l lane) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := l.Recorder.RoundTrip(req.WithContext(context.WithValue(req.Context(), laneKey{}, l.name)))
	if resp != nil {
		resp.Request = req
	}
	return resp, err
}

// laneOf returns the lane of a call; "" for one that is in none.
func laneOf(ctx context.Context) string {
	name, _ := ctx.Value(laneKey{}).(string)
	return name
}

// elsewhere returns the lanes in which the request of a call is recorded, of those that it is not in itself.
// A lane that has no name is in it as "none".
func (t *tape) elsewhere(k key) (lanes []string) {
	for i, recorded := range t.keys[:t.known] {
		if recorded.provider != k.provider || recorded.core != k.core || recorded.lane == k.lane {
			continue
		}
		name := "lane " + t.records[i].Source.Lane
		if recorded.lane == "" {
			name = "no lane"
		}
		if !slices.Contains(lanes, name) {
			lanes = append(lanes, name)
		}
	}
	return lanes
}

// overlapped returns the takes of equal requests, of one lane, that were under way at once and got different
// answers, in the order of the calls: which of them gets which answer in replay depends on who asks first.
func (r *Recorder) overlapped(goldens map[*take]*golden) (equal []*take) {
	byKey := map[key][]*golden{}
	for _, tk := range r.takes {
		if g := goldens[tk]; g != nil {
			byKey[tk.key] = append(byKey[tk.key], g)
		}
	}
	for _, tk := range r.takes {
		g := goldens[tk]
		other := func(o *golden) bool { return o.core != g.core && !o.endedBefore(g) && !g.endedBefore(o) }
		if g != nil && slices.ContainsFunc(byKey[tk.key], other) {
			equal = append(equal, tk)
		}
	}
	return equal
}
