package audit

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/snapshot"
)

// TestVerifyWithoutTest checks that a test's document without the test's name is invalid, even with new hashes.
func TestVerifyWithoutTest(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		remove func(*snapshot.Source)
	}{
		{"test", func(s *snapshot.Source) { s.Test = "" }},
		{"package", func(s *snapshot.Source) { s.Package = "" }},
		{"both", func(s *snapshot.Source) { s.Package, s.Test = "", "" }},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, dir := newStore(t)
			commit(t, s, putOf("TestX", call{1, "one?", "one"}))
			doc, err := s.Load(nameOf("TestX"), "openai")
			require.NoError(t, err)
			c.remove(&doc.Document.Snapshots[0].Source)
			data, err := doc.Document.Write(nil)
			require.NoError(t, err)
			writeFile(t, dir, fileOf("TestX"), string(data))
			report, err := Verify(s)
			require.NoError(t, err)
			require.Len(t, report.Findings, 1)
			require.Equal(t, snapshot.RuleName, report.Findings[0].Rule)
		})
	}
}
