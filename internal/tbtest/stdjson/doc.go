// Package stdjson wraps encoding/json/jsontext for comparison in tests: from the standard library since Go 1.27, and
// before that with GOEXPERIMENT=jsonv2. Files with the tag goexperiment.jsonv2 may import it; otherwise it is empty.
package stdjson
