package locked_test

import (
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/locked"
)

func TestMap(t *testing.T) {
	var m locked.Map[string, int]
	_, ok := m.Get("a")
	require.False(t, ok)
	require.Empty(t, m.All())
	m.Delete("a")

	now, had := m.Add("a", 1)
	require.Equal(t, 1, now)
	require.False(t, had)
	now, had = m.Add("a", 2)
	require.Equal(t, 1, now, "a key keeps its value")
	require.True(t, had)
	m.Set("a", 1)
	m.Set("b", 2)
	now, _ = m.Get("b")
	require.Equal(t, 2, now)
	m.Set("b", 3)
	now, _ = m.Get("b")
	require.Equal(t, 3, now, "a key takes the new value")
	m.Delete("b")

	all := m.All()
	m.Delete("a")
	_, ok = m.Get("a")
	require.False(t, ok)
	require.Equal(t, map[string]int{"a": 1}, all, "a copy")
}

// TestMapOfGoroutines: of several goroutines that add a key at once, one gives it its value.
func TestMapOfGoroutines(t *testing.T) {
	var m locked.Map[int, int]
	var group sync.WaitGroup
	var first atomic.Int64
	for i := range 8 {
		group.Go(func() {
			for key := range 100 {
				if _, had := m.Add(key, i); !had {
					first.Add(1)
				}
				m.All()
			}
		})
	}
	group.Wait()
	require.EqualValues(t, 100, first.Load())
}
