package main

import (
	"strings"

	"github.com/traceforge/traceforge-go/internal/page"
	"github.com/traceforge/traceforge-go/snapshot"
)

// shownGroup shows what the tests of a group have in common: the first of its causes whole, or what became of the
// first test.
func (r *reviewRun) shownGroup(g *group, width int, color bool) (string, error) {
	if g.block == nil {
		return r.shownTest(g.tests[0], width, color)
	}
	var text strings.Builder
	p := page.Page{Out: &text, Width: width, Color: color}
	p.Whole(g.block)
	return text.String(), nil
}

// shownTest shows all that became of the calls of a test.
func (r *reviewRun) shownTest(h *reviewItem, width int, color bool) (string, error) {
	if settings := h.groups[0].settings; settings != nil {
		var text strings.Builder
		p := page.Page{Out: &text, Width: width, Color: color}
		p.Settings(settings)
		return text.String(), nil
	}
	from, to, err := h.source.load(h.Document)
	if err != nil {
		return "", err
	}
	if from == nil && to == nil {
		return "  " + noLonger + "\n", nil
	}
	if h.was != "" {
		return "  moved from the test whose document is " + h.was + ", with the same calls\n", nil
	}
	var text strings.Builder
	p := page.Page{Out: &text, Width: width, Color: color}
	var before, after *snapshot.Document
	provider := ""
	if from != nil {
		before, provider = from.Document, from.Provider
		r.c.secrets.Hide(before)
	}
	if to != nil {
		after, provider = to.Document, to.Provider
		r.c.secrets.Hide(after)
	}
	err = p.Unfold(provider, before, after)
	return text.String(), err
}
