package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"golang.org/x/term"

	"github.com/traceforge/traceforge-go/internal/git/worktree"
	"github.com/traceforge/traceforge-go/internal/gotest"
	"github.com/traceforge/traceforge-go/internal/inorder"
	"github.com/traceforge/traceforge-go/internal/page"
	"github.com/traceforge/traceforge-go/internal/store"
	"github.com/traceforge/traceforge-go/internal/store/audit"
)

// review shows the records that wait for a decision, grouped by cause, and carries out decisions.
func review(c *call, s *store.Store, dir string) error {
	r := &reviewRun{c: c, store: s, dir: dir}
	for _, kind := range []string{pendingKind, changedKind} {
		if c.is(kind) {
			r.only = kind
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

// interactive reports whether the command is used by a person who can be shown screens.
func interactive(c *call) bool {
	in, ok := c.stdin.(*os.File)
	return ok && c.terminal && !gotest.InCI() && os.Getenv("TERM") != "dumb" &&
		term.IsTerminal(int(in.Fd())) && term.IsTerminal(int(os.Stdout.Fd()))
}

// A reviewRun is one run of review.
type reviewRun struct {
	c       *call
	store   *store.Store
	dir     string // directory of the store, as used in messages
	only    string // the kind of records to gather; "" for both
	sources []*source
	tests   []*reviewItem
	groups  []*group
	broken  error // the errors of files that could not be read
}

// A group is a set of tests that are shown together, usually because their calls have the same causes.
type group struct {
	kind     string // pendingKind or changedKind
	key      string // identifies the group for the user; the same causes have the same key in each run
	headline string
	block    page.Block      // nil if tests were added, removed, …
	settings []*page.Setting // of config.json; nil for a group of tests
	tests    []*reviewItem

	accepted bool // a test is accepted when all of its groups are
	skipped  bool
}

// A reviewItem is a test with records that wait for a decision. It is decided as a whole.
type reviewItem struct {
	Kind string `json:"kind"` // kind of the records: pending or changed
	page.Test
	Change   string   `json:"change"`          // what happened to the document: added, changed, removed or moved
	Document string   `json:"document"`        // name of the document
	Records  []string `json:"records"`         // ids of the records that differ
	Bytes    []string `json:"bytes,omitempty"` // descriptions of raw answers that changed although their records did not

	source  *source
	was     string   // name of the document before it moved
	names   []string // of the document, and of the one before it moved
	calls   page.Calls
	files   []string // files and directories of the store that contain the records
	groups  []*group
	seen    string // state when it was shown: see reviewRun.look
	mixed   bool   // a decision of this run has added records to the document since it was shown
	verdict string // accepted or rejected; "" if undecided
}

const (
	accepted = "accepted"
	rejected = "rejected"
)

// left returns the tests that are undecided.
func left(tests []*reviewItem) []*reviewItem {
	return slices.DeleteFunc(slices.Clone(tests), func(item *reviewItem) bool { return item.verdict != "" })
}

// accept marks a group as accepted. It returns the tests that can be accepted now, and the number of tests that wait
// for their other groups.
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

// open reports whether a group still has to be decided or skipped.
func (g *group) open() bool { return !g.skipped && !g.accepted && len(left(g.tests)) > 0 }

// name returns the name of a test for people.
func (item *reviewItem) name() string {
	if item.Test.Name == "" {
		return item.Document
	}
	return item.Test.Name + " in " + item.Package
}

// decideNamed decides on the groups and tests that the user names.
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
	if err := r.refuseOlder(toAccept); err != nil {
		return err
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
	tests := map[string][]*reviewItem{accepted: toAccept, rejected: toReject}
	for _, verdict := range []string{accepted, rejected} {
		o := r.decide(verdict, inorder.With(nil, tests[verdict]...)) // each test once
		r.settle(o)
		r.c.sayAll(o.refused)
		r.broken = errors.Join(r.broken, o.err)
	}
	return r.finish()
}

// refuseOlder refuses to accept tests if one of their answers is older than the record that it would replace.
func (r *reviewRun) refuseOlder(tests []*reviewItem) error {
	var all []waitingRecord
	for _, item := range tests {
		if item.Kind != pendingKind {
			continue
		}
		if _, doc, err := item.source.load(item.Document); err == nil && doc != nil { // otherwise deciding reports it
			all = append(all, waitingOf(r.c, r.store, doc)...)
		}
	}
	return refuseOlder(r.c, all)
}

// find returns the groups and tests that ids name: groups by key, and tests by document, record id or name.
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

// waitFor describes what n tests of an accepted group are waiting for.
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

// together returns the command that accepts all groups that the tests of a group are waiting for.
func (r *reviewRun) together(g *group) string {
	keys := []string{g.key}
	for _, item := range left(g.tests) {
		for _, other := range item.groups {
			keys = inorder.With(keys, other.key)
		}
	}
	words := []string{"traceforge review" + option(" --dir ", r.c.value("dir"))}
	for _, key := range keys {
		words = append(words, "--accept "+gotest.Quote(key))
	}
	return strings.Join(words, " ")
}

// An outcome is the result of a decision on tests.
type outcome struct {
	verdict string // accepted or rejected
	done    []*reviewItem
	refused []string // why other tests were not decided, as text
	err     error    // why the rest were not decided
}

// decide accepts or rejects tests. It refuses a test that has changed since it was shown. It does not modify r, which
// may be displayed at the same time.
func (r *reviewRun) decide(verdict string, tests []*reviewItem) outcome {
	o := outcome{verdict: verdict}
	for _, src := range r.sources {
		of := slices.DeleteFunc(slices.Clone(tests), func(item *reviewItem) bool { return item.source != src })
		if len(of) == 0 {
			continue
		}
		var err error
		if src.kind == pendingKind {
			err = r.decideIn(src, of, &o)
		} else { // git, and a test, which must not write records at the same time
			err = r.store.Exclusively(func(store.Writer) error { return r.decideIn(src, of, &o) })
		}
		if err == nil && src.kind == changedKind && verdict == rejected {
			err = renewManifest(r.store)
		}
		o.err = errors.Join(o.err, err)
	}
	return o
}

// decideIn decides on the tests of a source that still match what was shown. It handles pending answers like traceforge
// accept and reject. It stages changed files to accept them, and restores their staged version to reject them.
func (r *reviewRun) decideIn(src *source, tests []*reviewItem, o *outcome) error {
	tests, err := r.still(src, tests, o)
	if err != nil || len(tests) == 0 {
		return err
	}
	var documents, files []string
	for _, item := range tests {
		documents, files = append(documents, item.Document), append(files, item.files...)
	}
	switch pending := src.kind == pendingKind; {
	case pending && o.verdict == rejected:
		err = audit.Reject(r.store, documents...)
	case pending:
		_, err = acceptPending(r.c, r.store, documents)
	case o.verdict == rejected:
		err = worktree.Restore(r.c.ctx, r.dir, files)
	default:
		// all files need these two
		err = worktree.Stage(r.c.ctx, r.dir, append(files, store.AttributesName, store.IgnoreName))
	}
	if err == nil {
		o.done = append(o.done, tests...)
	}
	return err
}

// still returns the tests that have not changed since they were shown and that allow this decision. It notes why the
// others are refused.
func (r *reviewRun) still(src *source, tests []*reviewItem, o *outcome) ([]*reviewItem, error) {
	var names []string
	var same []*reviewItem
	for _, item := range tests {
		names = append(names, item.names...)
	}
	now, err := r.look(src, names)
	for _, item := range tests {
		switch {
		case item.seen != item.looks(now):
			o.refused = append(o.refused, item.name()+": "+noLonger+": run traceforge review again")
		case item.mixed && o.verdict == rejected:
			o.refused = append(o.refused, item.name()+
				": has answers that were accepted just now, which rejecting would lose: run traceforge review again")
		default:
			same = append(same, item)
		}
	}
	return same, err
}

const noLonger = "is no longer what was shown, another process has changed it"

// looks returns the state of a test, combined from the states of documents.
func (item *reviewItem) looks(seen map[string]string) (is string) {
	for _, name := range item.names {
		is += seen[name]
	}
	return is
}

// settle notes an outcome. Tests that wait, and share a document with a decided test, get its new state as seen.
func (r *reviewRun) settle(o outcome) {
	kinds := map[string]string{} // of the decided tests, by document
	for _, item := range o.done {
		item.verdict, kinds[item.Document] = o.verdict, item.Kind
	}
	for _, other := range left(r.tests) {
		kind, decided := kinds[other.Document]
		if !decided {
			continue
		}
		other.mixed = other.mixed || kind == pendingKind && o.verdict == accepted
		if now, err := r.look(other.source, other.names); err == nil {
			other.seen = other.looks(now)
		}
	}
}

// decisions are the output of review --json if something was decided.
type decisions struct {
	Accepted []*reviewItem `json:"accepted"` // tests that were accepted
	Rejected []*reviewItem `json:"rejected"` // tests that were rejected
	Left     int           `json:"left"`     // number of tests that wait for a decision
}

// finish lists the decisions.
func (r *reviewRun) finish() error {
	of := map[string][]*reviewItem{} // tests, by verdict
	for _, item := range r.tests {
		of[item.verdict] = append(of[item.verdict], item)
	}
	decided := decisions{orEmpty(of[accepted]), orEmpty(of[rejected]), len(of[""])}
	r.c.answer(decided, func() {
		var lines []string
		for _, item := range slices.Concat(decided.Accepted, decided.Rejected) {
			lines = append(lines, item.verdict+" "+item.Document+"  "+item.name())
		}
		r.c.line(page.Most(50, lines, "more")...)
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
	return cmp.Or(r.complain(), withFindings(decided.Left > 0))
}

// complain returns the errors of reading and deciding.
func (r *reviewRun) complain() error {
	if r.broken == nil {
		return nil
	}
	return exit{exitFindings, r.broken}
}
