package store

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestConfigOfLint(t *testing.T) {
	t.Parallel()
	s, dir := newStore(t)
	writeFile(t, dir, ConfigName, `{
  "budgets": {"document": "1MB", "answer": "500kB", "tokens_per_test": 20000, "tokens_of_all": 1000000,
    "cost_per_test": 0.05, "cost_of_all": 5},
  "prices": {"gpt-4o": {"input": 2.5, "output": 10, "cached_input": 1.25}, "free": {"input": 0, "output": 0}},
  "lint": {"silence": [{"rule": "no-max-tokens", "why": "our gateway sets it"}, {"rule": "open-schema", "why": "x", "test": "TestX"}]}
}`)
	config, err := s.Config()
	require.NoError(t, err)
	cached := 1.25
	require.Equal(t, &Config{
		Budgets: Budgets{Document: 1_000_000, Answer: 500_000, TokensPerTest: 20_000, TokensOfAll: 1_000_000, CostPerTest: 0.05, CostOfAll: 5},
		Prices:  map[string]Price{"gpt-4o": {Input: 2.5, Output: 10, CachedInput: &cached}, "free": {}},
		Lint: Lint{Silences: []Silence{
			{Rule: "no-max-tokens", Why: "our gateway sets it"}, {Rule: "open-schema", Why: "x", Test: "TestX"},
		}},
	}, config)
}

func TestConfigOfLintErrors(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, reason, text, want string }{
		{"budget-unknown", "a limit that is spelled wrongly would limit nothing", `{"budgets":{"documents":"1MB"}}`,
			"/budgets/documents: unknown: did you mean document? there are answer, cost_of_all, cost_per_test, document, tokens_of_all, tokens_per_test"},
		{"budget-size", "a number alone may be anything", `{"budgets":{"document":1000}}`,
			"/budgets/document: type: must be a string, is a number"},
		{"budget-size-unit", "the unit is one that is known", `{"budgets":{"answer":"1MiB"}}`,
			`/budgets/answer: value: "1MiB" is no size: write a number and its unit, such as 500kB or 1.5MB`},
		{"budget-tokens", "no tokens at all would forbid every call", `{"budgets":{"tokens_per_test":0}}`,
			"/budgets/tokens_per_test: value: must be a number of tokens, 1 or more, is 0"},
		{"budget-cost", "nobody is paid for asking", `{"budgets":{"cost_of_all":-1}}`,
			"/budgets/cost_of_all: value: must be an amount of money, 0 or more, is -1"},
		{"budget-endless", "no cost is greater", `{"budgets":{"cost_of_all":1e999}}`,
			"/budgets/cost_of_all: value: must be an amount of money, 0 or more, is 1e999"},
		{"price-type", "prices are numbers", `{"prices":{"m":{"input":"2.50","output":1}}}`,
			"/prices/m/input: type: must be a number, is a string"},
		{"price-half", "a price that is left out is not free", `{"prices":{"m":{"input":1}}}`,
			"/prices/m/output: missing: is required"},
		{"price-output", "nor is the other", `{"prices":{"m":{"output":1}}}`, "/prices/m/input: missing: is required"},
		{"price-null", "it is no price", `{"prices":{"m":{"input":null,"output":1}}}`, "/prices/m/input: type: must not be null"},
		{"price-unknown", "it may be a price that somebody relies on", `{"prices":{"m":{"input":1,"output":1,"batch":1}}}`,
			"/prices/m/batch: unknown: there are cached_input, input, output"},
		{"price-bare", "input and output have prices of their own", `{"prices":{"m":1}}`, "/prices/m: type: must be an object, is a number"},
		{"silence-type", "it is a list", `{"lint":{"silence":"open-schema"}}`, "/lint/silence: type: must be a list, is a string"},
		{"silence-why", "reviewers want to know", `{"lint":{"silence":[{"rule":"open-schema"}]}}`,
			"/lint/silence/0/why: missing: is required"},
		{"silence-rule", "a reason alone silences nothing", `{"lint":{"silence":[{"why":"x"}]}}`,
			"/lint/silence/0/rule: missing: is required"},
		{"silence-bare", "reviewers want to know why", `{"lint":{"silence":["open-schema"]}}`, "/lint/silence/0: type: must be an object, is a string"},
		{"lint-unknown", "there is nothing else to say", `{"lint":{"rules":[]}}`, "/lint/rules: unknown: there are silence"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, dir := newStore(t)
			writeFile(t, dir, ConfigName, c.text)
			_, err := s.Config()
			require.ErrorContains(t, err, "config.json: "+c.want, c.reason)
		})
	}
}
