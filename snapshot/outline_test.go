package snapshot

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/canon"
)

// TestOutlineDepth: a file whose values are nested no deeper than is allowed, each by itself, is
// still refused where the file is.
func TestOutlineDepth(t *testing.T) {
	for levels, fits := range map[int]bool{canon.MaxDepth - 10: true, canon.MaxDepth - 2: false} {
		doc := Document{Version: Version, Snapshots: []Snapshot{{
			ID: "deep", Timestamp: time.Unix(0, 0), Source: Source{File: "a.go", Line: 1, Function: "F"},
			Request:  Request{Messages: []Message{}},
			Response: Response{FinishReason: "stop", Parts: []json.RawMessage{[]byte(`{"a":` + strings.Repeat("[", levels-3) + strings.Repeat("]", levels-3) + "}")}},
		}}}
		require.NoError(t, doc.Seal())
		var b builder
		documentObject.encode(&b, document{Document: doc, records: []record{{Snapshot: doc.Snapshots[0]}}})
		require.NoError(t, b.err())

		scratch := &scratch{file: layOut(b.text)}
		_, found := scratch.examine()
		_, err := Parse(scratch.file)
		if fits {
			require.Empty(t, found)
			require.NoError(t, err)
			continue
		}
		require.Error(t, err)
		require.Len(t, found, 1)
		require.Equal(t, ruleDepth, found[0].Rule)
	}
}
