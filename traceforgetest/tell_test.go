package traceforgetest

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/recorder"
	"github.com/traceforge/traceforge-go/internal/tbtest"
	"github.com/traceforge/traceforge-go/snapshot"
)

// A framed is a framework's own TB: it has no Output, as what it embeds is nil.
type framed struct {
	testing.TB
	logged []string
}

func (f *framed) Log(args ...any) { f.logged = append(f.logged, args[0].(string)) }

// TestTell prints failures at their lines, which some cannot.
func TestTell(t *testing.T) {
	failure := &recorder.Failure{Text: "it drifted\nchanged: system", Source: snapshot.Source{File: "agents/ask.go", Line: 31}}
	p := place{root: "/src/m", dir: "agents"}
	tb := tbtest.New("TestIt")
	(&Recorder{t: tb, place: p}).tell(failure)
	require.Equal(t, "ask.go:31: traceforge: it drifted\n    changed: system", tb.Logged())

	tb = tbtest.New("TestIt")
	asked := func() snapshot.Source { return snapshot.Source{File: "other/ask_test.go", Line: 7} }
	(&Recorder{t: tb, place: p, origin: asked}).tell(&recorder.Failure{Text: "no call was made"})
	require.Equal(t, "../other/ask_test.go:7: traceforge: no call was made", tb.Logged(), "what is of no call is of the test")

	f := &framed{}
	(&Recorder{t: f, place: p}).tell(failure)
	require.Equal(t, "traceforge: it drifted\nchanged: system", strings.Join(f.logged, "|"))
}
