package snapshot_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/snapshot"
)

// TestConfirms checks which new answers are those of before.
func TestConfirms(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, why string
		change    func(r, was *snapshot.Response)
		want      bool
	}{
		{"same", "nothing is another", func(_, _ *snapshot.Response) {}, true},
		{"usage", "what it costs is kept", func(r, _ *snapshot.Response) { r.TokensUsed = ptr(int64(11)) }, true},
		{"status", "a client may act on it", func(r, _ *snapshot.Response) { r.Status = 201 }, false},
		{"model", "another one answered", func(r, _ *snapshot.Response) { r.Model = "m" }, false},
		{"cut", "it broke off", func(r, _ *snapshot.Response) { r.Incomplete = "cut" }, false},
		{"times", "the old one has no times", func(r, _ *snapshot.Response) { r.TimingMS = []int64{1} }, false},
		{"both-times", "times may differ", func(r, was *snapshot.Response) { r.TimingMS, was.TimingMS = []int64{1}, []int64{2} }, true},
		{"no-times", "the old ones are kept", func(_, was *snapshot.Response) { was.TimingMS = []int64{1} }, true},
	} {
		now, was := record("TestX", 1), record("TestX", 1)
		c.change(&now.Response, &was.Response)
		require.Equal(t, c.want, now.Response.Confirms(&was.Response), "%s: %s", c.name, c.why)
	}
}

// TestSucceed checks what the next record of a call has of the earlier one.
func TestSucceed(t *testing.T) {
	t.Parallel()
	was := record("TestX", 1)
	was.Source.Provenance.RunID, was.Response.Status, was.Timestamp = "old", 201, recordedAt.Add(-time.Hour)
	now := func(change func(*snapshot.Source), answered bool) *snapshot.Snapshot {
		s := record("TestX", 2)
		s.Source.Line, s.Source.Provenance.RunID = 99, "new"
		change(&s.Source)
		s.Succeed(&was, answered)
		require.Equal(t, was.ID, s.ID)
		return &s
	}
	same := func(*snapshot.Source) {}
	require.Equal(t, 12, now(same, false).Source.Line)
	require.Equal(t, 99, now(func(s *snapshot.Source) { s.File = "other.go" }, false).Source.Line)
	require.Equal(t, 99, now(func(s *snapshot.Source) { s.Function = "Other" }, false).Source.Line)
	require.Equal(t, "new", now(same, false).Source.Provenance.RunID)
	kept := now(same, true)
	require.Equal(t, "old", kept.Source.Provenance.RunID)
	require.Equal(t, was.Response, kept.Response)
	require.Equal(t, was.Timestamp, kept.Timestamp)
	was.Source.Provenance = snapshot.Provenance{}
	require.Equal(t, "new", now(same, true).Source.Provenance.RunID)
}
