package store

import "github.com/traceforge/traceforge-go/snapshot"

// Audit is package audit, which imports this one: its tests' own file sets it.
var Audit struct {
	Verify        func(s *Store, checks ...Check) (*Verified, error)
	Prune         func(s *Store) ([]string, error)
	Repair        func(s *Store, theirs ...string) (*Repaired, error)
	WriteManifest func(s *Store) error
}

// Verified is an audit.Result.
type Verified struct {
	Findings, Notes  []snapshot.Finding
	Documents, Calls int
}

// Repaired is what these tests look at in an audit.Report.
type Repaired struct {
	Commit string
	Left   []snapshot.Finding
	Text   string
}
