package agents

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/traceforge/traceforge-go/traceforgetest/script"
)

// scripted returns a model's answers to an agent that may look up the weather.
func scripted(t *testing.T) *script.Script {
	t.Setenv("GEMINI_API_KEY", "none") // ADK creates no client without a key
	return script.New(
		script.Call("weather", `{"city":"Bern"}`),
		script.Say("It is ", "22 degrees in Bern.").When(script.Contains("22 degrees")),
	).Check(t)
}

func TestScriptedEino(t *testing.T) {
	answers := scripted(t)
	said, err := askEino(t.Context(), answers, "Be brief.", "What is the weather in Bern?")
	require.NoError(t, err)
	require.Equal(t, "It is 22 degrees in Bern.", said)
	require.Len(t, answers.Requests(), 2)
}

func TestScriptedADK(t *testing.T) {
	for _, ask := range []func(*script.Script) (string, error){
		func(s *script.Script) (string, error) {
			return askADK(t.Context(), s, "Be brief.", "How is the weather?")
		},
		func(s *script.Script) (string, error) {
			return streamADK(t.Context(), s, "Be brief.", "How is the weather?")
		},
	} {
		said, err := ask(scripted(t))
		require.NoError(t, err)
		require.Equal(t, "It is 22 degrees in Bern.", said)
	}
}

func TestScriptedFantasy(t *testing.T) {
	said, err := askFantasy(t.Context(), scripted(t), "Be brief.", "What is the weather in Bern?")
	require.NoError(t, err)
	require.Equal(t, "It is 22 degrees in Bern.", said)
}
