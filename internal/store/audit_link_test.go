package store_test

import (
	"github.com/traceforge/traceforge-go/internal/store"
	"github.com/traceforge/traceforge-go/internal/store/audit"
)

func init() {
	store.Audit.Prune, store.Audit.WriteManifest = audit.Prune, audit.WriteManifest
	store.Audit.Reject, store.Audit.DiscardDoubted = audit.Reject, audit.DiscardDoubted
	store.Audit.Accept = func(s *store.Store, ids []string, checks ...store.Check) (all []store.Accepted, err error) {
		accepted, err := audit.Accept(s, ids, checks...)
		for _, a := range accepted {
			all = append(all, store.Accepted(a))
		}
		return all, err
	}
	store.Audit.Verify = func(s *store.Store, checks ...store.Check) (*store.Verified, error) {
		result, err := audit.Verify(s, checks...)
		if err != nil {
			return nil, err
		}
		return &store.Verified{Findings: result.Findings, Notes: result.Notes, Documents: result.Documents, Calls: result.Calls}, nil
	}
	store.Audit.Repair = func(s *store.Store, theirs ...string) (*store.Repaired, error) {
		report, err := audit.Repair(s, theirs...)
		if err != nil {
			return nil, err
		}
		return &store.Repaired{Commit: report.Commit, Left: report.Left, Text: report.String()}, nil
	}
}
