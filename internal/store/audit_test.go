package store

import "github.com/traceforge/traceforge-go/snapshot"

// Audit is package audit, which imports this one: its tests' own file sets it.
var Audit struct {
	Verify        func(s *Store, checks ...Check) (*Verified, error)
	Prune         func(s *Store) ([]string, error)
	Repair        func(s *Store, theirs ...string) (*Repaired, error)
	WriteManifest func(s *Store) error

	Accept         func(s *Store, ids []string, checks ...Check) ([]Accepted, error)
	Reject         func(s *Store, ids ...string) error
	DiscardDoubted func(s *Store) error
}

// Verified is an audit.Result.
type Verified struct {
	Findings, Notes  []snapshot.Finding
	Documents, Calls int
}

// Accepted is an audit.Accepted.
type Accepted struct{ ID, As string }

// Repaired is what these tests look at in an audit.Report.
type Repaired struct {
	Commit string
	Left   []snapshot.Finding
	Text   string
}
