package store

import "github.com/traceforge/traceforge-go/snapshot"

// Audit has functions of package audit, which imports this package. A test file of package audit sets them.
var Audit struct {
	Verify        func(s *Store, checks ...Check) (*Verified, error)
	Prune         func(s *Store) ([]string, error)
	Repair        func(s *Store, theirs ...string) (*Repaired, error)
	WriteManifest func(s *Store) error

	Accept         func(s *Store, ids []string, checks ...Check) ([]Accepted, error)
	Reject         func(s *Store, ids ...string) error
	DiscardDoubted func(s *Store) error
}

// Verified is the part of an audit.Result that these tests need.
type Verified struct {
	Findings, Notes  []snapshot.Finding
	Documents, Calls int
}

// Accepted is the part of an audit.AcceptedRecord that these tests need.
type Accepted struct{ ID, As string }

// Repaired is the part of an audit.Report that these tests need.
type Repaired struct {
	Commit string
	Left   []snapshot.Finding
	Text   string
}
