package traceforgetest

import (
	"os"
	"sync"

	"github.com/traceforge/traceforge-go/internal/provider"
)

// placeholder is the API key that SDKs see in replay.
const placeholder = "traceforge-replay"

// keys puts placeholders into the environment while tests replay that have no keys. The
// environment belongs to the process, so the tests of one that run at once share them.
var keys struct {
	sync.Mutex
	users int
	set   []string
}

// keyVariables are the variables without which some SDK refuses to make a client or a call.
var keyVariables = sync.OnceValue(func() (names []string) {
	for _, p := range provider.Providers() {
		names = append(names, p.Keys...)
	}
	return names
})

// lendKeys sets the variables that are not set; giveBack ends that when nobody else uses them.
func lendKeys() (giveBack func()) {
	keys.Lock()
	defer keys.Unlock()
	if keys.users++; keys.users == 1 {
		for _, name := range keyVariables() {
			if _, set := os.LookupEnv(name); !set && os.Setenv(name, placeholder) == nil {
				keys.set = append(keys.set, name)
			}
		}
	}
	return returnKeys
}

func returnKeys() {
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
