// Package naming defines the names under which Genkit models are recorded.
package naming

import "strings"

// Of returns the name under which a Genkit model is recorded: provider/model, the form of most names. Any other name
// belongs to the provider genkit.
func Of(model string) string {
	const legal = "abcdefghijklmnopqrstuvwxyz0123456789-"
	provider, name, _ := strings.Cut(model, "/")
	if provider == "" || name == "" || provider[0] == '-' || strings.Trim(provider, legal) != "" {
		return "genkit/" + model
	}
	return model
}
