package recorder

import (
	"slices"
	"sort"
	"strings"

	"github.com/traceforge/traceforge-go/internal/provider"
)

// knownNear names the APIs of the provider at a request's host; for a host without a known one, the providers that have one.
func (s *setup) knownNear(w *wire) string {
	at := provider.AtHost(w.URL, s.config.Hosts)
	var near, providers []string
	for _, codec := range provider.Codecs() {
		if codec.Provider == at {
			near = append(near, codec.API)
		}
		providers = append(providers, codec.Provider)
	}
	if near != nil {
		return "known: " + strings.Join(near, ", ")
	}
	sort.Strings(providers)
	return "known: APIs of " + strings.Join(slices.Compact(providers), ", ")
}
