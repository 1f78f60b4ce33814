package snapshot_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/snapshot"
)

// TestLayOut lays out texts in their own memory, which gets short at every possible place.
func TestLayOut(t *testing.T) {
	t.Parallel()
	const all = 300
	for n := range all {
		text := []byte("[" + strings.Repeat("0,", n) + `"` + strings.Repeat(":", n) + `",` + strings.Repeat("0,", all-n) + `{"a":{}}]`)
		var want bytes.Buffer
		require.NoError(t, json.Indent(&want, text, "", "  "))
		require.Equal(t, want.String()+"\n", string(snapshot.LayOut(text)), "a string behind %d numbers", n)
	}
}
