package traceforgetest_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/plaintext"
	"github.com/traceforge/traceforge-go/internal/tbtest"
	"github.com/traceforge/traceforge-go/traceforgetest"
)

// TestFailuresArePlain has calls fail whose texts drive terminals and runners: neither the log of the test
// nor its annotations, nor the error that the caller gets, does.
func TestFailuresArePlain(t *testing.T) {
	const evil = "\x1b[2J\u202e\u0085x\r\n ::stop-commands::x\n##[add-mask]y\n::error::z "
	hostile := newChat(evil).with("user", evil).with("metadata", map[string]any{evil: "x"}).with("tools", []any{function("f", evil, evil)})
	plain := newChat("fine").with("tools", []any{function("f", "x", "y")})
	broken := `{"error":"` + strings.NewReplacer("\x1b", `\u001b`, "\r", `\r`, "\n", `\n`, "\u0085", `\u0085`).Replace(evil) + `"`
	for _, c := range []struct {
		name, why string
		fails     func(s *scene) *tbtest.TB
	}{
		{"drift", "what was got", func(s *scene) *tbtest.TB {
			s.record("TestIt", asks(plain))
			return s.replay("TestIt", asks(hostile))
		}},
		{"drift-from", "what was recorded", func(s *scene) *tbtest.TB {
			s.record("TestIt", asks(hostile))
			return s.replay("TestIt", asks(plain))
		}},
		{"not-called", "a summary of it", func(s *scene) *tbtest.TB {
			s.record("TestIt", asks(plain, hostile))
			return s.replay("TestIt", asks(plain))
		}},
		{"missing", "or of the call", func(s *scene) *tbtest.TB { return s.replay("TestIt", asks(hostile)) }},
		{"unknown", "a URL", func(s *scene) *tbtest.TB {
			return s.replay("TestIt", func(_ *tbtest.TB, tf *traceforgetest.Recorder) {
				resp, err := tf.Client().Get("https://h.example/%0A::error::x%1b%E2%80%AE##[y]")
				require.NoError(s.t, err)
				require.Equal(s.t, http.StatusBadRequest, resp.StatusCode)
			})
		}},
		{"answer", "what a provider answers", func(s *scene) *tbtest.TB {
			header := map[string][]string{"Content-Type": {"application/json\x1b" + evil}, "Content-Encoding": {"x\x1b" + evil}}
			s.t.Setenv("TRACEFORGE_UPDATE", "1")
			return s.run("TestIt", asks(plain), traceforgetest.Upstream(answering(header, broken)))
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newScene(t)
			out, err := os.Create(filepath.Join(t.TempDir(), "stdout"))
			require.NoError(t, err)
			stdout := os.Stdout
			os.Stdout = out
			t.Setenv("GITHUB_ACTIONS", "true")
			tb := c.fails(s)
			os.Stdout = stdout
			require.NoError(t, out.Close())
			require.True(t, tb.Failed(), c.why)
			annotated, err := os.ReadFile(out.Name())
			require.NoError(t, err)
			for line := range strings.Lines(tb.Logged() + "\n" + string(annotated)) {
				line = strings.TrimSuffix(line, "\n")
				if !strings.HasPrefix(line, "::error file=") {
					require.False(t, strings.HasPrefix(strings.TrimSpace(line), "::"), "%q", line)
				}
				require.NotContains(t, line, "##[")
				for _, r := range line {
					require.True(t, plaintext.Shown(r) || r == '\t', "%q in %q", r, line)
				}
			}
			require.Equal(t, 1, strings.Count("\n"+string(annotated), "\n::"), "an annotation: %s", annotated)
		})
	}
}
