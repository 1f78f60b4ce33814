package provider

import "github.com/traceforge/traceforge-go/modelio"

// Encoders are those of package encoder, by API. It imports this package, so encoder_test.go, which is in a package
// of its own, sets them.
var Encoders map[string]func(*modelio.Request) ([]byte, error)
