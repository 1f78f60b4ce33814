//go:build goexperiment.jsonv2

package canon

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/internal/tbtest/mutation"
	"github.com/traceforge/traceforge-go/internal/tbtest/stdjson"
)

// FuzzJSONText compares with the standard library's canonicalizer, before Go 1.27 an experiment:
// GOEXPERIMENT=jsonv2 go test ./canon. Where JSON gives a text, jsontext gives the same. Where
// only jsontext gives one, it has rounded an integer, clamped a number that is out of range, or
// gone deeper than we do.
func FuzzJSONText(t *testing.F) {
	f := mutation.New(t)
	seed(f)
	f.Fuzz(func(t *testing.T, src []byte) {
		oracle, oracleErr := stdjson.Canonical(src)
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
