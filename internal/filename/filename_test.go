package filename

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestLegal(t *testing.T) {
	for _, name := range []string{"openai", "a-b", "9"} {
		require.True(t, Legal(name), name)
	}
	for _, name := range []string{"", "-a", "A", "a.b", "a/b", "..", "con", "lpt9", strings.Repeat("a", 65)} {
		require.False(t, Legal(name), name)
	}
}
