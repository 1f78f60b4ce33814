package snapshot

import (
	"fmt"
	"maps"
	"slices"
	"time"
)

// MergeManifests merges two manifests, of which base is the common ancestor, as git's merge
// drivers do; base is empty where there was none. What both sides changed differently is
// [ErrConflict]. So is what no manifest tells: the time of the oldest or of the newest record,
// where one side took away the record that has it. Merged is then as near as can be known, and
// [Store.RebuildManifest] makes it right once the records' files are merged. Without an error
// it is what RebuildManifest would write. A text that is no manifest is an [*Error].
func MergeManifests(base, ours, theirs []byte) (merged []byte, err error) {
	var sides [3]*Manifest
	for i, text := range [][]byte{base, ours, theirs} {
		if sides[i] = (&Manifest{}); len(text) == 0 {
			continue
		}
		if sides[i], err = parseManifest(text); err != nil {
			return nil, fmt.Errorf("merge manifests: %s: %w", [...]string{"base", "ours", "theirs"}[i], err)
		}
	}
	entries, conflict := mergeEntries(sides[0], sides[1], sides[2])
	if len(entries) == 0 {
		return nil, fmt.Errorf("merge manifests: %w: no record is left", ErrConflict)
	}
	m := &Manifest{Version: Version, Snapshots: entries}
	var certain [2]bool
	m.CreatedAt, certain[0] = mergeTimes(sides[0].CreatedAt, sides[1].CreatedAt, sides[2].CreatedAt, time.Time.Before)
	m.UpdatedAt, certain[1] = mergeTimes(sides[0].UpdatedAt, sides[1].UpdatedAt, sides[2].UpdatedAt, time.Time.After)
	m.Hash = m.combinedHash()
	switch {
	case conflict != "":
		err = fmt.Errorf("merge manifests: %w: both sides changed %s", ErrConflict, conflict)
	case !certain[0] || !certain[1]:
		err = fmt.Errorf("merge manifests: %w: one side replaced or removed the oldest or the newest record", ErrConflict)
	}
	return m.encode(), err
}

// mergeEntries merges entries by file, and names a file that both sides changed differently, if
// there is one. Of such a file it takes ours.
func mergeEntries(base, ours, theirs *Manifest) (entries []Entry, conflict string) {
	b, o, t := byFile(base), byFile(ours), byFile(theirs)
	all := maps.Clone(b)
	maps.Copy(all, t)
	maps.Copy(all, o)
	for _, file := range slices.Sorted(maps.Keys(all)) {
		from := o
		switch was := b[file].Hash; {
		case o[file].Hash == was:
			from = t
		case t[file].Hash != was && t[file].Hash != o[file].Hash:
			conflict = file
		}
		if e, ok := from[file]; ok {
			entries = append(entries, e)
		}
	}
	return entries, conflict
}

func byFile(m *Manifest) map[string]Entry {
	entries := make(map[string]Entry, len(m.Snapshots))
	for _, e := range m.Snapshots {
		entries[e.File] = e
	}
	return entries
}

// mergeTimes returns the first of two times in an order, and whether the record that has it is
// certainly in the merge: if it is new on its side, or if both sides have it.
func mergeTimes(base, ours, theirs time.Time, before func(a, b time.Time) bool) (first time.Time, certain bool) {
	first = ours
	if first.IsZero() || !theirs.IsZero() && before(theirs, ours) {
		first = theirs
	}
	return first, ours.Equal(theirs) || base.IsZero() || before(first, base)
}
