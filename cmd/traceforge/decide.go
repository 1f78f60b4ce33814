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
	ID string `json:"id"` // id under which the answer waited
	As string `json:"as"` // id in the document, which differs if another call has taken the number
}

// The output of accept --json and reject --json: the decisions, or the answers to decide on.
type (
	acceptance struct {
		Accepted []acceptedRecord `json:"accepted"` // answers that were moved into documents
	}
	rejection struct {
		Rejected []string `json:"rejected"` // ids of the rejected answers
	}
	waitingList struct {
		Pending []waitingRecord `json:"pending"` // answers that wait for a decision
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
		c.answer(acceptance{all}, func() {
			for _, a := range all {
				line := "accepted " + a.ID
				if a.As != a.ID {
					line += " as " + a.As
				}
				c.line(line)
			}
		})
		c.say("%s accepted: replay them with %s, and commit them with git", page.Count(len(all), "answer", "answers"),
			replays(s, documents))
		return nil
	})
}

// acceptPending moves pending answers into documents. It refuses answers that recording would refuse.
func acceptPending(c *call, s *store.Store, ids []string) ([]audit.AcceptedRecord, error) {
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
		c.answer(rejection{ids}, func() {
			for _, id := range ids {
				c.line("rejected " + id)
			}
		})
		c.say("%s rejected: the next update buys what is still needed", page.Count(len(ids), "answer", "answers"))
		return nil
	})
}

// decide calls do with the ids of the pending records that the user names; without names it lists the pending records.
// verb is "accept" or "reject".
func decide(c *call, s *store.Store, dir, verb string, do func(ids []string) error) error {
	all, unread, broken := waitingIn(c, s)
	switch {
	case broken != nil && unread == nil:
		return broken
	case len(c.args) == 0 && !c.is("all"):
		return listWaiting(c, dir, all, broken)
	case c.is("all") && len(c.args) > 0:
		return usagef("--all goes without an ID")
	case broken != nil && verb == "accept":
		return fmt.Errorf("%w\nnothing was accepted: traceforge reject ID removes what is broken", broken)
	}
	ids, err := idsOf(c, s, all, unread)
	switch {
	case verb == "accept" && err != nil:
		return c.acceptReviewed(s, dir, err)
	case verb == "accept":
		all = slices.DeleteFunc(all, func(w waitingRecord) bool { return !slices.Contains(ids, w.ID) })
		err = refuseOlder(c, all)
	}
	if err != nil {
		return err
	}
	if len(ids) == 0 {
		c.say("%s: nothing is pending", dir)
		c.answer(map[string][]string{verb + "ed": {}}, func() {})
		return nil
	}
	return do(ids)
}

// acceptReviewed accepts the arguments like review does, if one of them is not the name of a pending answer. They may
// name causes, and tests whose records changed. The error is unknown if review does not recognize one of them either.
// reject does not do this, since a misspelled word must not delete a recording that git does not have.
func (c *call) acceptReviewed(s *store.Store, dir string, unknown error) error {
	r := &reviewRun{c: c, store: s, dir: dir}
	defer r.close()
	if err := r.gather(); err != nil {
		return unknown
	}
	if _, _, err := r.find(c.args); err != nil {
		return unknown
	}
	err := r.decideNamed(c.args, nil)
	if errors.Is(err, exitWith(exitFindings)) { // other groups are left, which were not named
		err = nil
	}
	return err
}

// refuseOlder refuses to accept an answer that is older than the record that it would replace. An answer that the user
// names by its id is accepted.
func refuseOlder(c *call, all []waitingRecord) error {
	var older []string
	named := slices.Concat(c.args, c.values("accept")) // review has the option
	for _, w := range all {
		if w.older && !slices.Contains(named, w.ID) {
			older = append(older, w.ID)
		}
	}
	if older == nil {
		return nil
	}
	ids := strings.Join(older, " ")
	return fmt.Errorf("%s older than what was recorded of the same call since: nothing was accepted\n"+
		"remove what is older: traceforge reject %s\nor take it all the same: traceforge accept %s",
		page.Count(len(older), "answer is", "answers are"), ids, ids)
}

// listWaiting lists the records that wait for a decision, and the commands that decide.
func listWaiting(c *call, dir string, all []waitingRecord, broken error) error {
	c.answer(waitingList{orEmpty(all)}, func() {
		for i, w := range all {
			if i > 0 {
				c.line("")
			}
			c.line(w.lines()...)
		}
	})
	switch {
	case broken != nil:
		c.say("%v", broken)
		return exit{exitFindings, errors.New("what is broken can be rejected: traceforge reject ID")}
	case len(all) == 0:
		c.say("%s: nothing is pending", dir)
		return nil
	}
	c.say("%s: %s pending: traceforge accept --all, or traceforge reject --all, or name tests or IDs",
		dir, page.Count(len(all), "answer is", "answers are"))
	return exit{code: exitFindings}
}

// inStore returns a message that a record which no longer waits is in the store, for example after an interrupted
// accept. It is empty if the record is not there.
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

// idsOf returns the ids of the records that the user names by id, document or test; by default all of them. A document
// that cannot be read stands for all of its records.
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
	return page.Distinct(ids), nil
}

// A waitingRecord is a pending record: a description, and the changes from the record that it would replace.
type waitingRecord struct {
	ID string `json:"id"` // id of the answer
	page.Test
	Replaces   bool     `json:"replaces"`             // whether a record of the document has the same id
	Components []string `json:"components,omitempty"` // components of the request that changed, and of the answer
	Answer     string   `json:"answer"`               // the answer in one line
	TokensIn   *int64   `json:"tokens_in,omitempty"`  // input tokens, if the answer has their number
	TokensOut  *int64   `json:"tokens_out,omitempty"` // output tokens, if the answer has their number

	document string
	older    bool // older than the answer to the same call that it would replace
}

// waitingIn returns the pending records of a store, in order, and the names of the documents that cannot be read, with
// their errors. An error without such names means that the pending answers cannot be listed.
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
	if was, err := s.Load(doc.Name, doc.Provider); err == nil { // otherwise accept reports it
		c.secrets.Hide(was.Document)
		for i := range was.Document.Snapshots {
			stored[was.Document.Snapshots[i].ID] = &was.Document.Snapshots[i]
		}
	}
	for i := range doc.Document.Snapshots {
		record := &doc.Document.Snapshots[i]
		w := waitingRecord{ID: record.ID, Test: page.TestOf(doc.Document), Answer: page.Said(&record.Response),
			document: doc.Name}
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

// changed returns the names of the components in which two records differ. Requests in which two hidden secrets have
// become one name of a member are not compared.
func changed(was, now *snapshot.Snapshot) (request, answer []string) {
	compare := drift.NewComparer(now.Source.Ignored)
	before, err := compare.Request(&was.Request)
	after, err2 := compare.Request(&now.Request)
	if errors.Join(err, err2) == nil {
		for _, change := range compare.Changes(before, after) {
			request = append(request, change.String())
		}
	}
	said, _ := page.Answers(was, now)
	for _, change := range said {
		answer = append(answer, change.String())
	}
	return request, answer
}

// lines returns the lines of the list about a pending record.
func (w *waitingRecord) lines() []string {
	const most = 100 // characters in a line
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
	var tokens []string // if known
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

// pendingIDs returns the ids of pending records other than the given ones.
func pendingIDs(s *store.Store, given []string) (ids []string) {
	for doc := range place.Readable(s.Pending(), nil) {
		for i := range doc.Document.Snapshots {
			ids = append(ids, doc.Document.Snapshots[i].ID)
		}
	}
	return slices.DeleteFunc(ids, func(id string) bool { return slices.Contains(given, id) })
}
