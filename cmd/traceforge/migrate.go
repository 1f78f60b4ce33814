package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/traceforge/traceforge-go/internal/foreign"
	"github.com/traceforge/traceforge-go/internal/page"
	"github.com/traceforge/traceforge-go/internal/place"
	"github.com/traceforge/traceforge-go/internal/recorder"
	"github.com/traceforge/traceforge-go/internal/store"
	"github.com/traceforge/traceforge-go/snapshot"
)

// fromCassettes is what --from says of TraceForge's cassettes, which have versions of their own.
const fromCassettes = "cassettes"

// A migrated is a document that migrate brings into the store, or would bring.
type migrated struct {
	File  string   `json:"file"` // in the store
	Calls int      `json:"calls"`
	From  []string `json:"from"` // files
	Raw   bool     `json:"raw"`  // it has the answers' own bytes, so that replay can serve them
	There bool     `json:"there"`
}

// Migrations are what migrate prints for a program.
type migrations struct {
	OK        bool               `json:"ok"`
	Documents int                `json:"documents"` // files that were read
	Findings  []snapshot.Finding `json:"findings"`
	Migrated  []migrated         `json:"migrated"`
	Removed   []string           `json:"removed"` // files of the store that documents replace
	Written   bool               `json:"written"`
}

func migrate(c *call) error {
	from, to := c.value("from"), c.value("to")
	if from == "" || to == "" {
		return usagef("--from and --to must name versions, such as %s", snapshot.Version)
	}
	if to != snapshot.Version {
		return fmt.Errorf("migrate to %s: %w: the current version is %s", to, snapshot.ErrVersion, snapshot.Version)
	}
	if (c.value("test") == "") != (c.value("package") == "") {
		return usagef("--test and --package together name the test that makes the calls")
	}
	scratch, err := os.MkdirTemp("", "traceforge-migrate-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	dir, err := place.StoreDir(c.value("dir"))
	if err != nil {
		return err
	}
	r := &reading{call: c, store: dir, scratch: scratch}
	if err := r.readAll(); err != nil {
		return err
	}
	m := &migration{reading: r}
	if err := m.plan(); err != nil {
		return err
	}
	written := c.is("write") && len(r.found) == 0
	if written {
		if err := m.write(); err != nil {
			return err
		}
	}
	return m.tell(written)
}

// A migration brings what was read into a store.
type migration struct {
	*reading
	into     *store.Store
	change   store.Change
	made     []migrated // those of the store itself first
	renewed  int        // so many are the store's own
	replaced []string   // files of the store that documents of others take the place of
}

// plan makes the change, and holds it to all that verify asks of a store.
func (m *migration) plan() (err error) {
	if m.into, err = store.Open(m.store); err != nil {
		return err
	}
	m.into.Waiting = func(holder string) { m.say("waiting for the store, which %s holds", holder) }
	if err := m.renew(); err != nil {
		return err
	}
	replaced := map[string]bool{}
	for _, d := range foreign.Documents(m.calls) {
		_, err := m.into.Load(d.Name, d.Provider)
		made := migrated{d.File(), len(d.Document.Snapshots), d.Files, len(d.Raw) > 0, err == nil}
		m.made = append(m.made, made)
		switch {
		case err == nil:
			continue // it is left as it is
		case !errors.Is(err, fs.ErrNotExist):
			return err
		}
		m.change.Put = append(m.change.Put, d.Put)
		for _, file := range d.Files {
			replaced[file] = true
		}
	}
	for file := range replaced { // of the store itself: its document takes its place
		if in, ok := m.inStore[file]; ok {
			m.replaced = append(m.replaced, in)
		}
	}
	slices.Sort(m.replaced)
	m.change.Remove = append(m.change.Remove, m.replaced...)
	return m.prove()
}

// renew plans what brings the store's own documents of an earlier version over.
func (m *migration) renew() error {
	if m.value("from") != snapshot.VersionSF {
		return nil
	}
	change, broken, err := recorder.RenewAll(m.into)
	if err != nil {
		return err
	}
	for _, err := range broken {
		m.found = append(m.found, snapshot.Finding{File: filepath.ToSlash(m.store), Rule: snapshot.RuleVersion, Message: err.Error()})
	}
	for i, put := range change.Put {
		file := path.Join(put.Provider, put.Name+".json")
		m.made = append(m.made, migrated{file, len(put.Document.Snapshots), []string{change.Remove[i]}, true, false})
	}
	m.change, m.renewed = change, len(change.Put)
	return nil
}

// prove commits the change to a store of its own, and verifies that.
func (m *migration) prove() error {
	dir := filepath.Join(m.scratch, "proof")
	if err := m.copyConfig(dir); err != nil || len(m.change.Put) == 0 {
		return err
	}
	s, err := store.Open(dir)
	if err != nil {
		return err
	}
	if err := s.Commit(store.Change{Put: m.change.Put}); err != nil {
		return err
	}
	result, err := proven(s)
	if err != nil {
		return err
	}
	m.found = append(append(m.found, result.Findings...), leaked(m.call, s)...)
	return nil
}

// write commits the change. A manifest of SF's, which lists the files that were brought, is derived again.
func (m *migration) write() error {
	if err := m.into.Commit(m.change); err != nil {
		return err
	}
	_, err := os.Stat(filepath.Join(m.store, "manifest.json"))
	if len(m.change.Remove) > 0 && err == nil {
		return m.into.WriteManifest()
	}
	return nil
}

// tell says what was done, or would be.
func (m *migration) tell(written bool) error {
	tally := page.Count(m.files, "file", "files")
	err := m.answer(migrations{len(m.found) == 0, m.files, orEmpty(m.found), orEmpty(m.made), orEmpty(m.replaced), written}, func() {
		for _, f := range m.found {
			m.finding(f)
		}
		for _, d := range m.made {
			m.line(d.line(m.store))
		}
		for _, file := range m.replaced {
			m.line(path.Join(filepath.ToSlash(m.store), file) + "  is replaced")
		}
		if len(m.found) == 0 && len(m.made) == 0 {
			m.line(fmt.Sprintf("nothing to do: %s of version %s", tally, snapshot.Version))
		}
	})
	switch {
	case err != nil || len(m.made) == 0 && len(m.found) == 0:
		return err
	case len(m.found) > 0:
		return exit{exitFindings, fmt.Errorf("%d of %s cannot be migrated: nothing was changed: "+
			"correct or leave out what is listed, or record its calls again", filesOf(m.found), tally)}
	}
	m.sayWhatReplays()
	documents := page.Count(len(m.change.Put), "document", "documents")
	switch {
	case len(m.change.Put) == 0:
		m.say("%s: has all of them already", m.store)
	case written:
		m.say("%s: brought %s", m.store, documents)
	default:
		m.say("%s: %s to bring with --write", m.store, documents)
		return exit{code: exitFindings}
	}
	return nil
}

// line tells of a document in a line.
func (d *migrated) line(dir string) string {
	line := path.Join(filepath.ToSlash(dir), d.File) + "  " + page.Count(d.Calls, "call", "calls") + " of " + d.From[0]
	if more := len(d.From) - 1; more > 0 {
		line += fmt.Sprintf(" and %d more", more)
	}
	if d.There {
		line += ", is there already and stays as it is"
	}
	return line
}

// sayWhatReplays says what replay does with what was brought, and whose it is.
func (m *migration) sayWhatReplays() {
	bare := slices.ContainsFunc(m.made, func(d migrated) bool { return !d.Raw })
	if bare {
		m.say("SF keeps no provider's own bytes, so replay has nothing to serve of these records: " +
			"they are for verify, show and diff, and an update of their test buys the answers")
	}
	if m.value("test") == "" && !bare && len(m.made) > m.renewed {
		m.say("no test replays a document that is of none: say whose calls they are with --package PATH --test NAME")
	}
}

// filesOf counts the files that findings are in.
func filesOf(found []snapshot.Finding) int {
	var files []string
	for _, f := range found {
		files = append(files, f.File)
	}
	slices.Sort(files)
	return len(slices.Compact(files))
}
