//go:build !goexperiment.jsonv2

package session_test

import "io"

// readTokens is nil: GOEXPERIMENT=jsonv2 makes a toolchain have encoding/json/jsontext.
var readTokens func(io.Reader) error
