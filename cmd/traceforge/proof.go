package main

import (
	"cmp"
	"runtime"
	"slices"
	"sync"

	"github.com/traceforge/traceforge-go/internal/lint"
	"github.com/traceforge/traceforge-go/internal/page"
	"github.com/traceforge/traceforge-go/internal/recorder"
	"github.com/traceforge/traceforge-go/internal/store"
	"github.com/traceforge/traceforge-go/internal/store/audit"
	"github.com/traceforge/traceforge-go/snapshot"
)

// proven checks that the files of a store are intact and its records match what they serve. Its calls must be
// deterministic, unless the store gives a reason. It also runs the additional checks. It verifies the documents that
// files belong to; nil means the complete store.
func proven(s *store.Store, files []string, more ...store.Check) (result *audit.Result, err error) {
	var notes []snapshot.Finding
	note := looking(func(d *store.Doc) {
		for _, n := range lint.Notes(d) {
			notes = append(notes, snapshot.Finding{File: d.File(), Pointer: n.Pointer, Rule: n.Rule, Message: n.Message})
		}
	})
	config, checks, _ := checksOf(s) // verify reports faults of config.json
	stands, err := standing(config)
	if err != nil {
		return nil, err
	}
	// Nearly everything that verify allocates belongs to one document and is released with it. This unused memory,
	// which takes up no pages, makes the collector run a quarter as often, at the cost of a heap that is 16 MB larger.
	ballast := make([]byte, 16<<20)
	checks = slices.Concat(checks, stands, []store.Check{note}, more)
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

// standing returns the [store.Check] that a configuration's rules would write the records as they are. Without rules it
// returns none, since the check has to read each raw answer.
func standing(config *store.Config) ([]store.Check, error) {
	if len(config.Scrub) == 0 {
		return nil, nil
	}
	all, err := recorder.RulesOf(config.Scrub)
	if err != nil {
		return nil, err
	}
	return []store.Check{func(d *store.Doc) (wrong []snapshot.Violation) {
		hiding := recorder.Hiding(d, all)
		for i := range d.Document.Snapshots {
			body, _ := d.Raw(i) // if it is missing, another rule finds that
			if names := hiding(i, body); names != nil {
				source := d.Document.Snapshots[i].Source
				again := cmp.Or(recordAgain(page.Test{Package: source.Package, Name: source.Test}, source.Function),
					"run it with --update")
				message := recorder.RuleNames(names) + " of config.json hides text of it now, " +
					recorder.OtherRules + ": " + again + " (no call is made)"
				wrong = append(wrong, recorder.ViolationAt(i, snapshot.RuleRules, message))
			}
		}
		return wrong
	}}, nil
}

// looking returns a check that reports nothing: it only calls look for each document in turn.
func looking(look func(d *store.Doc)) store.Check {
	var mu sync.Mutex
	return func(d *store.Doc) []snapshot.Violation {
		mu.Lock()
		defer mu.Unlock()
		look(d)
		return nil
	}
}

// checksOf returns the configuration of a store, and the checks of its documents beyond those of Verify. A document
// must match what it serves, and its calls must be deterministic unless the store gives a reason.
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
