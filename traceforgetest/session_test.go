package traceforgetest_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/fakeprovider"
	"github.com/traceforge/traceforge-go/internal/tbtest"
	"github.com/traceforge/traceforge-go/modelio/session"
	"github.com/traceforge/traceforge-go/traceforgetest"
)

// TestSession proves that the session of a replay has the core of the recording's, but for its
// mode.
func TestSession(t *testing.T) {
	look := []any{map[string]any{"type": "function", "function": map[string]any{"name": "look", "parameters": map[string]any{"type": "object"}}}}
	cases := []struct {
		name, why string
		replies   []fakeprovider.Reply
		chats     []chat
	}{
		{"whole", "two calls in order", []fakeprovider.Reply{fakeprovider.Text("one"), fakeprovider.Text("two")}, []chat{newChat("a"), newChat("b")}},
		{"repeated", "the same prompt with two answers", []fakeprovider.Reply{fakeprovider.Text("one"), fakeprovider.Text("two")}, []chat{newChat("a"), newChat("a")}},
		{"stream", "an aggregate, as of a whole answer", []fakeprovider.Reply{fakeprovider.Text("one two")}, []chat{newChat("a").with("stream", true)}},
		{"tools", "tool calls, numbered", []fakeprovider.Reply{fakeprovider.CallTools(fakeprovider.ToolCall{Name: "look", Arguments: `{}`})}, []chat{newChat("a").with("tools", look)}},
		{"error", "an error that stands", []fakeprovider.Reply{fakeprovider.Error(400, "invalid_request_error", "no")}, []chat{newChat("a")}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := newScene(t)
			s.provider.Reply(c.replies...)
			var recorded, replayed, other *session.Session
			s.record("TestIt", func(tb *tbtest.TB, tf *traceforgetest.Recorder) {
				for _, chat := range c.chats {
					_, _ = send(tf.Client(), chat) // an error is an answer too
				}
				recorded = tf.Session("openai", "gpt-4o-mini")
			})
			requirePass(t, s.replay("TestIt", func(tb *tbtest.TB, tf *traceforgetest.Recorder) {
				none := tf.Session("openai", "gpt-4o-mini")
				require.Empty(t, none.Interactions, "nothing was replayed so far")
				require.Nil(t, none.Stats)
				for _, chat := range c.chats {
					_, _ = send(tf.Client(), chat)
				}
				replayed = tf.Session("openai", "gpt-4o-mini")
				other = tf.Session("openai", "gpt-5")
			}))
			require.Equal(t, session.ModeRecord, recorded.Mode)
			require.Equal(t, session.ModeReplay, replayed.Mode)
			require.Len(t, recorded.Interactions, len(c.chats), c.why)
			require.Empty(t, other.Interactions, "another model's")
			replayed.Mode = session.ModeRecord
			want, err := recorded.Hash()
			require.NoError(t, err)
			got, err := replayed.Hash()
			require.NoError(t, err)
			require.Equal(t, want, got, c.why)
			for _, s := range []*session.Session{recorded, replayed} {
				file, err := s.Encode()
				require.NoError(t, err)
				require.Empty(t, session.Verify(file))
				require.Equal(t, int64(len(c.chats)), s.Stats.TotalInteractions)
				require.Equal(t, recorded.Stats, s.Stats, "latency and tokens of a replay are those of the recording")
				require.Equal(t, recorded.CreatedAt+recorded.EndedAt, s.CreatedAt+s.EndedAt)
				require.LessOrEqual(t, s.CreatedAt, s.EndedAt)
			}
		})
	}
}
