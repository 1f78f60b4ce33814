package main

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"github.com/traceforge/traceforge-go/snapshot"
)

// A record is a snapshot and where it is kept.
type record struct {
	provider string
	snapshot *snapshot.Snapshot
}

// testRecords returns the records of the tests of the given name, in whatever package, and of their
// subtests: by package and test, and in the order of calls. It may return both records and an
// error, for what could not be read.
func testRecords(store *snapshot.Store, test string) ([]record, error) {
	var candidates []snapshot.Entry
	for e, err := range store.All() {
		if err != nil {
			return nil, err
		}
		if strings.HasPrefix(e.ID, idBeginning(test)) {
			candidates = append(candidates, e)
		}
	}
	records, err := load(store, candidates)
	records = slices.DeleteFunc(records, func(r record) bool {
		name := r.snapshot.Source.Test
		return name != test && !strings.HasPrefix(name, test+"/")
	})
	slices.SortStableFunc(records, func(a, b record) int {
		s, t := &a.snapshot.Source, &b.snapshot.Source
		return cmp.Or(cmp.Compare(s.Package, t.Package), cmp.Compare(s.Test, t.Test), cmp.Compare(s.Ordinal, t.Ordinal))
	})
	return records, err
}

// idBeginning returns what the ids of a test's snapshots, and of its subtests', begin with, as
// far as the letters and digits that the test's name begins with tell.
func idBeginning(test string) string {
	const kept = 31 // characters of a long name that an id keeps, see snapshot.ID
	end := strings.IndexFunc(test, func(r rune) bool {
		return (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	})
	if end < 0 {
		end = len(test)
	}
	return strings.ToLower(test[:min(end, kept)])
}

func load(store *snapshot.Store, entries []snapshot.Entry) (records []record, err error) {
	for _, e := range entries {
		sealed, loadErr := store.Load(e)
		if loadErr == nil {
			var s *snapshot.Snapshot
			if s, loadErr = sealed.Snapshot(); loadErr == nil {
				records = append(records, record{e.Provider, s})
			}
		}
		err = errors.Join(err, loadErr)
	}
	return records, err
}

// origins returns where each record was made. What cannot be read is for others to say.
func origins(store *snapshot.Store) ([]snapshot.Source, error) {
	var origins []snapshot.Source
	for e, err := range store.All() {
		if err != nil {
			return nil, err
		}
		if loaded, err := load(store, []snapshot.Entry{e}); err == nil {
			origins = append(origins, loaded[0].snapshot.Source)
		}
	}
	return origins, nil
}
