//go:build go1.27 && goexperiment.jsonv2

// A file whose constraint implies Go 1.27 may use its standard library in a module with go 1.25. A constraint with
// "go1.27 ||" implies no version.

package stdjson

import (
	"bytes"
	"encoding/json/jsontext"
	"errors"
	"io"
)

// Canonical returns the canonical form of a JSON text.
func Canonical(src []byte) ([]byte, error) {
	v := jsontext.Value(bytes.Clone(src))
	err := v.Canonicalize()
	return v, err
}

// ReadTokens reads all tokens of a JSON text.
func ReadTokens(r io.Reader) error {
	decoder := jsontext.NewDecoder(r)
	for {
		if _, err := decoder.ReadToken(); err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
	}
}
