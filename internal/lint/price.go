package lint

import (
	"regexp"

	"github.com/traceforge/traceforge-go/internal/amount"
	"github.com/traceforge/traceforge-go/internal/store"
	"github.com/traceforge/traceforge-go/modelio"
	"github.com/traceforge/traceforge-go/snapshot"
)

// dated is the end of a model's name that says which of several it is: -2024-08-06, -20241022,
// @20240620, -0613, -08-2024, -001.
var dated = regexp.MustCompile(`[-@](\d{4}-\d{2}-\d{2}|\d{8}|\d{2}-\d{4}|\d{3,4})$`)

// undated returns a model's name without the date or number that it ends in.
func undated(model string) string { return dated.ReplaceAllString(model, "") }

// Prices are what a million tokens cost, by model, as config.json says.
type Prices map[string]store.Price

// Cost returns what a call cost when its answer was bought. The price is that of the model that answered, else of the
// one that was asked, else of either without its date. ok is false if no price is known, and if the answer does not
// say how many tokens it took.
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
