package websockettraceforge_test

import (
	"bytes"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/internal/lint"
	"github.com/traceforge/traceforge-go/internal/recorder"
	snapshots "github.com/traceforge/traceforge-go/internal/store"
	"github.com/traceforge/traceforge-go/internal/store/audit"
	"github.com/traceforge/traceforge-go/internal/tbtest"
	"github.com/traceforge/traceforge-go/snapshot"
	"github.com/traceforge/traceforge-go/traceforgetest"
)

// findings are those of traceforge verify.
func findings(t *testing.T) (text string) {
	t.Helper()
	all, err := snapshots.Open(store(t))
	require.NoError(t, err)
	result, err := audit.Verify(all, recorder.Proven, lint.Deterministic)
	require.NoError(t, err)
	require.Equal(t, 1, result.Documents)
	for _, f := range result.Findings {
		text += f.String() + "\n"
	}
	return text
}

// TestVerify: a recorded session proves itself. A byte that has changed is found, and so is a raw answer that says something
// else than its record, also where the document is sealed again; replay serves neither.
func TestVerify(t *testing.T) {
	replaced := map[string][2]string{"openai": {`\"Oslo\"`, `\"Rome\"`}, "google": {"rains.", "snows."}}
	for provider, with := range talks {
		t.Run(provider, func(t *testing.T) {
			var said []string
			require.False(t, run(t, "1", newProvider(t), with(usual, &said)).Failed())
			require.Empty(t, findings(t))

			files, err := filepath.Glob(filepath.Join(store(t), provider, "*.json"))
			require.NoError(t, err)
			require.Len(t, files, 1)
			beside, err := filepath.Glob(filepath.Join(store(t), provider, "*", "1.*"))
			require.NoError(t, err)
			require.Len(t, beside, 1)
			raw, err := os.ReadFile(beside[0])
			require.NoError(t, err)
			flipped := bytes.Clone(raw)
			flipped[len(flipped)/2] ^= 1
			require.NoError(t, os.WriteFile(beside[0], flipped, 0o644))
			require.Contains(t, findings(t), "raw_output_ref")
			require.True(t, run(t, "", unreachable{}, with(usual, &said)).Failed())

			forged := bytes.ReplaceAll(raw, []byte(replaced[provider][0]), []byte(replaced[provider][1]))
			require.NotEqual(t, raw, forged)
			require.NoError(t, os.WriteFile(beside[0], forged, 0o644))
			text, err := os.ReadFile(files[0])
			require.NoError(t, err)
			doc, err := snapshot.Parse(text)
			require.NoError(t, err)
			doc.Snapshots[0].Response.RawOutputRef = canon.Sum(forged)
			text, err = doc.Write(nil)
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(files[0], text, 0o644))
			require.Contains(t, findings(t), "which is what replay serves, says")
			tb := run(t, "", unreachable{}, with(usual, &said))
			require.True(t, tb.Failed())
			require.Contains(t, tb.Logged(), "which is what replay serves, says")
		})
	}
}

// TestNumbers: the result of a tool's call has the number of the call that it answers.
func TestNumbers(t *testing.T) {
	for provider, with := range talks {
		t.Run(provider, func(t *testing.T) {
			var said []string
			require.False(t, run(t, "1", newProvider(t), with(usual, &said)).Failed())
			text, _ := document(t, provider)
			require.Contains(t, text, `"call_1"`)
			require.NotContains(t, text, `"call_2"`)
		})
	}
}

// TestAtOnce: sessions that begin alike at once are each served what answers their own words, whoever speaks first.
func TestAtOnce(t *testing.T) {
	update := `{"type":"session.update","session":{"type":"realtime","instructions":"Be brief."}}`
	words := []string{"one", "two", "three"}
	talk := func(order []int, heard []string) func(*tbtest.TB, *traceforgetest.Recorder) {
		return func(tb *tbtest.TB, tf *traceforgetest.Recorder) {
			turns := make([]chan struct{}, len(words))
			for i := range turns {
				turns[i] = make(chan struct{})
			}
			var greeted, done sync.WaitGroup
			for i := range words {
				greeted.Add(1)
				done.Go(func() {
					conn := dial(tb, tf)
					defer conn.CloseNow()
					ask(tb, conn, update)
					greeted.Done()
					<-turns[i]
					heard[i] = ask(tb, conn, `{"type":"echo","text":"`+words[i]+`"}`)
				})
			}
			greeted.Wait()
			for _, i := range order {
				close(turns[i])
			}
			done.Wait()
		}
	}
	said, again := make([]string, len(words)), make([]string, len(words))
	tb := run(t, "1", newProvider(t), talk([]int{0, 1, 2}, said))
	require.False(t, tb.Failed(), tb.Logged())
	for n := range 20 {
		tb = run(t, "", unreachable{}, talk([][]int{{0, 1, 2}, {2, 1, 0}, {1, 2, 0}}[n%3], again))
		require.False(t, tb.Failed(), tb.Logged())
		require.Equal(t, said, again)
	}
}
