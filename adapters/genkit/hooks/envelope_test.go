package genkithooks

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/firebase/genkit/go/ai"
	"github.com/stretchr/testify/require"
)

// TestInputOf holds what is recorded of a call that is resumed: what it is resumed with, and no other call's.
func TestInputOf(t *testing.T) {
	const others = `{"metadata": {"resumed": "nobody's"}},
		{"toolRequest": {"name": "weather", "ref": "2"}, "metadata": {"resumed": "another's"}},
		{"toolRequest": {"name": "bank", "ref": "1"}, "metadata": {"resumed": "another's"}}`
	const own = others + `, {"toolRequest": {"name": "weather", "ref": "1"}, "metadata": `
	for _, tc := range []struct{ name, resume, want string }{
		{"not resumed", `null`, `{"city":"Oslo"}`},
		{"others", `{"restart": [` + others + `]}`, `{"city":"Oslo"}`},
		{"resumed", `{"restart": [` + own + `{"resumed": true}}]}`, `{"$genkit":{"input":{"city":"Oslo"},"resumed":true}}`},
		{"replaced", `{"restart": [` + own + `{"replacedInput": "Rome"}}]}`, `{"$genkit":{"input":{"city":"Oslo"},"replacedInput":"Rome"}}`},
	} {
		g := &generation{options: &ai.GenerateActionOptions{}}
		require.NoError(t, json.Unmarshal([]byte(tc.resume), &g.options.Resume), tc.name)
		input, err := g.inputOf(&ai.ToolRequest{Name: "weather", Ref: "1", Input: map[string]any{"city": "Oslo"}})
		require.NoError(t, err)
		require.JSONEq(t, tc.want, string(input), tc.name)
	}
	_, err := (&generation{options: &ai.GenerateActionOptions{}}).inputOf(&ai.ToolRequest{Input: func() {}})
	require.Error(t, err, "an input is JSON")
}

// TestOutputOf holds what is recorded where a tool returns nothing, or interrupts without saying why.
func TestOutputOf(t *testing.T) {
	output, err := outputOf(nil, nil)
	require.NoError(t, err)
	require.Equal(t, "null", string(output))
	output, err = outputOf(nil, ai.NewToolInterruptError(nil))
	require.NoError(t, err)
	require.Equal(t, `{"$genkit":{"interrupt":true}}`, string(output))
	_, err = toResponse(output)
	interrupted, metadata := ai.IsToolInterruptError(err)
	require.True(t, interrupted)
	require.Empty(t, metadata)
	_, err = outputOf(nil, errors.New("the station is closed"))
	require.EqualError(t, err, "the station is closed")

	for _, text := range []string{`["$genkit"]`, `"$genkit"`, `null`, `3`, `{"other": {}}`} {
		require.False(t, isEnvelope(json.RawMessage(text)), text)
	}
}
