//go:build goexperiment.jsonv2

package canon

import (
	"encoding/json/jsontext"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
)

// FuzzJSONText compares with the other canonicalizer of Go, which is an experiment of the
// standard library: GOEXPERIMENT=jsonv2 go test ./canon. Where JSON gives a text, jsontext gives the same. Where
// only jsontext gives one, it has rounded an integer, clamped a number that is out of range, or
// gone deeper than we do.
func FuzzJSONText(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, src []byte) {
		oracle := jsontext.Value(append([]byte(nil), src...))
		oracleErr := oracle.Canonicalize()
		got, err := JSON(src)
		switch {
		case err == nil:
			require.NoError(t, oracleErr)
			require.Equal(t, string(oracle), string(got))
		case oracleErr == nil:
			require.True(t, errors.Is(err, ErrNumber) || errors.Is(err, ErrDepth), "jsontext takes what we reject: %v", err)
		}
	})
}
