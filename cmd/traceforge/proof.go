package main

import (
	"sync"

	"github.com/traceforge/traceforge-go/internal/recorder"
	"github.com/traceforge/traceforge-go/snapshot"
	"github.com/traceforge/traceforge-go/snapshot/store"
)

// proven verifies a store: that its files are whole, that its records say what they serve, and that
// calls are deterministic, unless the store says once why none needs to be.
func proven(s *store.Store) (*store.Result, error) {
	var mu sync.Mutex
	var notes []snapshot.Finding
	note := func(d *store.Doc) []snapshot.Violation {
		mu.Lock()
		defer mu.Unlock()
		for _, n := range recorder.Notes(d) {
			notes = append(notes, snapshot.Finding{File: d.File(), Pointer: n.Pointer, Rule: n.Rule, Message: n.Message})
		}
		return nil
	}
	checks := []store.Check{recorder.Proven, note}
	if config, err := s.Config(); err != nil || config.Nondeterministic == "" { // Verify tells of err
		checks = append(checks, recorder.Deterministic)
	}
	result, err := s.Verify(checks...)
	if err != nil {
		return nil, err
	}
	result.Notes = append(result.Notes, notes...)
	return result, nil
}
