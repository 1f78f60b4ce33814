package near

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDistance(t *testing.T) {
	require.Equal(t, 3, distance("kitten", "sitting", 9))
	require.GreaterOrEqual(t, distance("kitten", "sitting", 2), 2, "no more is asked")
}

func TestName(t *testing.T) {
	names := []string{"hosts", "scrub"}
	require.Equal(t, "scrub", Name("scrubs", names))
	require.Empty(t, Name("prices", names))
	require.Empty(t, Name("", nil))
}
