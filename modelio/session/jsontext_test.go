//go:build goexperiment.jsonv2

package session_test

import (
	"encoding/json/jsontext"
	"errors"
	"io"
)

// readTokens reads all tokens of a JSON text.
var readTokens = func(r io.Reader) error {
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
