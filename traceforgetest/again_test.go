package traceforgetest_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/tbtest"
	"github.com/traceforge/traceforge-go/traceforgetest"
)

// TestNewAgain has agents that ask for a recorder each, in turn and at once.
func TestNewAgain(t *testing.T) {
	agents := func(at int) func(*tbtest.TB, *traceforgetest.Recorder) {
		return func(t *tbtest.TB, tf *traceforgetest.Recorder) {
			var wg sync.WaitGroup
			for i := range at {
				wg.Go(func() {
					own := traceforgetest.New(t)
					if own != tf {
						t.Errorf("agent %d has another recorder", i)
					}
					asks(newChat(fmt.Sprint("agent ", i)))(t, own)
				})
			}
			wg.Wait()
		}
	}
	s := newScene(t)
	s.record("TestIt", agents(8))
	require.Len(t, s.records("openai"), 8)
	requirePass(t, s.replay("TestIt", agents(8)))
}

// TestNewAtOnce has no first call of New: whoever comes first opens the recorder, and it ends once.
func TestNewAtOnce(t *testing.T) {
	tbtest.Unfiltered(t)
	t.Setenv("TRACEFORGE_DIR", t.TempDir())
	tb := tbtest.Run("TestIt", func(t *tbtest.TB) {
		all := make([]*traceforgetest.Recorder, 16)
		var wg sync.WaitGroup
		for i := range all {
			wg.Go(func() { all[i] = traceforgetest.New(t) })
		}
		wg.Wait()
		for _, tf := range all {
			if tf == nil || tf != all[0] {
				t.Errorf("got several recorders")
			}
		}
	})
	require.Equal(t, 1, strings.Count(tb.Logged(), "traceforge: "), tb.Logged())
	require.Contains(t, tb.Logged(), "traceforge: no model call was made")
}

// An oldFile is an upstream that is the same as another one of its file.
type oldFile struct{ name string }

func (*oldFile) RoundTrip(*http.Request) (*http.Response, error) { return nil, errors.New("no answer") }

func (f *oldFile) SameAs(other http.RoundTripper) bool {
	o, ok := other.(*oldFile)
	return ok && *o == *f
}

// TestNewAgainWithOptions has helpers that give the same options each time, in any order; with others the test fails, which
// names the option and the way out. The test after it has a recorder of its own again.
func TestNewAgainWithOptions(t *testing.T) {
	decoded := func(name string) traceforgetest.Option {
		return traceforgetest.ContentEncoding(name, func(r io.Reader) (io.Reader, error) { return r, nil })
	}
	options := func() []traceforgetest.Option {
		return []traceforgetest.Option{
			traceforgetest.Ignore("/user", "/metadata"),
			traceforgetest.Allow(traceforgetest.CutStreams),
			traceforgetest.Scrub(traceforgetest.Value("customer", "Ada Lovelace"), traceforgetest.Pattern("order", regexp.MustCompile("o-[0-9]+")), traceforgetest.Volatile()),
			traceforgetest.Ignore("/session"),
			decoded("br"),
			traceforgetest.Upstream(&oldFile{"a.yaml"}),
			traceforgetest.StreamTiming(),
		}
	}
	s := newScene(t)
	again := func(later []traceforgetest.Option) *tbtest.TB { // New of s.run has the options too
		return s.run("TestIt", func(t *tbtest.TB, tf *traceforgetest.Recorder) {
			if traceforgetest.New(t, later...) != tf || traceforgetest.New(t) != tf {
				t.Errorf("another recorder")
			}
		}, options()...)
	}
	equal := append(options(), traceforgetest.Dir(s.dir))
	slices.Reverse(equal[4:])
	equal = slices.Clip(equal)
	require.NotContains(t, again(equal).Logged(), "another recorder")
	for name, later := range map[string][]traceforgetest.Option{
		"StreamTiming":    append(options()[:6], traceforgetest.Dir(s.dir)),
		"Ignore":          append(equal, traceforgetest.Ignore("/x")),
		"Scrub":           append(equal, traceforgetest.Scrub(traceforgetest.Value("customer", "Bob Carpenter"))),
		"Dir":             append(options(), traceforgetest.Dir(t.TempDir())),
		"Upstream":        append(equal, traceforgetest.Upstream(http.DefaultTransport)),
		"ContentEncoding": append(equal, traceforgetest.ContentEncoding("br", nil)),
	} {
		require.Contains(t, again(later).Logged(), "traceforge: New was called with options in TestIt, which has a recorder with others already: "+
			name+" differs: give each New of a test the same options, or all to the first and none to the others")
	}
	s.record("TestIt", asks(newChat("a")))
	requirePass(t, s.replay("TestIt", asks(newChat("a")), traceforgetest.StreamTiming()))
}

// TestNewAgainWithUpstream has helpers that give transports without SameAs: only the same one is equal.
func TestNewAgainWithUpstream(t *testing.T) {
	one, fails := &http.Transport{}, roundTripper(func(*http.Request) (*http.Response, error) { return nil, errors.New("no answer") })
	for _, c := range []struct {
		first, later http.RoundTripper
		same         bool
	}{
		{one, one, true}, {one, &http.Transport{}, false}, {fails, fails, false}, {one, nil, false}, {nil, one, false}, {nil, nil, true},
	} {
		s := newScene(t)
		tb := s.run("TestIt", func(t *tbtest.TB, _ *traceforgetest.Recorder) {
			traceforgetest.New(t, traceforgetest.Upstream(c.later), traceforgetest.Dir(s.dir))
		}, traceforgetest.Upstream(c.first))
		require.Equal(t, !c.same, strings.Contains(tb.Logged(), "Upstream differs"), "%T and %T: %s", c.first, c.later, tb.Logged())
	}
}

// TestNewInSubtest has a recorder of its own.
func TestNewInSubtest(t *testing.T) {
	s := newScene(t)
	requirePass(t, s.update("1", "TestIt", func(t *tbtest.TB, tf *traceforgetest.Recorder) {
		asks(newChat("a"))(t, tf)
		sub := s.run("TestIt/sub", asks(newChat("b")), traceforgetest.Upstream(s.provider.Transport()))
		if sub.Failed() {
			t.Errorf("%s", sub.Logged())
		}
	}))
	require.Len(t, s.documents("openai"), 2)
}

// TestNewThatFails leaves nothing behind: the next one of the same name works.
func TestNewThatFails(t *testing.T) {
	s := newScene(t)
	require.Contains(t, s.run("TestIt", asks(), traceforgetest.Nondeterministic("")).Logged(), "needs a reason")
	s.record("TestIt", asks(newChat("a")))
}
