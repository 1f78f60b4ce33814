package traceforgetest

import (
	"os"
	"slices"
	"sync"

	"github.com/traceforge/traceforge-go/internal/provider"
)

// keys puts placeholders into the environment while tests replay that have no keys. The
// environment belongs to the process, so the tests of one that run at once share them.
var keys struct {
	sync.Mutex
	users int
	set   map[string]bool // by name; whether the variable was there, and empty
}

// keyVariables are those of all providers, which do not change while the process runs.
var keyVariables = sync.OnceValue(provider.KeyVariables)

// lendKeys sets the variables that are unset, or empty, as CI leaves them without a secret. giveBack ends that when
// nobody else uses them.
func lendKeys() (giveBack func()) {
	keys.Lock()
	defer keys.Unlock()
	if keys.users++; keys.users == 1 {
		keys.set = map[string]bool{}
		for _, names := range keyVariables() {
			if slices.ContainsFunc(names, func(name string) bool { return os.Getenv(name) != "" }) {
				continue
			}
			_, empty := os.LookupEnv(names[0])
			if os.Setenv(names[0], provider.NoKey(names[0])) == nil {
				keys.set[names[0]] = empty
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
	for name, empty := range keys.set {
		switch {
		case !provider.HasNoKey(os.Getenv(name)): // a test has set its own
		case empty:
			os.Setenv(name, "")
		default:
			os.Unsetenv(name)
		}
	}
}
