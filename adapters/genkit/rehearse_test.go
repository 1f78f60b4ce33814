package genkittraceforge_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	genkittraceforge "github.com/traceforge/traceforge-go/adapters/genkit"
	"github.com/traceforge/traceforge-go/internal/tbtest"
	"github.com/traceforge/traceforge-go/traceforgetest"
)

var _ genkittraceforge.Recorder = (*traceforgetest.Recorder)(nil)

// rehearse runs a test as its user does: once to record, and then twice to replay. It returns
// the directory of the store.
func rehearse(t *testing.T, test func(*traceforgetest.Recorder), opts ...traceforgetest.Option) string {
	t.Helper()
	dir := t.TempDir()
	for _, mode := range []string{"1", "", ""} {
		play(t, dir, mode, test, opts...)
	}
	return dir
}

// play runs a test with the store in dir; it must pass. The mode is what TRACEFORGE_UPDATE says.
// The models of these tests are not held to be deterministic, and need not be heard to the end.
func play(t *testing.T, dir, mode string, test func(*traceforgetest.Recorder), opts ...traceforgetest.Option) {
	t.Helper()
	t.Setenv("TRACEFORGE_UPDATE", mode)
	tb := tbtest.New(t.Name())
	defer tb.End() // where test fails
	test(traceforgetest.New(tb, append(opts, traceforgetest.Dir(dir), traceforgetest.Nondeterministic("a test"), traceforgetest.Allow(traceforgetest.CutStreams))...))
	tb.End()
	require.False(t, tb.Failed(), tb.Logged())
}
