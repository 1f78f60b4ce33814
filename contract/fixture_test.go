package contract_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"
)

// blank returns a pointer to a zero value of v's type.
func blank(v any) any { return reflect.New(reflect.TypeOf(v)).Interface() }

// deref returns the value behind a pointer.
func deref(pointer any) any { return reflect.ValueOf(pointer).Elem().Interface() }

// withoutNulls drops null members on all levels, except in lists.
func withoutNulls(t *testing.T, text []byte) []byte {
	t.Helper()
	var members map[string]json.RawMessage
	require.NoError(t, json.Unmarshal(text, &members))
	for name, value := range members {
		switch {
		case string(value) == "null":
			delete(members, name)
		case bytes.HasPrefix(value, []byte("{")):
			members[name] = withoutNulls(t, value)
		}
	}
	less, err := json.Marshal(members)
	require.NoError(t, err)
	return less
}
