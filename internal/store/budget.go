package store

import (
	"regexp"

	"github.com/traceforge/traceforge-go/internal/amount"
	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/internal/jsontext/fields"
	"github.com/traceforge/traceforge-go/modelio"
	"github.com/traceforge/traceforge-go/snapshot"
)

// Budgets are limits that a repository sets itself; traceforge verify --lint holds them. 0 is none.
type Budgets struct {
	Document      int64   `json:"document,omitzero" is:"size"`          // of a document, as a number and B, kB, MB or GB
	Answer        int64   `json:"answer,omitzero" is:"size"`            // of one raw answer
	TokensPerTest int64   `json:"tokens_per_test,omitzero" is:"tokens"` // of input and output, as recorded
	TokensOfAll   int64   `json:"tokens_of_all,omitzero" is:"tokens"`   // of input and output, as recorded
	CostPerTest   float64 `json:"cost_per_test,omitzero"`               // by the prices
	CostOfAll     float64 `json:"cost_of_all,omitzero"`                 // by the prices
}

// A Price is what a million tokens of a model cost, in the repository's own currency.
type Price struct {
	Input       float64  `json:"input,omitzero"`
	Output      float64  `json:"output,omitzero"`
	CachedInput *float64 `json:"cached_input,omitzero"` // of input that the provider had in its cache; absent: as input
}

// Lint is what traceforge verify --lint leaves out.
type Lint struct {
	Silences []Silence `json:"silence,omitzero"`
}

// A Silence says that a rule of traceforge verify --lint does not apply.
type Silence struct {
	Rule string `json:"rule,omitzero"` // of traceforge verify --lint
	Why  string `json:"why,omitzero"`  // it does not apply
	Test string `json:"test,omitzero"` // to which, with its subtests; absent: to all
}

// dated is the end of a model's name that says which of several it is: -2024-08-06, -20241022,
// @20240620, -0613, -08-2024, -001.
var dated = regexp.MustCompile(`[-@](\d{4}-\d{2}-\d{2}|\d{8}|\d{2}-\d{4}|\d{3,4})$`)

// Undated returns a model's name without the date or number that it ends in.
func Undated(model string) string { return dated.ReplaceAllString(model, "") }

// Cost returns what a call cost when its answer was bought. The price is that of the model that answered, else of the
// one that was asked, else of either without its date. ok is false if no price is known, and if the answer does not
// say how many tokens it took.
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

func readPrice(r *fields.Reader, v jsontext.Value, p *Price) {
	r.ByKind(v, p)
	if v.IsObject() && !(v.Member("input").Present() && v.Member("output").Present()) {
		r.Report(snapshot.RuleMissing, "must have input and output, the prices of a million tokens")
	}
}

func readSilence(r *fields.Reader, v jsontext.Value, s *Silence) {
	r.ByKind(v, s)
	if v.IsObject() && !(v.Member("rule").Present() && v.Member("why").Present()) {
		r.Report(snapshot.RuleMissing, "must have a rule, and why it does not apply")
	}
}

// readSize reads a size, such as "1MB", as bytes.
func readSize(r *fields.Reader, v jsontext.Value, n *int64) {
	var text string
	if readText(r, v, &text); text != "" {
		var err error
		if *n, err = amount.ParseSize(text); err != nil {
			r.Report(snapshot.RuleValue, "%v", err)
		}
	}
}

// readMoney reads an amount of money, which is 0 or more.
func readMoney(r *fields.Reader, v jsontext.Value, money *float64) {
	if !r.Want(v, "a number") {
		return
	}
	n, _ := v.Number()
	var err error
	if *money, err = n.Float64(); err != nil || *money < 0 {
		r.Report(snapshot.RuleValue, "must be an amount of money, 0 or more, is %s", *n)
	}
}
