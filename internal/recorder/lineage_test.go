package recorder

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

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
		require.True(t, r.run.mayBegin(known, first))
		known.Gone, r.run.Test = true, known.Test
		require.True(t, r.run.mayBegin(known, last), "calls may be concurrent")
	})
}
