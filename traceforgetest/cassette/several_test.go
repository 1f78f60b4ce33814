package cassette_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/tbtest"
	"github.com/traceforge/traceforge-go/traceforgetest"
	"github.com/traceforge/traceforge-go/traceforgetest/cassette"
)

// changed is a copy of a cassette in which texts are others.
func changed(t *testing.T, file, name string, oldnew ...string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	file = filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(file, []byte(strings.NewReplacer(oldnew...).Replace(string(text))), 0o600))
	return file
}

// TestSeveral: the recordings of one test answer what each of them holds, also where each agent of the test makes a recorder.
func TestSeveral(t *testing.T) {
	s := newSuite(t)
	first := vcr(t, 200)
	second := changed(t, first, "TestOther.yaml", `"content":"Hi"`, `"content":"Bye"`, "Hello", "So long")
	test := func(tb *tbtest.TB, tf *traceforgetest.Recorder) {
		require.Contains(t, say(tb, tf.Client(), "Bye"), "So long")
		again := traceforgetest.New(tb, append(opened(t, first, cassette.And(second)), traceforgetest.Dir(s.dir))...)
		require.Contains(t, say(tb, again.Client(), "Hi"), "Hello")
	}
	tb := s.run(t, "1", opened(t, first, cassette.And(second)), test)
	require.False(t, tb.Failed(), tb.Logged())
	records := s.records(t)
	require.Len(t, records, 2)
	require.Regexp(t, `TestOther\.yaml, interaction 1$`, records[0].Source.Origin)
	require.Regexp(t, `TestHi\.yaml, interaction 1$`, records[1].Source.Origin)

	tb = newSuite(t).run(t, "1", opened(t, first, cassette.And(second)), func(tb *tbtest.TB, tf *traceforgetest.Recorder) {
		say(tb, tf.Client(), "What?")
	})
	require.True(t, tb.Failed())
	require.Contains(t, tb.Logged(), "TestHi.yaml has no answer for POST")
	require.Contains(t, tb.Logged(), "TestOther.yaml has no answer for POST")
	_, err := cassette.Open(first, cassette.And("testdata/none.yaml"))
	require.ErrorContains(t, err, "open a recording: open testdata/none.yaml")
}

// around is a transport of a user's own.
type around struct{ http.RoundTripper }

// TestWrapped: what a user's own transport takes from a recording has its origin, its date and its latency.
func TestWrapped(t *testing.T) {
	s := newSuite(t)
	old, err := cassette.Open(vcr(t, 200))
	require.NoError(t, err)
	options := []traceforgetest.Option{traceforgetest.Upstream(around{old}), traceforgetest.Nondeterministic("as it was")}
	tb := s.run(t, "1", options, func(tb *tbtest.TB, tf *traceforgetest.Recorder) { say(tb, tf.Client(), "Hi") })
	require.False(t, tb.Failed(), tb.Logged())
	require.NotContains(t, tb.Logged(), "10 tokens", "nothing was bought")
	r := s.records(t)[0]
	require.Regexp(t, `TestHi\.yaml, interaction 1$`, r.Source.Origin)
	require.Equal(t, int64(842), r.Response.LatencyMS)
	require.Equal(t, "2026-07-14T10:00:00Z", r.Timestamp.Format("2006-01-02T15:04:05Z"))
	require.NotContains(t, r.Response.Headers, "traceforge-provenance")
}
