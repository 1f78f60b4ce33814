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
	ignoring := []traceforgetest.Option{traceforgetest.Ignore("/provider_options/user")}
	cases := []struct {
		name, why string
		replies   []fakeprovider.Reply
		chats     []chat
		options   []traceforgetest.Option
	}{
		{"whole", "two calls in order", []fakeprovider.Reply{fakeprovider.Text("one"), fakeprovider.Text("two")}, []chat{newChat("a"), newChat("b")}, nil},
		{"repeated", "the same prompt with two answers", []fakeprovider.Reply{fakeprovider.Text("one"), fakeprovider.Text("two")}, []chat{newChat("a"), newChat("a")}, nil},
		{"stream", "an aggregate, as of a whole answer", []fakeprovider.Reply{fakeprovider.Text("one two")}, []chat{newChat("a").with("stream", true)}, nil},
		{"tools", "tool calls, numbered", []fakeprovider.Reply{fakeprovider.CallTools(fakeprovider.ToolCall{Name: "look", Arguments: `{}`})}, []chat{newChat("a").with("tools", look)}, nil},
		{"error", "an error that stands", []fakeprovider.Reply{fakeprovider.Error(400, "invalid_request_error", "no")}, []chat{newChat("a")}, nil},
		{"ignored", "what a test ignores is not in its session", []fakeprovider.Reply{fakeprovider.Text("one")}, []chat{newChat("a").with("user", "u")}, ignoring},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := newScene(t)
			s.provider.Reply(c.replies...)
			of := func(tf *traceforgetest.Recorder, model string) *session.Session {
				made, err := session.Of(tf, "openai", model)
				require.NoError(t, err)
				return made
			}
			var recorded, replayed, other *session.Session
			s.record("TestIt", func(tb *tbtest.TB, tf *traceforgetest.Recorder) {
				for _, chat := range c.chats {
					_, _ = send(tf.Client(), chat) // an error is an answer too
				}
				recorded = of(tf, "gpt-4o-mini")
			}, c.options...)
			requirePass(t, s.replay("TestIt", func(tb *tbtest.TB, tf *traceforgetest.Recorder) {
				none := of(tf, "gpt-4o-mini")
				require.Empty(t, none.Interactions, "nothing was replayed so far")
				require.Nil(t, none.Stats)
				for _, chat := range c.chats {
					if c.options != nil {
						chat = chat.with("user", "someone else")
					}
					_, _ = send(tf.Client(), chat)
				}
				replayed = of(tf, "gpt-4o-mini")
				other = of(tf, "gpt-5")
			}, c.options...))
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
