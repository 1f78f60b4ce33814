package session

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/modelio"
)

// TestVerifyTotalBytes tests the limit of 100 MB (MI11). The count starts just below, since a session of that size
// takes long to make.
func TestVerifyTotalBytes(t *testing.T) {
	s := New("a", "m")
	s.Append("p", "é")
	data, err := s.Encode()
	require.NoError(t, err)
	violations := func(before int64, opts VerifyOptions) []modelio.Violation {
		v := newVerifier(opts)
		v.totalBytes = before
		return v.verify(jsontext.ValueOf(data)).Violations
	}
	require.Empty(t, violations(MaxTotalBytes-2, VerifyOptions{}))
	require.Empty(t, violations(MaxTotalBytes-1, VerifyOptions{NoSizeLimits: true}))
	require.Equal(t, []modelio.Violation{{
		Rule: "MI11", Pointer: "/interactions", Message: "total response bytes (100000001) exceeds limit (100000000)",
	}}, violations(MaxTotalBytes-1, VerifyOptions{}))
}
