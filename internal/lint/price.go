package lint

import (
	"regexp"

	"github.com/traceforge/traceforge-go/internal/amount"
	"github.com/traceforge/traceforge-go/internal/store"
	"github.com/traceforge/traceforge-go/modelio"
	"github.com/traceforge/traceforge-go/snapshot"
)

// dated matches the end of a model's name that identifies its version: -2024-08-06, -20241022, @20240620, -0613,
// -08-2024, -001.
var dated = regexp.MustCompile(`[-@](\d{4}-\d{2}-\d{2}|\d{8}|\d{2}-\d{4}|\d{3,4})$`)

// undated returns a model's name without the date or number at its end.
func undated(model string) string { return dated.ReplaceAllString(model, "") }

// Prices are the prices of a million tokens, by model, from config.json.
type Prices map[string]store.Price

// Cost returns the price of a call's answer. It is based on the model that answered, or else on the one that was
// requested, or else on either name without its date. ok is false if no price is known or the answer has no token
// counts.
func (p Prices) Cost(s *snapshot.Snapshot) (money float64, ok bool) {
	used := s.Response.Usage
	if used == nil || used.InputTokens == nil && used.OutputTokens == nil {
		return 0, false
	}
	for _, model := range []string{
		s.Response.Model, s.Request.Model, undated(s.Response.Model), undated(s.Request.Model),
	} {
		if price, ok := p[model]; ok {
			return cost(price, used), true
		}
	}
	return 0, false
}

func cost(p store.Price, used *modelio.Usage) float64 {
	const million = 1e6
	input, output, cached := count(used.InputTokens), count(used.OutputTokens), 0.0
	if p.CachedInput != nil {
		cached = min(count(used.CachedContentTokens), input)
		input -= cached
		cached *= *p.CachedInput
	}
	return (input*p.Input + cached + output*p.Output) / million
}

func count(n *int64) float64 { return float64(amount.Of(n)) }
