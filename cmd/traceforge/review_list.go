package main

import (
	"cmp"
	"fmt"
	"path"
	"strings"

	"github.com/traceforge/traceforge-go/internal/drift"
	"github.com/traceforge/traceforge-go/internal/gotest"
	"github.com/traceforge/traceforge-go/internal/page"
	"github.com/traceforge/traceforge-go/internal/plaintext"
)

// A listedGroup is a group as JSON.
type listedGroup struct {
	Kind     string          `json:"kind"`             // pending or changed
	Key      string          `json:"key"`              // key of the group, which is the same in every run
	Headline string          `json:"headline"`         // the group in words
	Changes  []drift.Change  `json:"changes"`          // what changed in the first call
	Config   []*page.Setting `json:"config,omitempty"` // what changed in config.json
	Tests    []listedTest    `json:"tests"`            // tests of the group
	Accept   string          `json:"accept"`           // command that accepts the group
	Reject   string          `json:"reject"`           // command that rejects the group
}

// alsoListed is the maximum number of a test's other groups that are listed, since a conversation may have thousands.
// It also limits the test's records in each group except the first.
const alsoListed = 20

type listedTest struct {
	*reviewItem
	// calls that only one state has, as in diff --json; listed with what tests have in common other than causes
	Only page.Only `json:"only,omitempty"`
	// keys of the test's other groups, which must be accepted too; only the first ones are listed
	Also []string `json:"also,omitempty"`
	More int      `json:"also_more,omitempty"` // number of other groups that are not listed
	// number of records that are not listed here; the first cause of the test lists all of them
	MoreRecords int `json:"records_more,omitempty"`
	// number of changes in raw answers that are not listed here; the first cause of the test lists all of them
	MoreBytes int `json:"bytes_more,omitempty"`
}

// listedIn returns the description of a test for the list of a group.
func (item *reviewItem) listedIn(g *group) listedTest {
	test := listedTest{reviewItem: item}
	for _, other := range item.groups[:min(len(item.groups), alsoListed+1)] {
		if other != g && len(test.Also) < alsoListed {
			test.Also = append(test.Also, other.key)
		}
	}
	test.More = len(item.groups) - 1 - len(test.Also)
	if g != item.groups[0] {
		brief := *item
		brief.Records, brief.Bytes = item.Records[:min(len(item.Records), alsoListed)],
			item.Bytes[:min(len(item.Bytes), alsoListed)]
		test.reviewItem = &brief
		test.MoreRecords, test.MoreBytes = len(item.Records)-len(brief.Records), len(item.Bytes)-len(brief.Bytes)
	}
	return test
}

// listedGroups are the output of review --json if nothing was decided.
type listedGroups struct {
	Causes []listedGroup `json:"causes"` // groups that wait for a decision
	Left   int           `json:"left"`   // number of tests that wait for a decision
}

// list lists the groups that wait, with the commands that decide on them.
func (r *reviewRun) list() error {
	all := []listedGroup{}
	for _, g := range r.groups {
		l := listedGroup{g.kind, g.key, g.headline, []drift.Change{}, g.settings, nil, r.command("accept", g),
			r.command("reject", g)}
		for _, cause := range g.block {
			l.Changes = append(l.Changes, cause.Change)
		}
		for _, item := range g.tests {
			test := item.listedIn(g)
			if r.c.is("json") && g.block == nil && g.settings == nil {
				before, after, err := r.documents(item)
				r.c.fail(err)
				test.Only = page.OnlyOf(item.calls, before, after)
			}
			l.Tests = append(l.Tests, test)
		}
		all = append(all, l)
	}
	r.c.answer(listedGroups{all, len(r.tests)}, func() {
		for i, g := range all {
			if i > 0 {
				r.c.line("")
			}
			r.listGroup(r.groups[i], g)
		}
	})
	if len(all) == 0 {
		return r.nothing()
	}
	r.c.say("%s: %s left", r.dir, page.Count(len(r.tests), "test", "tests"))
	return cmp.Or(r.complain(), withFindings(true))
}

// nothing reports that nothing waits, unless something could not be read.
func (r *reviewRun) nothing() error {
	if r.broken == nil {
		r.c.say("%s: nothing waits for a decision", r.dir)
	}
	return r.complain()
}

// command returns the command that decides on a group without a terminal.
func (r *reviewRun) command(verb string, g *group) string {
	return r.kindCommand(g.kind) + " --" + verb + " " + gotest.Quote(g.key)
}

// kindCommand returns the command that reviews all groups of a kind.
func (r *reviewRun) kindCommand(kind string) string {
	return "traceforge review" + option(" --dir ", r.c.value("dir")) + " --" + kind
}

// listGroup lists a group: the changes, and its tests by the ids of their records.
func (r *reviewRun) listGroup(g *group, l listedGroup) {
	const mostTests, mostIDs, mostOthers = 12, 5, 12
	r.c.line(g.kind + ": " + g.headline)
	var text strings.Builder
	r.c.fail(r.showGroup(&page.Page{Out: &text, Width: r.c.width()}, g))
	r.c.text(text.String())
	var lines []string
	for _, test := range g.tests {
		var line strings.Builder
		ids := strings.Join(page.Most(mostIDs, test.Records, "more"), " ") // none of config.json
		line.WriteString(strings.TrimSuffix("  "+test.name()+": "+ids, ": "))
		switch others := len(test.groups) - 1; {
		case others > mostOthers:
			fmt.Fprintf(&line, "; it has %d other causes: accept all with --accept %s", others, gotest.Quote(test.Document))
		case others > 0:
			line.WriteString("; accept its other causes too:")
			for _, other := range test.groups {
				if other != g {
					line.WriteString(" --accept " + gotest.Quote(other.key))
				}
			}
		}
		lines = append(lines, line.String())
	}
	r.c.line(page.Most(mostTests, lines, "more tests")...)
	r.c.line("  accept: "+l.Accept, "  reject: "+l.Reject)
}

// showGroup shows what the tests of a group have in common: its first cause in full, or what happened to each test.
func (r *reviewRun) showGroup(p *page.Page, g *group) error {
	if g.block == nil {
		return r.showTests(p, left(g.tests), r.kindCommand(g.kind)+" --json")
	}
	p.Whole(g.block)
	return nil
}

// showTests shows what happened to tests that have no cause in common, and names those for which there is no room. all
// is the command that shows all.
func (r *reviewRun) showTests(p *page.Page, tests []*reviewItem, all string) error {
	const mostTests, mostBytes = 12, 64 << 10
	size := 0
	var names []string // of tests that are not shown
	for i, item := range tests {
		var text strings.Builder
		one := *p
		one.Out = &text
		if i < mostTests && size < mostBytes {
			if err := r.showTest(&one, item); err != nil {
				return err
			}
		}
		size += text.Len()
		switch {
		case i > 0 && (i >= mostTests || size > mostBytes):
			names, size = append(names, item.name()), max(size, mostBytes)
			continue
		case i > 0 && text.Len() > 0:
			fmt.Fprintln(p.Out)
		}
		if len(tests) > 1 && text.Len() > 0 && item.Change != drift.Added && item.Change != drift.Removed {
			fmt.Fprintln(p.Out, plaintext.Line(r.c.secrets.Mask(item.name())))
		}
		fmt.Fprint(p.Out, text.String())
	}
	if len(names) > 0 {
		line := fmt.Sprintf("not shown: %s; all of it: %s", strings.Join(page.Most(20, names, "more"), ", "), all)
		fmt.Fprintln(p.Out, "\n  "+plaintext.Line(r.c.secrets.Mask(line)))
	}
	return nil
}

// showTest shows what happened to all calls of a test.
func (r *reviewRun) showTest(p *page.Page, item *reviewItem) error {
	if settings := item.groups[0].settings; settings != nil {
		p.SettingChanges(settings)
		return nil
	}
	from, to, err := r.documents(item)
	switch {
	case err != nil:
		return err
	case from == nil && to == nil:
		fmt.Fprintln(p.Out, "  "+noLonger)
		return nil
	case item.was != "" && len(item.calls) == 0:
		fmt.Fprintln(p.Out, "  moved from the test whose document is "+item.was+", with the same calls")
		return nil
	case item.was != "":
		fmt.Fprintln(p.Out, "  moved from the test whose document is "+item.was)
	}
	p.Unfold(path.Dir(item.files[0]), from, to)
	for _, line := range item.Bytes {
		fmt.Fprintln(p.Out, "  "+plaintext.Line(line))
	}
	return nil
}
