package store

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/snapshot"
)

// BenchmarkLoad loads a test of one call: its document and the raw answer.
func BenchmarkLoad(b *testing.B) {
	for _, tests := range []int{1, 1000} {
		b.Run(fmt.Sprint(tests), func(b *testing.B) {
			s, err := Open(b.TempDir())
			require.NoError(b, err)
			var c Change
			for n := range tests {
				c.Put = append(c.Put, putOf(fmt.Sprint("Test", n), call{1, "one?", "one"}))
			}
			require.NoError(b, s.Commit(c))
			name := nameOf("Test0")
			b.ReportAllocs()
			for b.Loop() {
				s, err := Open(s.Dir())
				require.NoError(b, err)
				doc, err := s.Load(name, "openai")
				require.NoError(b, err)
				_, err = doc.Raw(0)
				require.NoError(b, err)
			}
		})
	}
}

// BenchmarkCommit commits one test's document to a store of others.
func BenchmarkCommit(b *testing.B) {
	for _, tests := range []int{1, 1000, 10000} {
		b.Run(fmt.Sprint(tests), func(b *testing.B) {
			s, err := Open(b.TempDir())
			require.NoError(b, err)
			var c Change
			for n := range tests {
				c.Put = append(c.Put, putOf(fmt.Sprint("Test", n), call{1, "one?", "one"}))
			}
			require.NoError(b, s.Commit(c))
			b.ReportAllocs()
			for n := 0; b.Loop(); n++ {
				require.NoError(b, s.Commit(Change{Put: []Put{putOf("Test0", call{1, "one?", fmt.Sprint(n)})}}))
			}
		})
	}
}

func BenchmarkVerify(b *testing.B) {
	const tests = 1000
	s, err := Open(b.TempDir())
	require.NoError(b, err)
	var c Change
	for n := range tests {
		c.Put = append(c.Put, putOf(fmt.Sprint("Test", n), call{1, "one?", "one"}))
	}
	require.NoError(b, s.Commit(c))
	b.ReportAllocs()
	for b.Loop() {
		result, err := Audit.Verify(s, func(*Doc) []snapshot.Violation { return nil })
		require.NoError(b, err)
		require.Empty(b, result.Findings)
	}
}

// TestVerifyAllocations limits the allocations for verifying a document of one call and its answer.
func TestVerifyAllocations(t *testing.T) {
	const tests = 50
	s, err := Open(t.TempDir())
	require.NoError(t, err)
	var c Change
	for n := range tests {
		c.Put = append(c.Put, putOf(fmt.Sprint("Test", n), call{1, "one?", "one"}))
	}
	require.NoError(t, s.Commit(c))
	verify := func() {
		_, err := Audit.Verify(s)
		require.NoError(t, err)
	}
	perTest := testing.AllocsPerRun(3, verify) / tests
	t.Logf("%.0f allocations a document", perTest)
	require.LessOrEqual(t, perTest, 150.0)
}
