package page

import (
	"fmt"
	"slices"

	"github.com/traceforge/traceforge-go/internal/drift"
)

// Limits on what is shown of documents that only one state has.
const (
	shownCalls     = 2  // calls of a document
	shownDocuments = 5  // documents with their calls
	namedDocuments = 20 // further documents, by name only
	shownRaw       = 12 // places in the raw answers of a test
)

// Comparison shows the differences between two states of a store: settings and causes first, then the sections.
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

// A Section is documents that have something in common other than causes, for example that they were added.
type Section struct {
	Headline string // "2 tests added"
	Note     string // another sentence about all documents; empty without one
	Items    []Item

	all string // the command that shows all
}

// An Item is a document with a short description.
type Item struct {
	Line  string
	Lines []string

	Difference *Difference // nil for several documents of a test
	Test       Test
	Open       bool // unfolded on an HTML page
}

// Sections returns the documents that the causes do not show, or not completely, by what happened to them.
func (c *Comparison) Sections() (all []Section) {
	for _, fate := range []string{drift.Changed, drift.Added, drift.Removed, Moved} {
		section := Section{all: c.All}
		for _, d := range c.Differences {
			sameCalls := fate == drift.Changed && len(d.glances) == 0 && len(d.Calls) > 0
			if d.Fate == fate && !sameCalls {
				section.Items = append(section.Items, d.item())
			}
		}
		switch n := len(section.Items); {
		case n == 0:
			continue
		case fate == drift.Changed:
			section.Headline = Count(n, "test makes other calls", "tests make other calls")
		default:
			section.Headline = Count(n, "test", "tests") + " " + fate
		}
		all = append(all, section)
	}
	section := func(calls []Place, one, many, note string, told map[Test][]string) {
		if len(calls) == 0 {
			return
		}
		section := Section{Headline: Count(len(calls), one, many), Note: note}
		for _, t := range testsOf(calls) {
			lines := Most(shownRaw, told[t.Test], "more")
			section.Items = append(section.Items, Item{Line: t.Test.Name + " in " + t.Package, Test: t.Test, Lines: lines})
		}
		all = append(all, section)
	}
	section(c.Again, "call recorded again", "calls recorded again", "what was sent and answered is the same", c.times)
	section(c.Form, "record in another form", "records in another form", "what was sent and answered, and when, is the same", nil)
	var others, altered []Place
	told := map[Test][]string{}
	for _, b := range c.Bytes {
		told[b.Of.Test] = b.Of.Raw
		if slices.Contains(b.Of.Altered, b.Call) {
			altered = append(altered, b.Place)
		} else {
			others = append(others, b.Place)
		}
	}
	section(others, "raw answer has other bytes", "raw answers have other bytes", "what records say of them is the same", told)
	section(altered, "raw answer altered or missing", "raw answers altered or missing", "its record is the same, traceforge verify tells more", told)
	return all
}

func (d *Difference) item() Item {
	item := Item{Line: d.Change.String(), Difference: d, Test: d.Test}
	if d.Was != "" {
		item.Lines = append(item.Lines, "from "+d.Was)
	}
	if note := d.Note(); note != "" {
		item.Lines = append(item.Lines, note)
	}
	for _, g := range d.Glances() {
		item.Lines = append(append(item.Lines, g.Title, "  sent     "+g.Sent, "  answered "+g.Answered), g.Rest...)
	}
	if more := d.More(); more != "" {
		item.Lines = append(item.Lines, more)
	}
	return item
}

// Note explains why a document without a changed call counts as changed; empty if there is a changed call.
func (d *Difference) Note() string {
	if len(d.Calls) > 0 || d.Fate == Moved {
		return ""
	}
	return "the same calls in another order, or under another provider"
}

// Glances returns summaries of the first calls that only one state has.
func (d *Difference) Glances() []glance { return d.glances }

// More says how many calls are left out; empty if none.
func (d *Difference) More() string {
	more := andMore(len(d.Calls[drift.Added])+len(d.Calls[drift.Removed])-len(d.glances), "call", "calls")
	if more != "" && d.all != "" {
		more += ": " + d.all
	}
	return more
}

// title returns the headline with the note.
func (s *Section) title() string {
	if s.Note == "" {
		return s.Headline
	}
	return s.Headline + ": " + s.Note
}

// named says how many documents are shown by name only, although their calls differ; empty if none.
func (s *Section) named() string {
	n := 0
	for _, item := range s.Items[min(len(s.Items), shownDocuments):] {
		n += min(len(item.Lines), 1)
	}
	if n == 0 || s.all == "" {
		return ""
	}
	return fmt.Sprintf("… and what %s: %s", Count(n, "more test says", "more tests say"), s.all)
}

func (p *Page) section(s Section) {
	p.line(bold, "", s.title())
	if named := s.named(); named != "" {
		defer p.line(faint, margin, named)
	}
	for i, item := range s.Items {
		if i == shownDocuments+namedDocuments {
			p.line(faint, margin, fmt.Sprintf("and %d more", len(s.Items)-i))
			return
		}
		p.line("", margin, item.Line)
		for _, line := range item.Lines {
			if i < shownDocuments {
				p.line("", margin+margin, line)
			}
		}
	}
}
