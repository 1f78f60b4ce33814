package store

import (
	"regexp"

	"github.com/traceforge/traceforge-go/internal/amount"
	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/modelio"
	"github.com/traceforge/traceforge-go/snapshot"
)

// Budgets are limits that a repository sets itself; traceforge verify --lint holds them. 0 is none.
type Budgets struct {
	Document, Answer           int64 // bytes of a document, of one raw answer
	TokensPerTest, TokensOfAll int64 // of input and output, as recorded
	CostPerTest, CostOfAll     float64
}

// A Price is what a million tokens of a model cost, in the repository's own currency.
type Price struct {
	Input, Output float64
	CachedInput   *float64 // of input that the provider had in its cache; nil: as Input
}

// A Silence says that a rule of traceforge verify --lint does not apply.
type Silence struct {
	Rule, Why string
	Test      string // to which test and its subtests; empty: to all
}

// dated is the end of a model's name that says which of several it is: -2024-08-06, -20241022,
// @20240620, -0613, -08-2024, -001.
var dated = regexp.MustCompile(`[-@](\d{4}-\d{2}-\d{2}|\d{8}|\d{2}-\d{4}|\d{3,4})$`)

// Undated returns a model's name without the date or number that it ends in.
func Undated(model string) string { return dated.ReplaceAllString(model, "") }

// Cost returns what a call cost when its answer was bought: by the price of the model that answered, else
// of the one that was asked, else of either without its date. ok is false if no price is known, and if
// the answer does not say how many tokens it took.
func (c *Config) Cost(s *snapshot.Snapshot) (cost float64, ok bool) {
	used := s.Response.Usage
	if used == nil || used.InputTokens == nil && used.OutputTokens == nil {
		return 0, false
	}
	for _, model := range []string{
		s.Response.Model, s.Request.Model, Undated(s.Response.Model), Undated(s.Request.Model),
	} {
		if price, ok := c.Prices[model]; ok {
			return price.of(used), true
		}
	}
	return 0, false
}

func (p Price) of(used *modelio.Usage) float64 {
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

func (r *configReader) budgets(pointer string, v jsontext.Value) (b Budgets) {
	tokens := number[int64](r, "tokens")
	r.object(pointer, v, map[string]reading{
		"document": into(&b.Document, r.size), "answer": into(&b.Answer, r.size),
		"tokens_per_test": into(&b.TokensPerTest, tokens), "tokens_of_all": into(&b.TokensOfAll, tokens),
		"cost_per_test": into(&b.CostPerTest, r.money), "cost_of_all": into(&b.CostOfAll, r.money),
	})
	return b
}

func (r *configReader) prices(pointer string, v jsontext.Value) map[string]Price {
	prices := map[string]Price{}
	r.members(pointer, v, func(model, pointer string, v jsontext.Value) {
		var p Price
		r.object(pointer, v, map[string]reading{
			"input": into(&p.Input, r.money), "output": into(&p.Output, r.money),
			"cached_input": func(pointer string, v jsontext.Value) {
				cached := r.money(pointer, v)
				p.CachedInput = &cached
			},
		})
		if v.IsObject() && !(v.Member("input").Present() && v.Member("output").Present()) {
			r.fail(pointer, snapshot.RuleMissing, "must have input and output, the prices of a million tokens")
		}
		prices[model] = p
	})
	return prices
}

func (r *configReader) silences(pointer string, v jsontext.Value) (all []Silence) {
	r.object(pointer, v, map[string]reading{"silence": list(r, "a list", &all, r.silence)})
	return all
}

func (r *configReader) silence(pointer string, v jsontext.Value) (s Silence) {
	r.object(pointer, v, map[string]reading{
		"rule": into(&s.Rule, r.text), "why": into(&s.Why, r.text), "test": into(&s.Test, r.text),
	})
	if v.IsObject() && !(v.Member("rule").Present() && v.Member("why").Present()) {
		r.fail(pointer, snapshot.RuleMissing, "must have a rule, and why it does not apply")
	}
	return s
}

// size reads a size, such as "1MB", as bytes.
func (r *configReader) size(pointer string, v jsontext.Value) (n int64) {
	if text := r.text(pointer, v); text != "" {
		var err error
		if n, err = amount.ParseSize(text); err != nil {
			r.fail(pointer, snapshot.RuleValue, "%v", err)
		}
	}
	return n
}

// money reads an amount of money, which is 0 or more.
func (r *configReader) money(pointer string, v jsontext.Value) float64 {
	n, ok := v.Number()
	if !ok {
		r.fail(pointer, snapshot.RuleType, "must be a number, is %s", v.Kind())
		return 0
	}
	money, err := n.Float64()
	if err != nil || money < 0 {
		r.fail(pointer, snapshot.RuleValue, "must be an amount of money, 0 or more, is %s", *n)
	}
	return money
}
