package traceforgetest

import (
	"os"
	"sync"
)

// placeholder is the API key that SDKs see in replay.
const placeholder = "traceforge-replay"

// keyVariables are the variables without which some SDK refuses to make a client or a call.
var keyVariables = []string{
	"ANTHROPIC_API_KEY", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AZURE_OPENAI_API_KEY",
	"COHERE_API_KEY", "DEEPSEEK_API_KEY", "GEMINI_API_KEY", "GROQ_API_KEY", "MISTRAL_API_KEY",
	"OPENAI_API_KEY", "OPENROUTER_API_KEY", "XAI_API_KEY",
}

// keys puts placeholders into the environment while tests replay that have no keys. The
// environment belongs to the process, so the tests of one that run at once share them.
var keys struct {
	sync.Mutex
	users int
	set   []string
}

// lendKeys sets the variables that are not set; giveBack ends that when nobody else uses them.
func lendKeys() (giveBack func()) {
	keys.Lock()
	defer keys.Unlock()
	if keys.users++; keys.users == 1 {
		for _, name := range keyVariables {
			if _, set := os.LookupEnv(name); !set && os.Setenv(name, placeholder) == nil {
				keys.set = append(keys.set, name)
			}
		}
	}
	return func() {
		keys.Lock()
		defer keys.Unlock()
		if keys.users--; keys.users > 0 {
			return
		}
		for _, name := range keys.set {
			if os.Getenv(name) == placeholder {
				os.Unsetenv(name)
			}
		}
		keys.set = nil
	}
}
