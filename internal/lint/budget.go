package lint

import (
	"fmt"
	"regexp"

	"github.com/traceforge/traceforge-go/internal/amount"
	"github.com/traceforge/traceforge-go/internal/page"
	"github.com/traceforge/traceforge-go/internal/provider"
)

var noMaxTokens = Rule{
	Name: "no-max-tokens",
	Fix:  "set it",
	each: func(l *Linter, d *document, c *call, add adder) {
		codec, _ := provider.Named(c.Request.API)
		if c.generated() && c.Request.MaxTokens == nil && !codec.IsFixed(&c.Request, "max_tokens") &&
			!matches(c.Request.Options, limit) {
			add(c.Request.API, "", d.at(c, []string{"request", "max_tokens"},
				"a call of %s sets no limit of the tokens that are answered", c.Request.API))
		}
	},
}

// limit matches the names that APIs use for the token limit when it is not a parameter of the request's own.
var limit = regexp.MustCompile(`(?i)max_?(new|output|completion|gen)?_?(tokens|len)|maxTokenCount|num_predict`)

var largeDocument = Rule{
	Name: "large-document",
	Fix:  "split the test",
	look: func(l *Linter, d *document, add adder) {
		if most := l.config.Budgets.Document; most > 0 && d.size > most {
			add("", "", d.whole("the document has %s, more than the %s of budgets.document",
				page.Size(d.size), page.Size(most)))
		}
	},
}

var largeAnswer = Rule{
	Name: "large-answer",
	Fix:  "ask for less",
	each: func(l *Linter, d *document, c *call, add adder) {
		if most := l.config.Budgets.Answer; most > 0 && c.raw > most {
			add("", "", d.at(c, []string{"response", "raw_output_ref"},
				"the raw answer has %s, more than the %s of budgets.answer", page.Size(c.raw), page.Size(most)))
		}
	},
}

var tokensPerTest = Rule{
	Name: "tokens-per-test",
	Fix:  "ask less, or less often",
	look: func(l *Linter, d *document, add adder) {
		if most := l.config.Budgets.TokensPerTest; most > 0 && d.tokens > most {
			add("", "", d.whole("the calls took %d tokens, more than the %d of budgets.tokens_per_test", d.tokens, most))
		}
	},
}

// tokens returns the tokens that a call used, as far as the provider reported them.
func (c *call) tokens() (sum int64) {
	if used := c.Response.Usage; used != nil {
		sum = amount.Of(used.InputTokens) + amount.Of(used.OutputTokens)
	}
	return sum
}

var tokensOfAll = Rule{
	Name: "tokens-of-all",
	Fix:  "see traceforge ls --sort tokens",
	end: func(l *Linter, add adder) {
		if most := l.config.Budgets.TokensOfAll; most > 0 && l.tokens > most {
			message := fmt.Sprintf("all calls took %d tokens, more than the %d of budgets.tokens_of_all", l.tokens, most)
			add("", "", Place{Message: message})
		}
	},
}

var costPerTest = Rule{
	Name: "cost-per-test",
	Fix:  "ask less, or a cheaper model",
	each: func(l *Linter, d *document, c *call, add adder) {
		if l.config.Budgets.CostPerTest == 0 && l.config.Budgets.CostOfAll == 0 {
			return
		}
		if !c.priced && c.tokens() > 0 {
			at := d.at(c, []string{"request", "model"}, "%s has no price, so that its calls count nothing", c.Request.Model)
			add("price of "+c.Request.Model, `add it to "prices" in config.json`, at)
		}
	},
	look: func(l *Linter, d *document, add adder) {
		if most := l.config.Budgets.CostPerTest; most > 0 && d.cost > most {
			add("", "", d.whole("the calls cost %s, more than the %s of budgets.cost_per_test",
				page.Money(d.cost), page.Money(most)))
		}
	},
}

var costOfAll = Rule{
	Name: "cost-of-all",
	Fix:  "see traceforge ls --sort tokens",
	end: func(l *Linter, add adder) {
		if most := l.config.Budgets.CostOfAll; most > 0 && l.cost > most {
			add("", "", Place{Message: fmt.Sprintf("all calls cost %s, more than the %s of budgets.cost_of_all",
				page.Money(l.cost), page.Money(most))})
		}
	},
}
