package page

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/traceforge/traceforge-go/internal/drift"
)

// Limits on what is shown of documents that only one state has.
const (
	shownCalls     = 2  // calls of a document
	shownDocuments = 5  // documents with their calls
	namedDocuments = 20 // further documents, by name only
	shownOrder     = 40 // numbers of the calls of a test in another order
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
	kind
	N     int // number of its tests or records
	Items []Item

	all string // the command that shows all
}

// An Item is a document with a short description.
type Item struct {
	Line  string
	Lines []string

	Of   *Difference
	Same bool // the content of its records is the same
	N    int  // number of records that the section is about; 1 if it is about the document
	Open bool // unfolded on an HTML page
}

// A kind is what the documents of a section have in common.
type kind struct {
	Key       string // the same in every run
	one, many string
	Note      string // another sentence about all of them; empty without one
}

// kinds are in the order of the sections. Those with a Note are of records whose content is the same.
var kinds = []kind{
	{"calls", "test makes other calls", "tests make other calls", ""},
	{drift.Added, "test added", "tests added", ""},
	{drift.Removed, "test removed", "tests removed", ""},
	{Moved, "test moved", "tests moved", ""},
	{"again", "call recorded again", "calls recorded again", "what was sent and answered is the same"},
	{"form", "record in another form", "records in another form", "what was sent and answered, and when, is the same"},
	{"bytes", "raw answer has other bytes", "raw answers have other bytes", "what records say of them is the same"},
	{"altered", "raw answer altered or missing", "raw answers altered or missing",
		"its record is the same, traceforge verify tells more"},
}

// Sections returns the documents that the causes do not show, or not completely, by what happened to them.
func (c *Comparison) Sections() (all []Section) {
	for _, kind := range kinds {
		s := Section{kind: kind, all: c.All}
		for _, d := range c.Differences {
			if item := d.item(kind.Key); item.N > 0 {
				s.Items, s.N = append(s.Items, item), s.N+item.N
			}
		}
		if s.N > 0 {
			all = append(all, s)
		}
	}
	return all
}

// Headline says what the documents have in common: "2 tests added".
func (s *Section) Headline() string { return Count(s.N, s.one, s.many) }

// Title returns the headline with the note.
func (s *Section) Title() string { return strings.TrimSuffix(s.Headline()+": "+s.Note, ": ") }

// item describes the document in the section with a key. Its N is 0 if it is not in the section.
func (d *Difference) item(key string) Item {
	if n, same := d.same[key]; same {
		lines := map[string][]string{"again": d.times, "bytes": d.Raw, "altered": d.Raw}[key]
		return Item{Line: d.Test.Name + " in " + d.Package, Lines: Most(shownRaw, lines, "more"), Of: d, Same: true, N: n}
	}
	is := d.Fate
	if is == drift.Changed && (len(d.Glances) > 0 || len(d.Calls) == 0 || d.Order != nil) {
		is = "calls"
	}
	if is != key {
		return Item{}
	}
	item := Item{Line: d.Change.String(), Of: d, N: 1}
	if d.Was != "" {
		item.Lines = append(item.Lines, "from "+d.Was)
	}
	if note := d.Note(); note != "" {
		item.Lines = append(item.Lines, note)
	}
	for _, g := range d.Glances {
		item.Lines = append(append(item.Lines, g.Title, "  sent     "+g.Sent, "  answered "+g.Answered), g.Rest...)
	}
	if more := d.More(); more != "" {
		item.Lines = append(item.Lines, more)
	}
	return item
}

// Note says that the calls are in another order, or explains why a document without a changed call counts as changed;
// otherwise it is empty.
func (d *Difference) Note() string {
	switch {
	case d.Order != nil:
		return tellOrder(d.Order)
	case len(d.Calls) > 0 || d.Fate == Moved:
		return ""
	}
	return "the same calls in another order, or under another provider"
}

// tellOrder says in which order calls are now, by their numbers.
func tellOrder(numbers []int) string {
	var now []string
	for _, n := range numbers {
		now = append(now, strconv.Itoa(n))
	}
	return "the calls are in another order: " + strings.Join(Most(shownOrder, now, "more"), ", ")
}

// More says how many calls are left out; empty if none.
func (d *Difference) More() string {
	more := andMore(len(d.Calls[drift.Added])+len(d.Calls[drift.Removed])-len(d.Glances), "call", "calls")
	if more != "" && d.all != "" {
		more += ": " + d.all
	}
	return more
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
	p.line(bold, "", s.Title())
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
