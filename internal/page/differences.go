package page

import (
	"fmt"

	"github.com/traceforge/traceforge-go/internal/drift"
)

// How much of documents is shown that one state has alone.
const (
	shownCalls     = 2  // of a document
	shownDocuments = 5  // with their calls
	namedDocuments = 20 // and more, by name
)

// Comparison shows how two states of a store differ: causes first, then tests and calls of one state alone, and those
// that moved.
func (p *Page) Comparison(c *Comparison) {
	sections := 0
	section := func(show func()) {
		if sections++; sections > 1 {
			fmt.Fprintln(p.Out)
		}
		show()
	}
	if len(c.Config) > 0 {
		section(func() { p.Settings(c.Config) })
	}
	if len(c.Causes) > 0 {
		section(func() { p.Causes(c.Causes) })
	}
	for _, s := range c.Sections() {
		section(func() { p.section(s) })
	}
}

// A Section is documents of which the same is said.
type Section struct {
	Headline string // "2 tests added"
	Note     string // a further sentence about all; empty means there is none
	Items    []Item
}

// An Item is a document, and what is said of it in a few lines.
type Item struct {
	Line  string
	Lines []string

	difference *Difference // nil: several, of a test
	test       Test
}

// Sections returns what is said of documents beside the causes.
func (c *Comparison) Sections() (all []Section) {
	for _, s := range []struct {
		fate  string
		calls bool // of documents that both states have
	}{{changed, true}, {added, false}, {removed, false}, {moved, false}} {
		var section Section
		for _, d := range c.Differences {
			if d.Change.Change != s.fate || s.calls && len(d.glances) == 0 && len(d.Calls) > 0 {
				continue
			}
			section.Items = append(section.Items, d.item())
		}
		if n := len(section.Items); n > 0 && s.calls {
			section.Headline = Count(n, "test makes other calls", "tests make other calls")
		} else if n > 0 {
			section.Headline = Count(n, "test", "tests") + " " + s.fate
		}
		if len(section.Items) > 0 {
			all = append(all, section)
		}
	}
	for _, s := range []struct {
		one, many, note string
		calls           []drift.Place
	}{
		{"call recorded again", "calls recorded again", "what was sent and answered is the same", c.Again},
		{"raw answer has other bytes", "raw answers have other bytes", "what records say of them is the same", c.Bytes},
	} {
		if len(s.calls) == 0 {
			continue
		}
		section := Section{Headline: Count(len(s.calls), s.one, s.many), Note: s.note}
		for _, t := range testsOf(s.calls) {
			section.Items = append(section.Items, Item{Line: t.Test.Test + " in " + t.Package, test: t.Test})
		}
		all = append(all, section)
	}
	return all
}

func (d *Difference) item() Item {
	item := Item{Line: d.Change.String(), difference: d, test: d.Test}
	switch {
	case d.Change.Change == moved:
		item.Lines = append(item.Lines, "from "+d.Was)
		return item
	case len(d.Calls) == 0:
		item.Lines = append(item.Lines, sameCalls)
	}
	for _, g := range d.shownGlances() {
		item.Lines = append(item.Lines, d.glanceTitle(g), "  sent     "+g.sent, "  answered "+g.answered)
	}
	if more := d.more(); more != "" {
		item.Lines = append(item.Lines, more)
	}
	return item
}

const sameCalls = "the same calls in another order, or under another provider"

func (d *Difference) shownGlances() []glance { return d.glances[:min(len(d.glances), shownCalls)] }

func (d *Difference) glanceTitle(g glance) string {
	title := fmt.Sprintf("call %d", g.call)
	if d.Change.Change == changed {
		title += " " + g.fate
	}
	return title
}

// more says how many calls are left out; empty: none.
func (d *Difference) more() string {
	more := len(d.Calls[added]) + len(d.Calls[removed]) - len(d.shownGlances())
	if more <= 0 || len(d.glances) == 0 {
		return ""
	}
	return "and " + Count(more, "more call", "more calls")
}

// title returns the headline, and what else is said of all.
func (s *Section) title() string {
	if s.Note == "" {
		return s.Headline
	}
	return s.Headline + ": " + s.Note
}

func (p *Page) section(s Section) {
	p.said(bold, "", s.title())
	for i, item := range s.Items {
		if i == shownDocuments+namedDocuments {
			p.said(faint, margin, fmt.Sprintf("and %d more", len(s.Items)-i))
			return
		}
		p.said("", margin, item.Line)
		for _, line := range item.Lines {
			if i < shownDocuments {
				p.said("", margin+margin, line)
			}
		}
	}
}
