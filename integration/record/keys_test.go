package record_test

import (
	"log"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// keysOfSDKs are all variables from which the SDKs of these tests take keys.
var keysOfSDKs = []string{
	"OPENAI_API_KEY", "AZURE_OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY", "CO_API_KEY",
	"COHERE_API_KEY", "MISTRAL_API_KEY", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY",
}

// TestEmptyKeys replays with each SDK while each key variable is set to "". CI runs a fork's pull request in this way,
// since it gets no secrets. genai must not warn about two keys that the user has not set.
func TestEmptyKeys(t *testing.T) {
	for _, s := range sdks {
		t.Run(s.name, func(t *testing.T) {
			scenarios := s.scenarios
			if scenarios == nil {
				scenarios = chatScenarios
			}
			stage := newStage(t, &s, &scenarios[0])
			recorded, _ := stage.record()
			for _, name := range keysOfSDKs {
				t.Setenv(name, "")
			}
			var logged strings.Builder
			log.SetOutput(&logged)
			require.Equal(t, recorded, stage.replay())
			require.NotContains(t, logged.String(), "API_KEY")
			for _, name := range keysOfSDKs {
				value, set := os.LookupEnv(name)
				require.True(t, set && value == "", "%s is as CI has set it", name)
			}
		})
	}
}
