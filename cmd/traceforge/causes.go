package main

import (
	"fmt"

	"github.com/traceforge/traceforge-go/internal/annotation"
	"github.com/traceforge/traceforge-go/internal/page"
	"github.com/traceforge/traceforge-go/internal/usage/coverage"
)

// causes writes the drift by cause, and the command that accepts all of it.
func (c *call) causes(calls *coverage.Calls) {
	if len(calls.Causes) == 0 {
		return
	}
	c.line("")
	c.page(c.stdout).Causes(calls.Causes)
	if calls.Accept == "" {
		return
	}
	line := calls.Verb() + calls.Accept
	if price := calls.Price(); price != "" {
		line += "        " + price
	}
	c.line(line)
}

// mostAnnotations is how many errors of a step GitHub shows.
const mostAnnotations = 10

// annotateCauses reports causes to GitHub Actions, each at the line of its first call. path returns the file of a call
// in the checkout.
func (c *call) annotateCauses(calls *coverage.Calls, path func(page.Place) string) {
	blocks := page.Blocks(calls.Causes)
	for i, b := range blocks[:min(len(blocks), mostAnnotations)] {
		first := b[0].Calls[0]
		text := b.Headline() + "\n" + b.Text() + calls.Verb() + calls.Accept
		if left := len(blocks) - i - 1; i == mostAnnotations-1 && left > 0 {
			text += fmt.Sprintf("\nand %s", page.Count(left, "more cause", "more causes"))
		}
		c.command(annotation.Error(path(first), first.Line, "traceforge: drift", text))
	}
}
