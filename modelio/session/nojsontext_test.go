//go:build !goexperiment.jsonv2

package session_test

import "io"

// readTokens is nil: a toolchain before Go 1.27 has encoding/json/jsontext only with GOEXPERIMENT=jsonv2.
var readTokens func(io.Reader) error
