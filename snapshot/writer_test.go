package snapshot_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/snapshot"
)

// TestWriteRefuses checks that nothing is written that a reader would refuse, also of records that were appended before.
func TestWriteRefuses(t *testing.T) {
	t.Parallel()
	records, _ := agent("Be brief.", 4)
	for _, c := range []struct {
		name, want string
		spoil      func(*snapshot.Snapshot)
	}{
		{"encoded", "must be valid UTF-8", func(s *snapshot.Snapshot) { s.Request.Model = "\xff" }},
		{"read", "must be from 0 to 2", func(s *snapshot.Snapshot) { s.Request.Temperature = number("7") }},
		{"twice", "is the id of another record too", func(s *snapshot.Snapshot) { s.ID = records[0].ID }},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := &snapshot.Document{Version: snapshot.Version, Snapshots: slices.Clone(records)}
			c.spoil(&d.Snapshots[3])
			_, err := d.Write(nil)
			require.ErrorContains(t, err, c.want)
			require.ErrorContains(t, err, "/snapshots/3/")
			require.Equal(t, c.name == "encoded", d.Seal() != nil)

			var w snapshot.Writer
			for _, s := range d.Snapshots[:3] {
				_, err := w.Append(s)
				require.NoError(t, err)
			}
			if _, appended := w.Append(d.Snapshots[3]); c.name == "encoded" {
				require.EqualError(t, appended, err.Error())
			}
			d.Snapshots[3] = records[3]
			got, err := d.Write(nil)
			require.NoError(t, err, "and goes on with what is right")
			require.Equal(t, string(encode(t, document(t, records...))), string(got))
		})
	}
}

// TestWriterAppend appends an agent's records one by one. Each must have only the new part of the conversation.
// Together they must read as the document.
func TestWriterAppend(t *testing.T) {
	records, _ := agent("Be brief.\nAlways.", 12)
	for i := range records {
		records[i].Continues = nil
		records[i].Source.Package, records[i].Source.Test = records[0].Source.Package, records[0].Source.Test
	}
	fresh := &snapshot.Document{Version: snapshot.Version, Snapshots: slices.Clone(records)}
	require.NoError(t, fresh.Seal())
	for _, together := range []int{1, 5, len(records)} {
		var w snapshot.Writer
		var lines [][]byte
		for _, s := range records[:together] {
			line, err := w.Append(s)
			require.NoError(t, err)
			lines = append(lines, slices.Clone(line))
			require.NotContains(t, string(line), "\n")
		}
		require.Equal(t, 1, strings.Count(string(slices.Concat(lines...)), "Be brief."))
		read, err := snapshot.ParseRecords(lines)
		require.NoError(t, err)
		for i := range read.Snapshots {
			require.Equal(t, fresh.Snapshots[i].Hash, read.Snapshots[i].Hash)
		}
		lines[together-1] = slices.Concat(lines[together-1][:40], lines[together-1][41:])
		_, err = snapshot.ParseRecords(lines)
		require.Error(t, err, "a byte is missing")
	}
	require.NoError(t, func() error { _, err := snapshot.ParseRecords(nil); return err }())
}
