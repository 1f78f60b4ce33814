package recorder

import "github.com/traceforge/traceforge-go/internal/store"

// Lint is package lint, which imports this one: its tests' own file sets it.
var Lint struct{ Deterministic, Notes store.Check }
