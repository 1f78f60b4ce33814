package integration_test

import (
	"bytes"
	"io"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/integration/internal/recorded"
	"github.com/traceforge/traceforge-go/internal/tbtest"
	"github.com/traceforge/traceforge-go/snapshot"
	"github.com/traceforge/traceforge-go/traceforgetest"
)

// TestSequences records each cassette of the corpus's sequences as one test, and replays it in order and shuffled. Each
// call must get its own answer. A repeated request must get the next answer.
func TestSequences(t *testing.T) {
	cassettes := map[string][]*interaction{}
	var names []string
	for _, i := range traffic(t, "sequences.jsonl") {
		name := i.cassette()
		if cassettes[name] == nil {
			names = append(names, name)
		}
		if !i.retryable() { // a test fails if an answer cannot be recorded
			cassettes[name] = append(cassettes[name], i)
		}
	}
	seed := rand.Uint64()
	calls, again := 0, 0
	names = sampled(names)
	for n, name := range names {
		s := &sequence{t, name, cassettes[name], filepath.Join(t.TempDir(), ".ai-snapshots")}
		s.record()
		asked := s.identities()
		s.replay(slices.Clone(s.calls))
		s.replay(shuffled(rand.New(rand.NewPCG(seed, uint64(n))), s.calls, asked))
		calls += len(s.calls)
		again += len(s.calls) - len(distinct(asked))
	}
	t.Logf("%d cassettes, %d calls, %d of them of a request that was made before; seed %d", len(names), calls, again, seed)
}

// A sequence is a cassette played as one test.
type sequence struct {
	t     *testing.T
	name  string
	calls []*interaction
	dir   string
}

func (s *sequence) record() {
	s.t.Helper()
	s.t.Setenv("TRACEFORGE_UPDATE", "1")
	upstream := &inOrder{rest: s.calls}
	tb := tbtest.Run("TestSequences/"+s.name, func(tb *tbtest.TB) {
		tf := traceforgetest.New(tb, trafficOptions(s.dir, upstream)...)
		for _, i := range s.calls {
			i.call(tb, tf)
		}
	})
	require.False(s.t, tb.Failed(), "%s: %s", s.name, tb.Logged())
}

// inOrder gives the answers of a cassette in order, to any request.
type inOrder struct{ rest []*interaction }

func (o *inOrder) RoundTrip(r *http.Request) (*http.Response, error) {
	i := o.rest[0]
	o.rest = o.rest[1:]
	body, encoding := i.wire()
	resp := i.bare()
	if encoding != "" {
		resp.Header.Set("Content-Encoding", encoding)
	}
	resp.Request, resp.ContentLength, resp.Body = r, int64(len(body)), io.NopCloser(bytes.NewReader(body))
	return resp, nil
}

// identities returns the identity of each call for matching, in recording order. It checks that each call was recorded
// and that equal requests have equal identities.
func (s *sequence) identities() []canon.Hash {
	s.t.Helper()
	recorded.RequireSound(s.t, s.dir)
	asked := make([]canon.Hash, len(s.calls))
	for _, call := range recorded.Calls(s.t, s.dir) {
		n := call.Number() - 1
		require.Less(s.t, n, len(asked), s.name)
		core, err := snapshot.RequestCore(&call.Request, nil)
		require.NoError(s.t, err)
		asked[n] = canon.Sum(append(core, call.Provider...))
	}
	require.NotContains(s.t, asked, canon.Hash(""), "%s: a call was not recorded", s.name)
	for a, first := range s.calls {
		for b, second := range s.calls[a:] {
			beta := func(i *interaction) []string { return i.RequestHeaders["Openai-Beta"] }
			if first.Method == second.Method && first.URL == second.URL && bytes.Equal(first.request(), second.request()) &&
				slices.Equal(beta(first), beta(second)) {
				require.Equal(s.t, asked[a], asked[a+b], "%s: the same request", s.name)
			}
		}
	}
	return asked
}

// replay makes the calls in the given order.
func (s *sequence) replay(calls []*interaction) {
	s.t.Helper()
	s.t.Setenv("TRACEFORGE_UPDATE", "")
	tb := tbtest.Run("TestSequences/"+s.name, func(tb *tbtest.TB) {
		tf := traceforgetest.New(tb, trafficOptions(s.dir, nil)...)
		for _, i := range calls {
			resp, body := i.call(tb, tf)
			if resp.StatusCode != i.Status || !bytes.Equal(body, i.response()) {
				tb.Errorf("%s got the answer of another call", i.Origin)
			}
		}
	})
	require.False(s.t, tb.Failed(), "%s: %s", s.name, tb.Logged())
}

// shuffled returns the calls in random order, except that equal calls keep their order.
func shuffled(random *rand.Rand, calls []*interaction, asked []canon.Hash) []*interaction {
	turns := map[canon.Hash][]*interaction{}
	for n, i := range calls {
		turns[asked[n]] = append(turns[asked[n]], i)
	}
	order := slices.Clone(asked)
	random.Shuffle(len(order), func(a, b int) { order[a], order[b] = order[b], order[a] })
	out := make([]*interaction, len(calls))
	for n, hash := range order {
		out[n], turns[hash] = turns[hash][0], turns[hash][1:]
	}
	return out
}

func distinct(hashes []canon.Hash) []canon.Hash {
	return slices.Compact(slices.Sorted(slices.Values(hashes)))
}
