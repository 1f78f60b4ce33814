package snapshot_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/snapshot"
)

// TestEncodeSpelling encodes texts of every character that is escaped, short ones and ones that
// the encoder makes room for.
func TestEncodeSpelling(t *testing.T) {
	var all strings.Builder
	for c := range rune(0x80) {
		all.WriteRune(c)
	}
	all.WriteString("é\u2028\U0001f600\ufffd")
	for _, content := range []string{"", `"`, all.String(), strings.Repeat(all.String(), 100)} {
		snap := record("TestIt", 1)
		snap.Response.Content = content
		snap.Request.Prompt, snap.Request.Messages = &content, nil
		data := encode(t, document(t, snap))
		got, err := snapshot.Parse(data)
		require.NoError(t, err)
		require.Equal(t, content, got.Snapshots[0].Response.Content)
		require.Equal(t, content, *got.Snapshots[0].Request.Prompt)

		core, err := snap.Response.Core()
		require.NoError(t, err)
		require.True(t, canon.Canonical(core), "%q", core)
	}
}

// TestEncodeDepth nests values as deep as a member may be, which is too deep in a document.
func TestEncodeDepth(t *testing.T) {
	for levels, fits := range map[int]bool{canon.MaxDepth - 10: true, canon.MaxDepth - 4: false} {
		snap := record("TestIt", 1)
		part := `{"a":` + strings.Repeat("[", levels) + strings.Repeat("]", levels) + "}"
		snap.Response.Parts = []json.RawMessage{json.RawMessage(part)}
		doc := document(t, snap)
		data, err := doc.Encode()
		if fits {
			require.NoError(t, err)
			_, err = snapshot.Parse(data)
			require.NoError(t, err)
			continue
		}
		require.ErrorContains(t, err, "depth")
	}
}
