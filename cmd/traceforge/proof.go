package main

import (
	"runtime"
	"sync"

	"github.com/traceforge/traceforge-go/internal/lint"
	"github.com/traceforge/traceforge-go/internal/recorder"
	"github.com/traceforge/traceforge-go/internal/store"
	"github.com/traceforge/traceforge-go/internal/store/audit"
	"github.com/traceforge/traceforge-go/snapshot"
)

// proven asks of a store that its files are whole, its records say what they serve, and its calls are deterministic, unless the
// store gives a reason. It asks more checks besides. It verifies the documents that files belong to; nil means the whole store.
func proven(s *store.Store, files []string, more ...store.Check) (result *audit.Result, err error) {
	var notes []snapshot.Finding
	note := looking(func(d *store.Doc) {
		for _, n := range lint.Notes(d) {
			notes = append(notes, snapshot.Finding{File: d.File(), Pointer: n.Pointer, Rule: n.Rule, Message: n.Message})
		}
	})
	config, checks, err := checksOf(s)
	if err == nil { // else verify tells of it
		standing, err := recorder.Standing(config)
		if err != nil {
			return nil, err
		}
		if standing != nil { // there are rules that records have to stand as
			checks = append(checks, standing)
		}
	}
	// Nearly all that verify allocates is of one document, and gone with it. With memory that nothing touches, and which
	// so takes none, the collector runs a quarter as often, for 16 MB more.
	ballast := make([]byte, 16<<20)
	checks = append(append(checks, note), more...)
	if files == nil {
		result, err = audit.Verify(s, checks...)
	} else {
		result, err = audit.VerifyFiles(s, files, checks...)
	}
	runtime.KeepAlive(ballast)
	if err != nil {
		return nil, err
	}
	result.Notes = append(result.Notes, notes...)
	return result, nil
}

// looking returns a check that finds nothing wrong: it has look look at one document after the other.
func looking(look func(d *store.Doc)) store.Check {
	var mu sync.Mutex
	return func(d *store.Doc) []snapshot.Violation {
		mu.Lock()
		defer mu.Unlock()
		look(d)
		return nil
	}
}

// checksOf returns the configuration of a store, and the checks of its documents beyond those of Verify. A document must
// say what it serves, and its calls be deterministic, unless the store gives a reason.
func checksOf(s *store.Store) (*store.Config, []store.Check, error) {
	checks := []store.Check{recorder.Proven}
	config, err := s.Config()
	if err == nil {
		checks = append(checks, recorder.Read(config.Readings))
	}
	if err != nil || config.Nondeterministic == "" {
		checks = append(checks, lint.Deterministic)
	}
	return config, checks, err
}
