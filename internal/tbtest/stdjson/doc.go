// Package stdjson is encoding/json/jsontext as tests compare with it: in the standard library from Go 1.27 on, and before
// that with GOEXPERIMENT=jsonv2. Files with the tag goexperiment.jsonv2 may import it; elsewhere it is empty.
package stdjson
