package traceforgetest_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/tbtest"
	"github.com/traceforge/traceforge-go/traceforgetest"
)

// TestAnotherProvider records a call again from another provider with the same API.
func TestAnotherProvider(t *testing.T) {
	s := newScene(t)
	s.record("TestIt", asks(newChat("a")))
	moved := func(tb *tbtest.TB, tf *traceforgetest.Recorder) {
		_, err := post(tf.Client(), "https://api.groq.com/openai/v1/chat/completions", newChat("a"))
		require.NoError(t, err)
	}
	s.record("TestIt", moved)
	require.Empty(t, s.documents("openai"))
	require.Len(t, s.documents("groq"), 1)
	requirePass(t, s.replay("TestIt", moved))
	s.requireWhole()
}

// TestIgnoredPointersChange: what is ignored is a part of what was recorded.
func TestIgnoredPointersChange(t *testing.T) {
	s := newScene(t)
	s.record("TestIt", asks(newChat("a").with("user", "u")), traceforgetest.Ignore("/provider_options/user"))
	tb := s.replay("TestIt", asks(newChat("a").with("user", "v")), traceforgetest.Ignore("/provider_options/user", "/seed"))
	require.True(t, tb.Failed())
	require.Contains(t, tb.Logged(), "changed: the ignored pointers, from [/provider_options/user] to [/provider_options/user /seed]")
}

// TestManyDifferences: the error for the caller names the first three.
func TestManyDifferences(t *testing.T) {
	s := newScene(t)
	s.record("TestIt", asks(newChat("a")))
	s.replay("TestIt", func(tb *tbtest.TB, tf *traceforgetest.Recorder) {
		_, err := send(tf.Client(), newChat("b").with("top_p", 0.5).with("user", "u").with("seed", 1).with("model", "m"))
		require.ErrorContains(t, err, ": model, message 1 (user), parameters: user added, and 2 more")
	})
}

// TestRequestThatCannotBeKept: what two readers would take differently is in no snapshot.
func TestRequestThatCannotBeKept(t *testing.T) {
	s := newScene(t)
	tb := s.replay("TestIt", func(tb *tbtest.TB, tf *traceforgetest.Recorder) {
		_, err := tf.Client().Post("https://api.openai.com/v1/chat/completions", "application/json", strings.NewReader(`{"model":"m","model":"n","messages":[]}`))
		require.NoError(t, err)
	})
	require.True(t, tb.Failed())
	require.Contains(t, tb.Logged(), "POST https://api.openai.com/v1/chat/completions cannot be kept: openai.chat: /model: offset 13: duplicate member name \"model\"")
}

// TestRecordOverOtherLineEnds writes a record anew that says the same, and is not as it was written.
func TestRecordOverOtherLineEnds(t *testing.T) {
	s := newScene(t)
	s.record("TestIt", asks(newChat("a")))
	s.edit(s.documents("openai")[0], func(f string) string { return strings.ReplaceAll(f, "\n", "\r\n") })
	s.record("TestIt", asks(newChat("a")))
	s.requireWhole()
}

// TestRecordOverAlteredRecords records again what was altered by hand, in all ways.
func TestRecordOverAlteredRecords(t *testing.T) {
	for _, c := range []struct {
		name, why string
		alter     func(s *scene, file string)
	}{
		{"edited", "the seal is broken", func(s *scene, file string) {
			s.edit(file, func(f string) string { return strings.Replace(f, `"gpt-4o-mini"`, `"gpt-9"`, 1) })
		}},
		{"emptied", "no JSON is left", func(s *scene, file string) { require.NoError(s.t, os.Truncate(file, 0)) }},
		{"removed", "nothing is left", func(s *scene, file string) { require.NoError(s.t, os.Remove(file)) }},
		{"no answers", "the answer is gone", func(s *scene, file string) { require.NoError(s.t, os.RemoveAll(strings.TrimSuffix(file, ".json"))) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newScene(t)
			s.record("TestIt", asks(newChat("a")))
			file := s.documents("openai")[0]
			c.alter(s, file)
			require.True(t, s.replay("TestIt", asks(newChat("a"))).Failed(), c.why)
			s.record("TestIt", asks(newChat("a")))
			requirePass(t, s.replay("TestIt", asks(newChat("a"))))
			require.Equal(t, []string{file}, s.documents("openai"))
		})
	}
}

// TestCommitFails: a store that cannot be written fails the test when it ends.
func TestCommitFails(t *testing.T) {
	s := newScene(t)
	require.NoError(t, os.MkdirAll(filepath.Join(s.dir, ".gitattributes"), 0o755))
	tb := s.update("1", "TestIt", asks(newChat("a")))
	require.True(t, tb.Failed())
	require.Contains(t, s.text(tb), "traceforge: commit: lock store STORE: open .gitattributes: is no regular file")
}
