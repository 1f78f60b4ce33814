// Package naming says under which names Genkit's models are recorded.
package naming

import "strings"

// Of returns the name under which a model of Genkit's is recorded: provider/model, as most have it. Any other is one of
// the provider genkit.
func Of(model string) string {
	const legal = "abcdefghijklmnopqrstuvwxyz0123456789-"
	provider, name, _ := strings.Cut(model, "/")
	if provider == "" || name == "" || provider[0] == '-' || strings.Trim(provider, legal) != "" {
		return "genkit/" + model
	}
	return model
}
