package main

import (
	"fmt"

	"github.com/traceforge/traceforge-go/internal/lint"
	"github.com/traceforge/traceforge-go/snapshot"
)

// configFile is what findings about it are of.
const configFile = "config.json"

// lint tells of the store's traffic, and of what config.json says wrongly about the rules.
func (v *verification) lint(c *call, l *lint.Linter) {
	v.Lint = l.Findings()
	c.secrets.Hide(&v.Lint)
	for _, wrong := range l.Wrong() {
		found := snapshot.Finding{File: configFile, Pointer: wrong.Pointer, Rule: wrong.Rule, Message: wrong.Message}
		v.Findings = append(v.Findings, found)
	}
}

// silence says how to silence what was found first.
func silence(found []lint.Finding) string {
	return fmt.Sprintf(`to silence a rule, say why in %s: "lint": {"silence": [{"rule": %q, "why": "…"}]}`,
		configFile, found[0].Rule)
}
