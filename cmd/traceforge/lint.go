package main

import (
	"fmt"

	"github.com/traceforge/traceforge-go/internal/lint"
	"github.com/traceforge/traceforge-go/internal/store"
	"github.com/traceforge/traceforge-go/snapshot"
)

// configFile is what findings about it are of.
const configFile = "config.json"

// A storeLint asks of a store's traffic what verify --lint does. nil: nobody wants to know.
type storeLint struct{ linter *lint.Linter }

func lintingOf(c *call, s *store.Store) *storeLint {
	if !c.is("lint") {
		return nil
	}
	config, err := s.Config()
	if err != nil { // verify tells of it
		config = &store.Config{}
	}
	return &storeLint{lint.New(config)}
}

// look is a [store.Check] that finds nothing wrong.
func (l *storeLint) look(d *store.Doc) []snapshot.Violation {
	if l == nil {
		return nil
	}
	return l.linter.Check(d)
}

// held returns what was found of the traffic, and what config.json says wrongly about the rules.
func (l *storeLint) held(c *call) (found []lint.Finding, wrong []snapshot.Finding) {
	if l == nil {
		return nil, nil
	}
	found = l.linter.Findings()
	for i := range found {
		f := &found[i]
		f.Message = c.secrets.Mask(f.Message)
		for j := range f.Places {
			f.Places[j].Message = c.secrets.Mask(f.Places[j].Message)
		}
	}
	for _, v := range l.linter.Wrong() {
		wrong = append(wrong, snapshot.Finding{File: configFile, Pointer: v.Pointer, Rule: v.Rule, Message: v.Message})
	}
	return found, wrong
}

// silence says how to silence what was found first.
func silence(found []lint.Finding) string {
	return fmt.Sprintf(`to silence a rule, say why in %s: "lint": {"silence": [{"rule": %q, "why": "…"}]}`,
		configFile, found[0].Rule)
}
