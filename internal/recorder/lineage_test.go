package recorder

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/scrub"
	"github.com/traceforge/traceforge-go/internal/usage"
	"github.com/traceforge/traceforge-go/snapshot"
)

// TestMayBegin: a document that begins with another call costs hardly more than to read it, however many records it has.
func TestMayBegin(t *testing.T) {
	var prompts []string
	for i := range 100 {
		prompts = append(prompts, fmt.Sprint("question ", i))
	}
	s := newScene(t)
	s.run(Update, asks(prompts...))
	known := usage.Known{Name: snapshot.DocumentName("example.com/m", "TestIt"), Package: "example.com/m", Test: "TestIt"}
	s.run(Update, func(r *Recorder) {
		tape := r.run.tapeOf(known.Name, &call{key: key{provider: "openai"}})
		require.Len(t, tape.records, len(prompts))
		first, last := &call{key: tape.key(0)}, &call{key: tape.key(99)}
		allocated := func(f func()) float64 {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			f()
			runtime.ReadMemStats(&after)
			return float64(after.TotalAlloc - before.TotalAlloc)
		}
		read := allocated(func() { r.run.tapeOf(known.Name, last) })
		require.Less(t, allocated(func() { require.False(t, r.run.mayBegin(known, last)) })/read, 1.5)
		require.Less(t, allocated(func() { require.False(t, r.run.mayBegin(known, last)) })/read, 0.01, "it was read once")
		require.True(t, r.run.mayBegin(known, first))
		known.Gone, r.run.Test = true, known.Test
		require.True(t, r.run.mayBegin(known, last), "calls may be concurrent")
	})
}

// TestMayBeginAgain: what a document began with is not remembered when it is recorded again, nor among tests with rules
// of their own.
func TestMayBeginAgain(t *testing.T) {
	s := newScene(t)
	known := usage.Known{Name: snapshot.DocumentName("example.com/m", "TestIt"), Package: "example.com/m", Test: "TestIt"}
	first := func(r *Recorder) *call {
		return &call{key: r.run.tapeOf(known.Name, &call{key: key{provider: "openai"}}).key(0)}
	}
	var was, is *call
	s.run(Update, asks("a question"))
	s.run(Update, func(r *Recorder) {
		was = first(r)
		require.True(t, r.run.mayBegin(known, was))
	}, func(o *Options) { o.Test = "TestIt/b" })
	s.run(Update, asks("another"))
	s.run(Update, func(r *Recorder) {
		is = first(r)
		require.NotEqual(t, was.key, is.key)
		require.True(t, r.run.mayBegin(known, is))
		require.False(t, r.run.mayBegin(known, was))
	}, func(o *Options) { o.Test = "TestIt/c" })
	s.run(Update, func(r *Recorder) {
		hidden := first(r)
		require.NotEqual(t, is.key, hidden.key)
		require.True(t, r.run.mayBegin(known, hidden))
		require.False(t, r.run.mayBegin(known, is))
	}, func(o *Options) { o.Test, o.Scrub = "TestIt/d", []scrub.Rule{scrub.Value("word", "another")} })
	s.run(Update, func(r *Recorder) { require.True(t, r.run.mayBegin(known, is)) }, func(o *Options) { o.Test = "TestIt/e" })
}
