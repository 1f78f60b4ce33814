//go:build goexperiment.jsonv2

package session_test

import "github.com/traceforge/traceforge-go/internal/tbtest/stdjson"

// readTokens reads all tokens of a JSON text.
var readTokens = stdjson.ReadTokens
