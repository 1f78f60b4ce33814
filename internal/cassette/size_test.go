package cassette

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestBodiesAreBounded: aliases of YAML repeat a body, so that a file of 2 MB took 12 GB.
func TestBodiesAreBounded(t *testing.T) {
	text := fmt.Sprintf("version: 2\nlong: &long %s\ninteractions:\n", strings.Repeat("x", 1000)) +
		strings.Repeat("- {request: {method: GET, url: 'https://a.example'}, response: {code: 200, body: *long}}\n", 3)
	for _, leavesOut := range []bool{false, true} {
		r := &Recording{size: mostInAll - 3000, leavesOut: leavesOut}
		require.NoError(t, r.read([]byte(text)))
		r = &Recording{size: mostInAll - 2999, leavesOut: leavesOut}
		require.ErrorContains(t, r.read([]byte(text)), "more than 512 MB: split the recording")
		require.Len(t, r.Calls, 2)
	}
}
