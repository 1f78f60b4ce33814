package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/traceforge/traceforge-go/internal/annotation"
	"github.com/traceforge/traceforge-go/internal/git/worktree"
	"github.com/traceforge/traceforge-go/internal/gotest"
	"github.com/traceforge/traceforge-go/internal/lint"
	"github.com/traceforge/traceforge-go/internal/page"
	"github.com/traceforge/traceforge-go/internal/place"
	"github.com/traceforge/traceforge-go/internal/store"
	"github.com/traceforge/traceforge-go/internal/usage/coverage"
	"github.com/traceforge/traceforge-go/snapshot"
)

// A verification is the result of verify.
type verification struct {
	verifyReport
	dir  string           // the store, as used in messages
	used *coverage.Report // how a run used the store; empty if not requested
}

// A verifyReport is the output of verify --json.
type verifyReport struct {
	OK        bool                     `json:"ok"`                 // whether there are no findings
	Documents int                      `json:"documents"`          // number of documents that were read
	Snapshots int                      `json:"snapshots"`          // number of records that were read
	Findings  []snapshot.Finding       `json:"findings"`           // problems of the store
	Lint      []lint.Finding           `json:"lint,omitempty"`     // findings of --lint, by cause
	Notes     []snapshot.Finding       `json:"notes,omitempty"`    // remarks that are not failures
	Coverage  []coverage.PackageReport `json:"coverage,omitempty"` // how a run used the store, by package; with --receipt
	Changed   *changes                 `json:"changed,omitempty"`  // files that were checked; with --changed
	Config    []*page.Setting          `json:"config,omitempty"`   // what changed in config.json; with --changed
}

func verify(c *call, s *store.Store, dir string) error {
	v, err := find(c, s, dir)
	if err != nil {
		return err
	}
	v.OK, v.Findings, v.Coverage = len(v.all()) == 0, orEmpty(v.Findings), v.used.Packages
	c.answer(v.verifyReport, func() {
		c.page(c.stderr).Settings(v.Config)
		for _, f := range v.all() {
			c.finding(below(v.dir, f))
		}
		if len(c.values("receipt")) > 0 {
			v.used.Write(c.stdout)
		}
	})
	v.say(c)
	return withFindings(!v.OK)
}

// below returns a finding of a store, or of a pack, with the path of its file relative to the working directory.
func below(dir string, f snapshot.Finding) snapshot.Finding {
	f.File = path.Join(filepath.ToSlash(dir), f.File)
	return f
}

// all returns the findings, with those about the traffic last.
func (v *verification) all() []snapshot.Finding {
	all := slices.Clone(v.Findings)
	for i := range v.Lint {
		all = append(all, v.Lint[i].Line())
	}
	return all
}

// find looks for problems in the store, and in how a run of the tests used it.
func find(c *call, s *store.Store, dir string) (v verification, err error) {
	v = verification{dir: dir, used: &coverage.Report{}}
	config, _ := s.Config() // Verify reports its faults
	var adopted stales
	old, linter := ages{most: config.MaxAge, now: time.Now()}, lint.New(config)
	checks := []store.Check{looking(adopted.look), looking(old.look)}
	if c.is("lint") {
		checks = append(checks, linter.Check)
	}
	files, err := v.chosen(c, s)
	if err != nil {
		return v, err
	}
	result, err := proven(s, files, checks...)
	if err != nil {
		return v, err
	}
	v.Documents, v.Snapshots = result.Documents, result.Calls
	stale, notes, err := adopted.held(c.value("max-stale"))
	if err != nil {
		return v, err
	}
	found, aging := old.held()
	v.Notes = slices.Concat(result.Notes, aging, notes, notePending(c, s), lost(c, s, dir))
	if v.Changed != nil {
		v.Notes = append(v.Notes, v.Changed.hidden(c, dir)...)
	}
	v.Findings = slices.Concat(result.Findings, stale, found)
	if c.is("lint") {
		v.lint(c, linter)
	}
	if c.is("secrets") {
		v.Findings = append(v.Findings, leaked(c, s)...)
	}
	left := c.values("receipt")
	if len(left) == 0 {
		return v, nil
	}
	run, err := coverage.ReadRun(c.ctx, left, dir)
	if err != nil {
		return v, err
	}
	if v.used, err = run.Report(s); err != nil && len(v.Findings) == 0 {
		return v, err
	}
	v.Findings = append(v.Findings, v.used.Findings()...)
	return v, nil
}

// chosen returns the files to check: those of the tests that the user names, or those that changed since a revision. It
// is nil if everything is checked.
func (v *verification) chosen(c *call, s *store.Store) (files []string, err error) {
	revision := c.value("changed")
	switch {
	case revision != "" && len(c.args) > 0:
		return nil, usagef("--changed goes without names of tests")
	case revision == "":
		for _, word := range c.args {
			found, err := documentsNamed(s, v.dir, word)
			if err != nil {
				return nil, err
			}
			files = append(files, found...)
		}
		return files, nil
	}
	if err := s.CheckTexts(); err != nil {
		return nil, err
	}
	if v.Changed, v.Config, err = changesSince(c, s, v.dir, revision); err != nil || v.Changed.all() {
		return nil, err
	}
	return v.Changed.Files, nil
}

// documentsNamed returns the documents that a word refers to. It is a document's name, its file, the id of a record, a
// program, the beginning of several names, or a test. It may return both documents and an error for those that could
// not be read.
func documentsNamed(s *store.Store, dir, word string) (named []string, err error) {
	files, err := s.List()
	if err != nil {
		return nil, err
	}
	document, _, _ := snapshot.ParseID(word)
	program := snapshot.DocumentName(snapshot.ProgramPackage, word)
	for _, file := range files {
		switch name := nameOf(file); {
		case name == word || file == word || name == document || name == program:
			return []string{file}, nil
		case strings.Contains("-"+name, "-"+word): // the package or the test begins with the word
			named = append(named, file)
		}
	}
	if len(named) > 0 {
		return named, nil
	}
	docs, err := place.OfTest(s, word)
	for _, doc := range docs {
		named = append(named, doc.File())
	}
	if len(named) == 0 && err == nil {
		err = noDocument(s, dir, word)
	}
	return named, err
}

// noDocument is the error for a word that matches no document and no test.
func noDocument(s *store.Store, dir, word string) error {
	if isDir(word) {
		return usagef("%s is a directory, and an argument is a test: name a store with --dir %s", gotest.Quote(word),
			gotest.Quote(word))
	}
	return fmt.Errorf("%s has no document whose name has %q, nor one of a test of that name%s", dir, word,
		meant(word, testNames(s)))
}

// say prints everything besides the findings, and how to fix the findings.
func (v *verification) say(c *call) {
	for _, f := range v.Notes {
		c.say("%s", below(v.dir, f))
	}
	if annotation.Wanted() {
		for _, f := range v.all() {
			if f.Rule != "drifted" && f.Rule != "unrecorded" { // the tests have reported these at their lines
				annotate(c, v.dir, f)
			}
		}
	}
	c.sayAll(v.used.Reasons())
	tally := page.Count(v.Documents, "document", "documents") + " of " + page.Count(v.Snapshots, "call", "calls")
	if v.Changed != nil {
		v.Changed.say(c)
	}
	all := v.all()
	if len(all) == 0 {
		nothing := "nothing"
		if slices.ContainsFunc(v.Notes, func(f snapshot.Finding) bool { return f.Rule == ruleLost }) {
			nothing += " else"
		}
		c.say("%s: %s, %s is wrong", v.dir, tally, nothing)
		return
	}
	c.say("%s: %s, %s", v.dir, tally, page.Count(len(all), "finding", "findings"))
	if len(v.Lint) > 0 {
		c.say(`to silence a rule, say why in %s: "lint": {"silence": [{"rule": %q, "why": "…"}]}`, store.ConfigName,
			v.Lint[0].Rule)
	}
	c.sayAll(remediesOf(c, v.Findings, v.dir))
	if len(v.used.Unanswered) > 0 {
		c.say("record calls that have no snapshot, or accept what drifted, with %s", v.used.Accept)
	}
	if len(v.used.Orphans) > 0 {
		c.say("remove what no test uses with traceforge prune --write")
	}
}

// annotate reports a finding to GitHub Actions, which shows it at its file.
func annotate(c *call, dir string, f snapshot.Finding) {
	file := path.Join(filepath.ToSlash(dir), f.File)
	if wd, err := os.Getwd(); err == nil && !filepath.IsAbs(dir) {
		file = annotation.Path(wd, file)
	}
	text := f.Message
	if f.Pointer != "" {
		text = f.Pointer + ": " + text
	}
	c.command(annotation.Error(file, 0, "traceforge verify: "+f.Rule, text))
}

// lint reports on the store's traffic, and on mistakes in the lint settings of config.json.
func (v *verification) lint(c *call, l *lint.Linter) {
	v.Lint = l.Findings()
	c.secrets.Hide(&v.Lint)
	v.Findings = append(v.Findings, l.Wrong()...)
}

// changes are the files of a store that a branch changed.
type changes struct {
	Since string   `json:"since"` // commit where the branch left the named revision
	Files []string `json:"files"` // paths of the files in the store

	Removed []string `json:"removed,omitempty"` // documents among the files that no longer exist
}

// changesSince returns the differences between the store in dir and the commit where the branch left a revision, and
// the differences in config.json among them.
func changesSince(c *call, s *store.Store, dir, revision string) (*changes, []*page.Setting, error) {
	c.ctx = worktree.Remember(c.ctx)
	revision, err := worktree.OfSubmodule(c.ctx, ".", dir, revision)
	if err != nil {
		return nil, nil, err
	}
	since, files, err := worktree.Changed(c.ctx, dir, revision)
	if err != nil {
		return nil, nil, err
	}
	ch := &changes{Since: since, Files: orEmpty(files)}
	for _, file := range files {
		_, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(file)))
		if errors.Is(err, fs.ErrNotExist) && strings.Count(file, "/") == 1 && path.Ext(file) == ".json" {
			ch.Removed = append(ch.Removed, file)
		}
	}
	if !ch.all() {
		return ch, nil, nil
	}
	base, err := openState(c.ctx, since, dir)
	if err != nil {
		return nil, nil, err
	}
	defer base.close()
	config, err := settings(c, base.Store, s)
	return ch, config, err
}

// all reports whether everything is checked, since the rules of config.json apply to all documents.
func (ch *changes) all() bool { return slices.Contains(ch.Files, store.ConfigName) }

// hidden notes that attributes of the repository hide documents from reviewers, which the store's own attributes do
// not.
func (ch *changes) hidden(c *call, dir string) []snapshot.Finding {
	isNone := func(file string) bool { _, _, ok := store.ParseDocumentFile(file); return !ok }
	names, err := worktree.Hidden(c.ctx, dir, slices.DeleteFunc(slices.Clone(ch.Files), isNone))
	if err != nil || len(names) == 0 {
		return nil
	}
	message := "git diff does not show it, or hosts collapse it, as attributes of the repository say (git check-attr -a): review it with traceforge diff"
	if more := len(names) - 1; more > 0 {
		message += fmt.Sprintf("; the same of %d more", more)
	}
	return []snapshot.Finding{{File: names[0], Rule: snapshot.RuleAttributes, Message: message}}
}

// say reports which files were checked, and what this check cannot detect.
func (ch *changes) say(c *call) {
	if ch.all() {
		c.say("config.json differs from %.12s: everything was looked at, as its rules are of all documents", ch.Since)
	} else {
		c.say("only what differs from %.12s was looked at: %s; the manifest and other documents were not read",
			ch.Since, page.Count(len(ch.Files), "file", "files"))
	}
	if len(ch.Removed) > 0 {
		c.say("%s removed: %s", page.Count(len(ch.Removed), "document", "documents"),
			strings.Join(page.Most(filesShown, ch.Removed, "more"), ", "))
	}
}
