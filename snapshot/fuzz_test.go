package snapshot_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/snapshot"
)

// FuzzParse: no text makes Parse panic. What it takes, Encode writes; that parses to the same, with
// the same hashes, and is written as it is.
func FuzzParse(f *testing.F) {
	for _, file := range vectors(f) {
		for _, v := range file.Cases {
			f.Add(v.text())
		}
	}
	f.Add(encode(f, document(f, fullRecord(), record("TestX", 2))))
	f.Fuzz(func(t *testing.T, data []byte) {
		doc, err := snapshot.Parse(data)
		if err != nil {
			require.NotEmpty(t, err.Error())
			require.Nil(t, doc)
			return
		}
		written, err := doc.Encode()
		require.NoError(t, err)
		again, err := snapshot.Parse(written)
		require.NoError(t, err)
		require.Equal(t, doc, again)
		rewritten, err := again.Encode()
		require.NoError(t, err)
		require.Equal(t, string(written), string(rewritten))

		for _, snap := range doc.Snapshots {
			stated := snap
			require.NoError(t, snap.Seal())
			if stated.Request.PromptHash != "" && stated.Response.ResponseHash != "" { // else Seal adds them
				require.Equal(t, stated, snap)
			}
		}
	})
}

// FuzzSeal: whatever JSON is in a record, what can be sealed can be written and read back, the
// store serves it, and Verify finds nothing. Both the fast and the slow way agree on it.
func FuzzSeal(f *testing.F) {
	f.Add("content", awkward, `"text"`, "1", "/provider_options/0")
	f.Add("", `{"$number":"1"}`, `[{"text":"a"}]`, "9223372036854775807", "")
	f.Add("\u2028<&>\x00", `[1e400,{"10":1,"9":2}]`, `[]`, "-0.0", "/messages/0/content/0/text")
	f.Fuzz(func(t *testing.T, text, raw, content, seed, ignored string) {
		snap := record("TestFuzz", 1)
		snap.Response.Content = text
		snap.Request.ProviderOptions = map[string]json.RawMessage{"raw": json.RawMessage(raw), text: json.RawMessage(raw)}
		snap.Request.Messages[0].Content = json.RawMessage(content)
		snap.Request.Seed = number(seed)
		if ignored != "" {
			snap.Source.Ignored = []string{ignored}
		}
		doc := &snapshot.Document{Version: snapshot.Version, Snapshots: []snapshot.Snapshot{*snap}}
		if doc.Seal() != nil {
			return
		}
		data, err := doc.Encode()
		if err != nil {
			return
		}
		parsed, err := snapshot.Parse(data)
		require.NoError(t, err)
		require.Equal(t, doc.Hash, parsed.Hash)
		require.Equal(t, data, encode(t, parsed))
		kept, err := canon.KeepNumbers([]byte(raw))
		require.NoError(t, err)
		got, err := canon.KeepNumbers(parsed.Snapshots[0].Request.ProviderOptions["raw"])
		require.NoError(t, err)
		require.Equal(t, string(kept), string(got), "what was sent is what comes back")

		store, _ := newStore(t)
		require.NoError(t, store.Put("openai", snap))
		found, err := store.Verify()
		require.NoError(t, err)
		require.Empty(t, found)
		for e, err := range store.All() {
			require.NoError(t, err)
			sealed, err := store.Load(e)
			require.NoError(t, err)
			require.Equal(t, parsed.Snapshots[0].Request.PromptHash, sealed.PromptHash)
			whole, err := sealed.Snapshot()
			require.NoError(t, err)
			require.Equal(t, parsed.Snapshots[0], *whole)
		}
	})
}
