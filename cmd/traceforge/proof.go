package main

import (
	"runtime"
	"sync"

	"github.com/traceforge/traceforge-go/internal/recorder"
	"github.com/traceforge/traceforge-go/internal/store"
	"github.com/traceforge/traceforge-go/internal/store/audit"
	"github.com/traceforge/traceforge-go/snapshot"
)

// proven verifies a store: its files are whole, its records say what they serve, and its calls are deterministic,
// unless the store gives a reason. It asks more checks besides.
func proven(s *store.Store, more ...store.Check) (*audit.Result, error) {
	return provenBy(s, audit.Verify, more)
}

// provenBy is proven for who verifies in another way than [audit.Verify].
func provenBy(s *store.Store, verify func(*store.Store, ...store.Check) (*audit.Result, error), more []store.Check) (*audit.Result, error) {
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
	checks, err := checksOf(s)
	if err != nil {
		checks = []store.Check{recorder.Proven, recorder.Deterministic} // Verify tells of err
	} else if standing, err := standingOf(s); err != nil {
		return nil, err
	} else if standing != nil {
		checks = append(checks, standing)
	}
	// Nearly all that verify allocates is of one document, and gone with it. With memory that nothing touches, and which
	// so takes none, the collector runs a quarter as often, for 16 MB more.
	ballast := make([]byte, 16<<20)
	result, err := verify(s, append(append(checks, note), more...)...)
	runtime.KeepAlive(ballast)
	if err != nil {
		return nil, err
	}
	result.Notes = append(result.Notes, notes...)
	return result, nil
}

// standingOf returns the check that records stand as the rules of config.json would have them; nil means there are none.
func standingOf(s *store.Store) (store.Check, error) {
	config, err := s.Config()
	if err != nil {
		return nil, err
	}
	return recorder.Standing(config)
}

// checksOf returns the checks of a store's documents beyond those of Verify. A document must say what it serves, and
// its calls be deterministic, unless the store gives a reason.
func checksOf(s *store.Store) ([]store.Check, error) {
	checks := []store.Check{recorder.Proven}
	config, err := s.Config()
	if err == nil {
		checks = append(checks, recorder.Read(config.Readings))
	}
	if err == nil && config.Nondeterministic == "" {
		checks = append(checks, recorder.Deterministic)
	}
	return checks, err
}
