package snapshot_test

import (
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/snapshot"
)

func TestMergeManifests(t *testing.T) {
	// A side is the days at which its records were recorded, by test.
	type side map[string]int
	manifest := func(t *testing.T, s side) []byte {
		if len(s) == 0 {
			return nil
		}
		store, dir := newStore(t)
		var c snapshot.Change
		for test, day := range s {
			r := record(test, 1)
			r.Timestamp = time.Date(2026, 1, day, 0, 0, 0, 0, time.UTC)
			r.Response.RawOutputRef = ""
			c.Put = append(c.Put, snapshot.Record{Provider: "openai", Snapshot: r})
		}
		require.NoError(t, store.Commit(c))
		return readFile(t, dir, "manifest.json")
	}
	base := side{"TestA": 2, "TestB": 3, "TestC": 4}
	for _, tt := range []struct {
		name, why          string
		base, ours, theirs side
		want               side
		conflict           string
	}{
		{"added", "each side recorded tests of its own", base,
			side{"TestA": 2, "TestB": 3, "TestC": 4, "TestD": 5}, side{"TestA": 2, "TestB": 3, "TestC": 4, "TestE": 6},
			side{"TestA": 2, "TestB": 3, "TestC": 4, "TestD": 5, "TestE": 6}, ""},
		{"older", "one side's are older, as after a rebase", base,
			side{"TestA": 2, "TestB": 3, "TestC": 4, "TestD": 1}, side{"TestA": 2, "TestB": 3, "TestC": 4, "TestE": 6},
			side{"TestA": 2, "TestB": 3, "TestC": 4, "TestD": 1, "TestE": 6}, ""},
		{"same", "both sides recorded the same", base,
			side{"TestA": 2, "TestB": 3, "TestC": 7}, side{"TestA": 2, "TestB": 3, "TestC": 7},
			side{"TestA": 2, "TestB": 3, "TestC": 7}, ""},
		{"changed_and_removed", "of different records", base,
			side{"TestA": 2, "TestC": 4}, side{"TestA": 2, "TestB": 3, "TestC": 5},
			side{"TestA": 2, "TestC": 5}, ""},
		{"removed_theirs", "and the other way round", base,
			side{"TestA": 2, "TestB": 3, "TestC": 5}, side{"TestA": 2, "TestC": 4},
			side{"TestA": 2, "TestC": 5}, ""},
		{"no_base", "two histories without a common store", nil,
			side{"TestA": 2}, side{"TestB": 1}, side{"TestA": 2, "TestB": 1}, ""},
		{"one_side", "theirs is the first", nil, nil, side{"TestB": 1}, side{"TestB": 1}, ""},
		{"both_changed", "the file of the record is in conflict too", base,
			side{"TestA": 2, "TestB": 5, "TestC": 4}, side{"TestA": 2, "TestB": 6, "TestC": 4},
			nil, "both sides changed openai/testb-1-"},
		{"changed_removed", "one side removed what the other changed", base,
			side{"TestA": 2, "TestC": 4}, side{"TestA": 2, "TestB": 6, "TestC": 4},
			nil, "both sides changed openai/testb-1-"},
		{"oldest_replaced", "which record is the oldest now, manifests do not tell", base,
			side{"TestA": 7, "TestB": 3, "TestC": 4}, side{"TestA": 2, "TestB": 3, "TestC": 4, "TestE": 6},
			nil, "one side replaced or removed the oldest or the newest record"},
		{"newest_removed", "nor the newest", base,
			side{"TestA": 2, "TestB": 3}, side{"TestA": 2, "TestC": 4},
			nil, "one side replaced or removed the oldest or the newest record"},
		{"nothing_left", "a store without records has no manifest", side{"TestA": 1, "TestB": 2},
			side{"TestA": 1}, side{"TestB": 2}, nil, "no record is left"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			merged, err := snapshot.MergeManifests(manifest(t, tt.base), manifest(t, tt.ours), manifest(t, tt.theirs))
			if tt.conflict != "" {
				require.ErrorIs(t, err, snapshot.ErrConflict, tt.why)
				require.ErrorContains(t, err, tt.conflict)
				return
			}
			require.NoError(t, err, tt.why)
			require.Equal(t, string(manifest(t, tt.want)), string(merged), tt.why)
		})
	}
	_, err := snapshot.MergeManifests(nil, manifest(t, base), []byte("<<<<<<< ours\n"))
	require.ErrorContains(t, err, "theirs: conflict: line 1 is a conflict marker of a merge")
	require.ErrorAs(t, err, new(*snapshot.Error))
}

func ExampleMergeManifests() {
	manifestOf := func(test string) []byte {
		dir, err := os.MkdirTemp("", "")
		if err != nil {
			log.Fatal(err)
		}
		defer os.RemoveAll(dir)
		store, err := snapshot.Open(dir)
		if err != nil {
			log.Fatal(err)
		}
		defer store.Close()
		snap := greeting()
		snap.ID, snap.Source.Test = snapshot.ID("example.com/agents", test, 1), test
		if err := store.Put("openai", snap); err != nil {
			log.Fatal(err)
		}
		manifest, err := os.ReadFile(filepath.Join(dir, "manifest.json"))
		if err != nil {
			log.Fatal(err)
		}
		return manifest
	}
	ours, theirs := manifestOf("TestGreet"), manifestOf("TestPart")
	merged, err := snapshot.MergeManifests(nil, ours, theirs)
	fmt.Println(strings.Count(string(merged), `"id"`), err)
	// Output: 2 <nil>
}
