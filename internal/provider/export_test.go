package provider

import "github.com/traceforge/traceforge-go/modelio"

// Encoders are the functions of package encoder, by API. Package encoder imports this one, so encoder_test.go sets them
// from an external test package.
var Encoders map[string]func(*modelio.Request) []byte
