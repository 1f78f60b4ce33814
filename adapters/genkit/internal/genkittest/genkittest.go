// Package genkittest runs tests of Genkit applications as users do: it records them and then replays them.
package genkittest

import (
	"context"
	"errors"
	"testing"

	"github.com/firebase/genkit/go/ai"
	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/tbtest"
	"github.com/traceforge/traceforge-go/traceforgetest"
)

// Rehearse runs a test once to record and then twice to replay. It returns the directory of the store.
func Rehearse(t *testing.T, test func(*traceforgetest.Recorder), opts ...traceforgetest.Option) string {
	t.Helper()
	dir := t.TempDir()
	for _, mode := range []string{"1", "", ""} {
		Play(t, dir, mode, test, opts...)
	}
	return dir
}

// Play runs a test with the store in dir; it must pass. mode is the value of TRACEFORGE_UPDATE. Nondeterministic models
// and streams that are not read to the end are permitted.
func Play(t *testing.T, dir, mode string, test func(*traceforgetest.Recorder), opts ...traceforgetest.Option) {
	t.Helper()
	tb := run(t, dir, mode, test, opts...)
	require.False(t, tb.Failed(), tb.Logged())
}

// Fails is Play for a test that must fail. It returns the log.
func Fails(t *testing.T, dir, mode string, test func(*traceforgetest.Recorder), opts ...traceforgetest.Option) string {
	t.Helper()
	tb := run(t, dir, mode, test, opts...)
	require.True(t, tb.Failed())
	return tb.Logged()
}

func run(t *testing.T, dir, mode string, test func(*traceforgetest.Recorder),
	opts ...traceforgetest.Option) *tbtest.TB {
	t.Helper()
	t.Setenv("TRACEFORGE_UPDATE", mode)
	tb := tbtest.New(t.Name())
	defer tb.End() // test failed
	test(traceforgetest.New(tb, append(opts, traceforgetest.Dir(dir), traceforgetest.Nondeterministic("a test"),
		traceforgetest.Allow(traceforgetest.CutStreams))...))
	tb.End()
	return tb
}

// Everything returns options of a model that supports everything.
func Everything() *ai.ModelOptions {
	return &ai.ModelOptions{Supports: &ai.ModelSupports{
		Multiturn: true, Media: true, Tools: true, ToolChoice: true, SystemRole: true, Context: true,
		Constrained: ai.ConstrainedSupportAll,
	}}
}

// LiveOnly returns model while rec records, and nil in replay.
func LiveOnly(rec *traceforgetest.Recorder, model ai.ModelFunc) ai.ModelFunc {
	if rec.Recording() {
		return model
	}
	return func(context.Context, *ai.ModelRequest, ai.ModelStreamCallback) (*ai.ModelResponse, error) {
		return nil, errors.New("the model is gone")
	}
}
