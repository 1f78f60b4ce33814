package store

import (
	"github.com/traceforge/traceforge-go/internal/amount"
	"github.com/traceforge/traceforge-go/internal/jsontext"
	"github.com/traceforge/traceforge-go/internal/jsontext/fields"
	"github.com/traceforge/traceforge-go/snapshot"
)

// Budgets are limits that a repository sets for itself; traceforge verify --lint enforces them. 0 means no limit.
type Budgets struct {
	// size of a document, as a number and B, kB, MB or GB
	Document      int64   `json:"document,omitzero" is:"size"`
	Answer        int64   `json:"answer,omitzero" is:"size"`            // size of one raw answer
	TokensPerTest int64   `json:"tokens_per_test,omitzero" is:"tokens"` // recorded input and output tokens
	TokensOfAll   int64   `json:"tokens_of_all,omitzero" is:"tokens"`   // recorded input and output tokens
	CostPerTest   float64 `json:"cost_per_test,omitzero"`               // according to the prices
	CostOfAll     float64 `json:"cost_of_all,omitzero"`                 // according to the prices
}

// A Price is the price of a million tokens of a model, in a currency of the repository's choice.
type Price struct {
	Input       float64  `json:"input"`
	Output      float64  `json:"output"`
	CachedInput *float64 `json:"cached_input,omitzero"` // input from the provider's cache; if absent, the price of input
}

// Lint contains exceptions from traceforge verify --lint.
type Lint struct {
	Silences []Silence `json:"silence,omitzero"`
}

// A Silence turns off a rule of traceforge verify --lint.
type Silence struct {
	Rule string `json:"rule"`          // a rule of traceforge verify --lint
	Why  string `json:"why"`           // the reason
	Test string `json:"test,omitzero"` // the test, with its subtests; if absent, all tests
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

// readMoney reads an amount of money of at least 0.
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
