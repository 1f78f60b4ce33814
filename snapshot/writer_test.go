package snapshot_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/tbtest"
	"github.com/traceforge/traceforge-go/snapshot"
)

// TestWriter edits documents in many ways. A Writer that wrote the former version must write the same as a new Writer.
func TestWriter(t *testing.T) {
	t.Parallel()
	for seed := range uint64(tbtest.Sampled(10, 40)) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(seed, 1))
			first, _ := agent("Be brief.\nAlways.", 8)
			other, _ := agent("Be long.", 4)
			for i := range other {
				other[i].ID = snapshot.ID("example-com-shop-testagent-3cfacb63af18", 20+i)
			}
			name, _, _ := snapshot.ParseID(first[0].ID)
			left := slices.Concat(first, other)
			for i := range left {
				left[i].ID, left[i].Continues = snapshot.ID(name, i+1), nil
				left[i].Source.Package, left[i].Source.Test = left[0].Source.Package, left[0].Source.Test
			}
			var w snapshot.Writer
			var records []snapshot.Snapshot
			for step := range 30 {
				at := func() int { return random.IntN(len(records)) }
				switch what := random.IntN(8); {
				case len(records) == 0, what < 3 && len(left) > 0:
					records, left = append(records, left[0]), left[1:]
				case what == 3:
					i := at()
					left, records = append(left, records[i]), slices.Delete(slices.Clone(records), i, i+1)
				case what == 4:
					i, j := at(), at()
					records[i], records[j] = records[j], records[i]
				case what == 5:
					i := at()
					records[i].Response.LatencyMS++
				case what == 6:
					i := at()
					records[i].ID = snapshot.ID(name, 100+step)
				case len(left) > 0:
					records, left = slices.Insert(records, at(), left[0]), left[1:]
				}
				var checked *snapshot.Document
				check := func(read *snapshot.Document) error { checked = read; return nil }
				if step%2 == 0 {
					check = nil
				}
				fresh := &snapshot.Document{Version: snapshot.Version, Snapshots: slices.Clone(records)}
				again := &snapshot.Document{Version: snapshot.Version, Snapshots: slices.Clone(records)}
				want, wrong := fresh.Write(nil)
				got, err := w.Write(again, check)
				require.Equal(t, wrong, err)
				if len(records) == 0 {
					require.EqualError(t, err, "/snapshots: value: must have at least one record")
					continue
				}
				require.NoError(t, err)
				require.Equal(t, string(want), string(got), "step %d", step)
				require.Equal(t, fresh, again)
				if check != nil {
					require.Len(t, checked.Snapshots, len(records))
				}
			}
		})
	}
}

// TestWriterRefuses checks that a Writer refuses everything that a reader would refuse, even if it has written the rest
// before.
func TestWriterRefuses(t *testing.T) {
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
			var w snapshot.Writer
			write := func(records ...snapshot.Snapshot) ([]byte, error) {
				return w.Write(&snapshot.Document{Version: snapshot.Version, Snapshots: slices.Clone(records)}, nil)
			}
			_, err := write(records[:3]...)
			require.NoError(t, err)
			spoiled := records[3]
			c.spoil(&spoiled)
			_, err = write(append(slices.Clone(records[:3]), spoiled)...)
			require.ErrorContains(t, err, c.want)
			require.ErrorContains(t, err, "/snapshots/3/")
			_, want := (&snapshot.Document{Version: snapshot.Version,
				Snapshots: append(slices.Clone(records[:3]), spoiled)}).Write(nil)
			require.EqualError(t, err, want.Error())
			got, err := write(records...)
			require.NoError(t, err, "and goes on with what is right")
			require.Equal(t, string(encode(t, document(t, records...))), string(got))
		})
	}
}

// TestWriterAppend appends an agent's records one by one. Each must have only the new part of the conversation.
// Together they must read as the document, and the document written from them must equal that of a new Writer.
func TestWriterAppend(t *testing.T) {
	records, _ := agent("Be brief.\nAlways.", 12)
	for i := range records {
		records[i].Continues = nil
		records[i].Source.Package, records[i].Source.Test = records[0].Source.Package, records[0].Source.Test
	}
	fresh := &snapshot.Document{Version: snapshot.Version, Snapshots: slices.Clone(records)}
	want, err := fresh.Write(nil)
	require.NoError(t, err)
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

		d := &snapshot.Document{Version: snapshot.Version, Snapshots: slices.Clone(records)}
		got, err := w.Write(d, nil)
		require.NoError(t, err)
		require.Equal(t, string(want), string(got))
		again, err := w.Write(d, nil)
		require.NoError(t, err)
		require.Equal(t, string(want), string(again))
	}
	require.NoError(t, func() error { _, err := snapshot.ParseRecords(nil); return err }())
}
