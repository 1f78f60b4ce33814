package recorder

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/store"
	"github.com/traceforge/traceforge-go/snapshot"
)

// TestProofShowsNoSecret: what is shown of a record and of what it serves holds no part of a credential, wherever the
// text is cut.
func TestProofShowsNoSecret(t *testing.T) {
	const known = "sk-proj-aB3dE6gH9jK2mN5pQ8rS1tU4vW7xY0zA3bC6dE9fG2hJ5kL8"
	const own = "correct-horse-battery-staple-42"
	t.Setenv("SHOP_API_KEY", own)
	for _, key := range []string{known, own} {
		for at := range 100 {
			p := &proof{doc: &store.Doc{Provider: "openai", Name: "x"}, record: &snapshot.Snapshot{ID: "x-1"}}
			before := strings.Repeat("a ", at)
			p.reportDifference("/content", before+key+" and more", before+"b"+strings.Repeat(" c", 40)+key)
			require.Len(t, p.wrong, 1)
			for i := range len(key) - 8 {
				require.NotContains(t, p.wrong[0].Message, key[i:i+8], "%d bytes in front of it", at)
			}
		}
	}
}

// TestForgedSecretIsNotShown: the command and a replay that find a credential in what a record serves print none of it.
func TestForgedSecretIsNotShown(t *testing.T) {
	const key = "sk-proj-aB3dE6gH9jK2mN5pQ8rS1tU4vW7xY0zA3bC6dE9fG2hJ5kL8"
	s := newScene(t)
	var got string
	call := posts(&got, chatURL, askedBody)
	failures, _ := s.run(Update, call, func(o *Options) { o.Upstream = &upstream{body: honest} })
	require.Empty(t, failures)
	s.forge(func(_ int, _ *snapshot.Snapshot, raw string) string {
		return strings.Replace(raw, "four", "the key is "+key, 1)
	})
	found := s.findings()
	require.Len(t, found, 1)
	got = ""
	failures, _ = s.run(Replay, call)
	require.Len(t, failures, 1)
	for name, text := range map[string]string{"verify": found[0].String(), "the test": failures[0].Text, "the caller": got} {
		require.NotContains(t, text, "aB3dE6gH", name)
		require.NotContains(t, text, "kL8", name)
	}
	require.Contains(t, found[0].Message, "the key is [")
}
