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
	all   []lentKey // those of all providers, which do not change while the process runs
}

// A lentKey is a placeholder for a key that one of several variables may have: the first is lent it. Tokens are
// variables for what SDKs use in its place.
type lentKey struct {
	variables, tokens []string
	placeholder       string
	lent              bool
	empty             bool // the variable was there, and empty
}

// lendKeys sets the variables that are unset, or empty, as CI leaves them without a secret. giveBack ends that when
// nobody else uses them. If live calls are made too, they use the token that is set in place of a key.
func lendKeys(live bool) (giveBack func()) {
	keys.Lock()
	defer keys.Unlock()
	if keys.all == nil {
		for _, of := range provider.Providers() {
			for _, names := range of.KeyVariables() {
				keys.all = append(keys.all, lentKey{variables: names, tokens: of.Tokens, placeholder: provider.NoKey(names[0])})
			}
		}
	}
	if keys.users++; keys.users > 1 {
		return returnKeys
	}
	isSet := func(name string) bool { return os.Getenv(name) != "" }
	for i := range keys.all {
		k := &keys.all[i]
		if !slices.ContainsFunc(k.variables, isSet) && !(live && slices.ContainsFunc(k.tokens, isSet)) {
			_, k.empty = os.LookupEnv(k.variables[0])
			k.lent = os.Setenv(k.variables[0], k.placeholder) == nil
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
	for i := range keys.all {
		k := &keys.all[i]
		switch name := k.variables[0]; {
		case !k.lent || os.Getenv(name) != k.placeholder: // a test has set its own
		case k.empty:
			os.Setenv(name, "")
		default:
			os.Unsetenv(name)
		}
		k.lent = false
	}
}
