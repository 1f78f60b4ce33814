package contract_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/canon"
	"github.com/traceforge/traceforge-go/contract"
	"github.com/traceforge/traceforge-go/internal/tbtest/mutation"
)

// FuzzGenerateParams proves that valid params are written as equal params, that their hash does not depend on the
// spelling, and that nothing else is read.
func FuzzGenerateParams(t *testing.F) {
	f := mutation.New(t)
	for _, shape := range shapes {
		f.Add([]byte(shape.text))
	}
	f.Add([]byte(`{"provider":"p","model":"m","message_refs":["` + string(ref("a")) + `"],"runtime":{"metadata":{"é":"\ud83d\ude00"},"temperature":"1e5"}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var params contract.GenerateParams
		if err := json.Unmarshal(data, &params); err != nil {
			require.Zero(t, params)
			return
		}
		text, err := json.Marshal(params)
		require.NoError(t, err)
		var again contract.GenerateParams
		require.NoError(t, json.Unmarshal(text, &again))
		require.Equal(t, params, again)

		hash, err := params.Hash()
		require.NoError(t, err)
		canonical, err := canon.JSON(data)
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(canonical, &again))
		same, err := again.Hash()
		require.NoError(t, err)
		require.Equal(t, hash, same)
	})
}
