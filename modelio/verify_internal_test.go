package modelio

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// MI11 limits a session to 100 MB, which is much to make: the count starts just below.
func TestVerifyTotalBytes(t *testing.T) {
	s := NewSession("a", "m")
	s.Append("p", "é")
	data, err := s.Encode()
	require.NoError(t, err)
	violations := func(before int64, opts VerifyOptions) []Violation {
		v := newVerifier(strings.NewReader(string(data)), opts)
		v.totalBytes = before
		report, err := v.verify()
		require.NoError(t, err)
		return report.Violations
	}
	require.Empty(t, violations(MaxTotalBytes-2, VerifyOptions{}))
	require.Empty(t, violations(MaxTotalBytes-1, VerifyOptions{NoSizeLimits: true}))
	require.Equal(t, []Violation{{
		RuleID: "MI11", Path: "$.interactions", Message: "total response bytes (100000001) exceeds limit (100000000)",
	}}, violations(MaxTotalBytes-1, VerifyOptions{}))
}
