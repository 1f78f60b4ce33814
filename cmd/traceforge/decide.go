package main

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/traceforge/traceforge-go/internal/drift"
	"github.com/traceforge/traceforge-go/internal/gotest"
	"github.com/traceforge/traceforge-go/internal/page"
	"github.com/traceforge/traceforge-go/internal/place"
	"github.com/traceforge/traceforge-go/internal/store"
	"github.com/traceforge/traceforge-go/internal/store/audit"
	"github.com/traceforge/traceforge-go/snapshot"
)

// An acceptedRecord is a pending record that was accepted.
type acceptedRecord struct {
	ID string `json:"id"` // that the answer waited under
	As string `json:"as"` // its id in the document; another one where another call had got its number
}

// The answers of accept and reject to a program: what they did, or what there is to decide on.
type (
	acceptance struct {
		Accepted []acceptedRecord `json:"accepted"` // answers that are in documents now
	}
	rejection struct {
		Rejected []string `json:"rejected"` // ids
	}
	undecided struct {
		Pending []waitingRecord `json:"pending"` // answers that wait
	}
)

func accept(c *call, s *store.Store, dir string) error {
	return decide(c, s, dir, "accept", func(ids []string) error {
		accepted, err := acceptPending(c, s, ids)
		if err != nil {
			return err
		}
		all := make([]acceptedRecord, len(accepted))
		var documents []string
		for i, a := range accepted {
			all[i] = acceptedRecord(a)
			documents = append(documents, a.As[:strings.LastIndexByte(a.As, '-')])
		}
		err = c.answer(acceptance{all}, func() {
			for _, a := range all {
				line := "accepted " + a.ID
				if a.As != a.ID {
					line += " as " + a.As
				}
				c.line(line)
			}
		})
		c.say("%s accepted: replay them with %s, and commit them with git", page.Count(len(all), "answer", "answers"), replays(s, documents))
		return err
	})
}

// acceptPending moves pending answers into documents. It refuses what recording would refuse.
func acceptPending(c *call, s *store.Store, ids []string) ([]audit.Accepted, error) {
	_, checks, err := checksOf(s)
	if err != nil {
		return nil, err
	}
	return audit.Accept(s, ids, append(checks, secretless(c))...)
}

func reject(c *call, s *store.Store, dir string) error {
	return decide(c, s, dir, "reject", func(ids []string) error {
		if err := audit.Reject(s, ids...); err != nil {
			return err
		}
		err := c.answer(rejection{ids}, func() {
			for _, id := range ids {
				c.line("rejected " + id)
			}
		})
		c.say("%s rejected: the next update buys what is still needed", page.Count(len(ids), "answer", "answers"))
		return err
	})
}

// decide calls do with the ids of the pending records that the user names; without a name it lists what is pending.
// verb is "accept" or "reject".
func decide(c *call, s *store.Store, dir, verb string, do func(ids []string) error) error {
	all, unread, broken := waitingIn(c, s)
	if broken != nil && unread == nil {
		return broken
	}
	if len(c.args) == 0 && !c.is("all") {
		return listWaiting(c, dir, all, broken)
	}
	if c.is("all") && len(c.args) > 0 {
		return usagef("--all goes without an ID")
	}
	if broken != nil && verb == "accept" {
		return fmt.Errorf("%w\nnothing was accepted: traceforge reject ID removes what is broken", broken)
	}
	ids, err := idsOf(c, s, all, unread)
	switch {
	case verb == "accept" && err != nil:
		return c.acceptReviewed(s, dir, err)
	case verb == "accept":
		err = refuseOlder(c, all, ids)
	}
	if err != nil {
		return err
	}
	if len(ids) == 0 {
		c.say("%s: nothing is pending", dir)
		return c.answer(map[string][]string{verb + "ed": {}}, func() {})
	}
	return do(ids)
}

// acceptReviewed accepts what the arguments name as review does, if one of them names no pending answer: they may name
// causes, and tests whose records changed. The error is unknown if review does not know one of them either. reject does
// not do this: a misspelled word must not lose a recording that git does not have.
func (c *call) acceptReviewed(s *store.Store, dir string, unknown error) error {
	r := &reviewRun{c: c, store: s, dir: dir, kinds: []string{pendingKind, changedKind}}
	defer r.close()
	if err := r.gather(); err != nil {
		return unknown
	}
	if _, _, err := r.find(c.args); err != nil {
		return unknown
	}
	err := r.decideNamed(c.args, nil)
	if errors.Is(err, exitWith(exitFindings)) { // others are left, of which nothing was asked
		err = nil
	}
	return err
}

// refuseOlder refuses to replace a record by an older answer of the same call, unless the user names it.
func refuseOlder(c *call, all []waitingRecord, ids []string) error {
	var older []string
	for i := range all {
		if w := &all[i]; w.older && slices.Contains(ids, w.ID) && !slices.Contains(c.args, w.ID) {
			older = append(older, w.ID)
		}
	}
	if older == nil {
		return nil
	}
	named := option(" --dir ", c.dirFlag()) + " " + strings.Join(older, " ")
	return fmt.Errorf("%s older than what was recorded of the same call since: nothing was accepted\n"+
		"remove what is older: traceforge reject%s\nor take it all the same: traceforge accept%s",
		page.Count(len(older), "answer is", "answers are"), named, named)
}

// listWaiting lists what waits for a decision, and the commands that decide.
func listWaiting(c *call, dir string, all []waitingRecord, broken error) error {
	err := c.answer(undecided{orEmpty(all)}, func() {
		for i, w := range all {
			if i > 0 {
				c.line("")
			}
			for _, line := range w.lines() {
				c.line(line)
			}
		}
	})
	switch {
	case err != nil:
		return err
	case broken != nil:
		c.say("%v", broken)
		return exit{exitFindings, errors.New("what is broken can be rejected: traceforge reject ID")}
	case len(all) == 0:
		c.say("%s: nothing is pending", dir)
		return nil
	}
	named := option(" --dir ", c.dirFlag())
	c.say("%s: %s pending: traceforge accept%s --all, or traceforge reject%s --all, or name tests or IDs",
		dir, page.Count(len(all), "answer is", "answers are"), named, named)
	return exit{code: exitFindings}
}

// inStore says that a record which does not wait any more is in the store, as after an accept that was cut short. It
// is empty where the record is not there.
func inStore(s *store.Store, id string) string {
	if name, n, ok := snapshot.ParseID(id); ok {
		if doc, err := s.Load(name, store.UnknownProvider); err == nil {
			for i := range doc.Document.Snapshots {
				if r := &doc.Document.Snapshots[i]; r.Number() == n {
					return fmt.Sprintf("; %s is in the store, recorded %s", id, r.Timestamp.Format("2006-01-02 15:04:05 UTC"))
				}
			}
		}
	}
	return ""
}

// idsOf returns the ids of the records that the user names, by an id, a document's name or a test; by default all of
// them. A document that cannot be read stands for all of its records.
func idsOf(c *call, s *store.Store, all []waitingRecord, unread []string) (ids []string, err error) {
	if len(c.args) == 0 {
		for _, w := range all {
			ids = append(ids, w.ID)
		}
		return append(ids, unread...), nil
	}
	var names []string
	for _, arg := range c.args {
		found := slices.Contains(unread, arg)
		if found {
			ids = append(ids, arg)
		}
		for _, w := range all {
			if w.ID == arg || w.document == arg || isOf(w.Test, arg) {
				ids, found = append(ids, w.ID), true
			}
		}
		if !found {
			for _, w := range all {
				names = append(names, w.ID, w.document, w.Test.Name)
			}
			return nil, fmt.Errorf("no pending answer is called %s%s: traceforge %s lists them%s",
				gotest.Quote(arg), meant(arg, names), c.cmd.Name(), inStore(s, arg))
		}
	}
	return distinct(ids), nil
}

// A waitingRecord is a pending record: what it says, and what changed against the record that it would replace.
type waitingRecord struct {
	ID string `json:"id"` // of the answer
	page.Test
	Replaces   bool     `json:"replaces"`             // a record of the document has its id
	Components []string `json:"components,omitempty"` // of the request that changed, and of the answer
	Answer     string   `json:"answer"`               // in a line
	TokensIn   *int64   `json:"tokens_in,omitempty"`  // where the answer says it
	TokensOut  *int64   `json:"tokens_out,omitempty"` // where the answer says it

	document string
	older    bool // than the answer of the same call that it would replace
}

// waitingIn returns the pending records of a store, in order, and the names of the documents that cannot be read, with
// the errors of these. An error without such names means that the pending answers cannot be listed.
func waitingIn(c *call, s *store.Store) (all []waitingRecord, unread []string, err error) {
	pending := s.Pending()
	files, err := pending.List()
	if err != nil {
		return nil, nil, err
	}
	for _, file := range files {
		doc, broken := place.Load(pending, file)
		if broken != nil {
			unread, err = append(unread, nameOf(file)), errors.Join(err, broken)
			continue
		}
		if doc.Torn {
			c.say("%s: an answer that a killed run was about to keep is not whole, and left out", path.Join(pending.Dir(), file))
		}
		all = append(all, waitingOf(c, s, doc)...)
	}
	return all, unread, err
}

func waitingOf(c *call, s *store.Store, doc *store.Doc) (all []waitingRecord) {
	c.secrets.Hide(doc.Document)
	stored := map[string]*snapshot.Snapshot{}
	if was, err := s.Load(doc.Name, doc.Provider); err == nil { // else it is for accept to say
		c.secrets.Hide(was.Document)
		for i := range was.Document.Snapshots {
			stored[was.Document.Snapshots[i].ID] = &was.Document.Snapshots[i]
		}
	}
	for i := range doc.Document.Snapshots {
		record := &doc.Document.Snapshots[i]
		w := waitingRecord{ID: record.ID, Test: page.TestOf(doc.Document), Answer: page.Said(&record.Response), document: doc.Name}
		if u := record.Response.Usage; u != nil {
			w.TokensIn, w.TokensOut = u.InputTokens, u.OutputTokens
		}
		if was := stored[record.ID]; was != nil {
			w.Replaces = true
			request, answer := changed(was, record)
			w.Components = append(request, answer...)
			w.older = request == nil && answer != nil && was.Timestamp.After(record.Timestamp)
		}
		all = append(all, w)
	}
	return all
}

// changed names the components in which two records differ. Both were read from a store, so comparing them cannot fail.
func changed(was, now *snapshot.Snapshot) (request, answer []string) {
	sent, _ := drift.Compare(&was.Request, &now.Request, now.Source.Ignored)
	for _, change := range sent {
		request = append(request, change.String())
	}
	said, _ := drift.Answers(was, now)
	for _, change := range said {
		answer = append(answer, change.String())
	}
	return request, answer
}

// lines are what is listed of a pending record.
func (w *waitingRecord) lines() []string {
	const most = 100 // characters of a line
	title := w.ID
	if w.Test.Name != "" {
		title += "  " + w.Test.Name + " in " + w.Package
	}
	what := "new"
	if w.Replaces {
		what = "changed: " + strings.Join(w.Components, ", ")
		if len(w.Components) == 0 {
			what = "bought again: nothing changed"
		}
		if w.older {
			what = "older than the record; " + what
		}
	}
	lines := []string{title, "  " + page.Clip(what, most), "  answer: " + page.Clip(w.Answer, most)}
	var tokens []string // as far as they are known
	if w.TokensIn != nil {
		tokens = append(tokens, fmt.Sprintf("%d in", *w.TokensIn))
	}
	if w.TokensOut != nil {
		tokens = append(tokens, fmt.Sprintf("%d out", *w.TokensOut))
	}
	if tokens != nil {
		lines = append(lines, "  tokens: "+strings.Join(tokens, ", "))
	}
	return lines
}

// pendingIDs are the ids of pending records that are not given yet.
func pendingIDs(s *store.Store, given []string) (ids []string) {
	for doc := range readable(s.Pending()) {
		for i := range doc.Document.Snapshots {
			ids = append(ids, doc.Document.Snapshots[i].ID)
		}
	}
	return slices.DeleteFunc(ids, func(id string) bool { return slices.Contains(given, id) })
}
