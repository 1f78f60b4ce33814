package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"golang.org/x/term"

	"github.com/traceforge/traceforge-go/internal/gotest"
	"github.com/traceforge/traceforge-go/internal/inorder"
	"github.com/traceforge/traceforge-go/internal/page"
	"github.com/traceforge/traceforge-go/internal/store"
)

// review shows what waits for a decision by cause, and decides.
func review(c *call, s *store.Store, dir string) error {
	r := &reviewRun{c: c, store: s, dir: dir, kinds: []string{pendingKind, changedKind}}
	for _, kind := range r.kinds {
		if c.is(kind) {
			r.kinds = []string{kind}
		}
	}
	defer r.close()
	if err := r.gather(); err != nil {
		return err
	}
	switch {
	case len(c.values("accept"))+len(c.values("reject")) > 0:
		return r.decideNamed(c.values("accept"), c.values("reject"))
	case c.is("json") || !interactive(c):
		return r.list()
	case len(r.groups) == 0:
		return r.nothing()
	}
	return r.onTerminal()
}

// interactive reports whether someone sits in front of the command, who can be shown screens.
func interactive(c *call) bool {
	in, ok := c.stdin.(*os.File)
	return ok && c.terminal && !gotest.InCI() && os.Getenv("TERM") != "dumb" &&
		term.IsTerminal(int(in.Fd())) && term.IsTerminal(int(os.Stdout.Fd()))
}

// A reviewRun is a use of review.
type reviewRun struct {
	c       *call
	store   *store.Store
	dir     string   // of the store, as messages name it
	kinds   []string // what is gathered
	sources []*source
	tests   []*reviewItem
	groups  []*group
	broken  error // what could not be read
}

// A group is tests that are shown together, mostly because their calls have the same causes.
type group struct {
	kind     string // pendingKind or changedKind
	key      string // by which the user names the group; the same causes have the same key in each run
	headline string
	block    page.Block      // nil means tests were added, removed, …
	settings []*page.Setting // of config.json; nil means it is tests
	tests    []*reviewItem

	accepted bool // a test is accepted as soon as all of its groups are
	skipped  bool
}

// A reviewItem is a test of which records wait for a decision. It is decided as a whole.
type reviewItem struct {
	Kind string `json:"kind"` // pending or changed
	page.Test
	Change   string   `json:"change"`          // what became of the document: added, changed, removed or moved
	Document string   `json:"document"`        // its name
	Records  []string `json:"records"`         // ids of those that differ
	Bytes    []string `json:"bytes,omitempty"` // what changed in raw answers whose records did not, in words

	source  *source
	was     string   // the document's name before it moved
	files   []string // files and directories of the store that the records are in
	groups  []*group
	seen    string // its state when it was shown: see reviewRun.look
	mixed   bool   // the document got records since it was shown, by a decision of this run
	verdict string // accepted or rejected; empty means not decided
}

const (
	accepted = "accepted"
	rejected = "rejected"
)

// left returns those of the tests that are not decided.
func left(tests []*reviewItem) []*reviewItem {
	return slices.DeleteFunc(slices.Clone(tests), func(item *reviewItem) bool { return item.verdict != "" })
}

// accept marks a group as accepted. It returns the tests that can be accepted now, and how many wait for their other
// groups.
func (g *group) accept() (ready []*reviewItem, waiting int) {
	g.accepted = true
	for _, item := range left(g.tests) {
		if item.ready() {
			ready = append(ready, item)
		} else {
			waiting++
		}
	}
	return ready, waiting
}

// ready reports whether all groups of a test are accepted.
func (item *reviewItem) ready() bool {
	return !slices.ContainsFunc(item.groups, func(g *group) bool { return !g.accepted })
}

// open reports whether a group still waits for a decision, or to be skipped.
func (g *group) open() bool { return !g.skipped && !g.accepted && len(left(g.tests)) > 0 }

// name names a test for people.
func (item *reviewItem) name() string {
	if item.Test.Name == "" {
		return item.Document
	}
	return item.Test.Name + " in " + item.Package
}

// decideNamed decides on what the user names.
func (r *reviewRun) decideNamed(accepts, rejects []string) error {
	groups, toAccept, err := r.find(accepts)
	if err != nil {
		return err
	}
	for _, g := range groups {
		g.accepted = true
	}
	for _, g := range r.groups {
		if g.accepted {
			ready, waiting := g.accept()
			toAccept = append(toAccept, ready...)
			if waiting > 0 {
				r.c.say("%s: %s; all at once: %s", g.headline, g.waitFor(waiting), r.together(g))
			}
		}
	}
	groups, toReject, err := r.find(rejects)
	if err != nil {
		return err
	}
	for _, g := range groups {
		toReject = append(toReject, g.tests...)
	}
	if i := slices.IndexFunc(toReject, func(item *reviewItem) bool { return slices.Contains(toAccept, item) }); i >= 0 {
		return usagef("%s is both accepted and rejected", toReject[i].name())
	}
	for _, d := range []struct {
		verdict string
		tests   []*reviewItem
	}{{accepted, toAccept}, {rejected, toReject}} {
		o := r.decide(d.verdict, once(d.tests))
		r.settle(d.verdict, o)
		r.c.sayAll(o.refused)
		r.broken = errors.Join(r.broken, o.err)
	}
	return r.finish()
}

func once(tests []*reviewItem) (all []*reviewItem) {
	for _, item := range tests {
		all = inorder.With(all, item)
	}
	return all
}

// find returns what ids name: groups by their key, and tests by their document, the id of a record or their name.
func (r *reviewRun) find(ids []string) (groups []*group, tests []*reviewItem, err error) {
	for _, id := range ids {
		var names []string
		known := len(groups) + len(tests)
		for _, g := range r.groups {
			if names = append(names, g.key); g.key == id {
				groups = append(groups, g)
			}
		}
		for _, item := range r.tests {
			names = append(names, item.Document)
			if item.Document == id || slices.Contains(item.Records, id) || isOf(item.Test, id) {
				tests = append(tests, item)
			}
		}
		if len(groups)+len(tests) == known {
			return nil, nil, fmt.Errorf("nothing that waits is called %s%s: traceforge review --json lists all",
				gotest.Quote(id), meant(id, names))
		}
	}
	return groups, tests, nil
}

// waitFor says what n tests of an accepted group wait for.
func (g *group) waitFor(n int) string {
	var others []string
	for _, item := range left(g.tests) {
		for _, other := range item.groups {
			if !other.accepted {
				others = inorder.With(others, other.headline)
			}
		}
	}
	return fmt.Sprintf("%s for a decision on: %s",
		page.Count(n, "test waits", "tests wait"), strings.Join(page.Most(3, others, "more"), "; "))
}

// together returns the command that accepts all that the tests of a group wait for.
func (r *reviewRun) together(g *group) string {
	keys := []string{g.key}
	for _, item := range left(g.tests) {
		for _, other := range item.groups {
			keys = inorder.With(keys, other.key)
		}
	}
	words := []string{"traceforge review" + option(" --dir ", r.c.dirFlag())}
	for _, key := range keys {
		words = append(words, "--accept "+gotest.Quote(key))
	}
	return strings.Join(words, " ")
}

// decisions are what review prints for a program where something was decided.
type decisions struct {
	Accepted []*reviewItem `json:"accepted"` // tests
	Rejected []*reviewItem `json:"rejected"` // tests
	Left     int           `json:"left"`     // how many tests wait for a decision
}

// finish lists what was decided.
func (r *reviewRun) finish() error {
	of := map[string][]*reviewItem{} // tests, by their verdict
	for _, item := range r.tests {
		of[item.verdict] = append(of[item.verdict], item)
	}
	decided := decisions{orEmpty(of[accepted]), orEmpty(of[rejected]), len(of[""])}
	err := r.c.answer(decided, func() {
		var lines []string
		for _, item := range slices.Concat(decided.Accepted, decided.Rejected) {
			lines = append(lines, item.verdict+" "+item.Document+"  "+item.name())
		}
		for _, line := range page.Most(50, lines, "more") {
			r.c.line(line)
		}
	})
	r.c.say("%d accepted, %d rejected, %d left", len(decided.Accepted), len(decided.Rejected), decided.Left)
	var taken []string // documents
	for _, item := range decided.Accepted {
		if item.Kind == pendingKind {
			taken = append(taken, item.Document)
		}
	}
	if len(taken) > 0 {
		r.c.say("answers that were pending are in the store: replay them with %s, and commit them with git",
			replays(r.store, taken))
	}
	if len(taken) < len(decided.Accepted) {
		r.c.say("changed records that were accepted are staged: commit them with git")
	}
	return withFindings(decided.Left > 0, errors.Join(err, r.complain()))
}

// complain returns what could not be read or decided.
func (r *reviewRun) complain() error {
	if r.broken == nil {
		return nil
	}
	return exit{exitFindings, r.broken}
}
