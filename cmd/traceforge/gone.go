package main

import (
	"fmt"
	"io"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/traceforge/traceforge-go/internal/git"
	"github.com/traceforge/traceforge-go/internal/git/worktree"
	"github.com/traceforge/traceforge-go/internal/gotest"
	"github.com/traceforge/traceforge-go/internal/page"
	"github.com/traceforge/traceforge-go/internal/place"
	"github.com/traceforge/traceforge-go/internal/store"
	"github.com/traceforge/traceforge-go/internal/usage"
	"github.com/traceforge/traceforge-go/internal/usage/coverage"
	"github.com/traceforge/traceforge-go/snapshot"
)

// ruleLost is the rule of verify's own for documents that git has, of tests that are there.
const ruleLost = "lost"

// mostLooked is how many documents of tests that did not run are looked at.
const mostLooked = 1_000

// sayGone names the tests that the code does not have any more, and that have documents which the run did not use.
func (c *call) sayGone(out io.Writer, receipts []usage.Receipt) error {
	s, _, err := place.OpenStore("")
	if err != nil {
		return nil // the tests use none, or others
	}
	files, err := s.List()
	if err != nil {
		return err
	}
	used := map[string]bool{}
	for _, r := range receipts {
		used[snapshot.DocumentName(r.Package, r.Test)] = true
	}
	files = slices.DeleteFunc(files, func(file string) bool { return used[nameOf(file)] })
	if len(files) == 0 || len(files) > mostLooked {
		return nil
	}
	var tests []page.Test
	for _, file := range files {
		if doc, err := place.Load(s, file); err == nil { // else verify tells
			tests = append(tests, page.TestOf(doc.Document))
		}
	}
	return c.gone(tests, func(line string) { c.lineTo(out, "traceforge: "+line) })
}

// gone says which of these tests, that have documents, the code does not have. It says nothing where it has all of
// them.
func (c *call) gone(tests []page.Test, say func(line string)) error {
	src, err := c.sources()
	if err != nil {
		return err
	}
	var gone []string
	for _, test := range tests {
		if !test.OfProgram() && src.Gone(test.Package, test.Name) != "" {
			gone = append(gone, test.Name)
		}
	}
	if len(gone) > 0 {
		slices.Sort(gone)
		say(fmt.Sprintf("%s of tests that are gone: %s: traceforge prune --write removes them",
			page.Count(len(gone), "document is", "documents are"), strings.Join(page.Most(3, gone, "more"), ", ")))
	}
	return nil
}

// lost finds documents that git has and the store does not, of tests that are still there.
func lost(c *call, s *store.Store, dir string) (found []snapshot.Finding) {
	deleted, err := worktree.Deleted(c.ctx, dir)
	if err != nil || len(deleted) == 0 {
		return nil // there is no repository, or nothing is missing
	}
	files, err := s.List()
	if err != nil {
		return nil // Verify tells
	}
	there := map[string]bool{}
	for _, file := range files {
		there[nameOf(file)] = true
	}
	src, err := coverage.OpenSources(c.ctx, filepath.Dir(dir))
	if err != nil {
		return nil
	}
	for _, file := range deleted {
		if strings.Count(file, "/") != 1 || path.Ext(file) != ".json" || there[nameOf(file)] || len(found) == mostLooked {
			continue
		}
		text, _ := git.Run(c.ctx, dir, "show", ":./"+file) // else it is no document
		doc, err := snapshot.Parse([]byte(text))
		if err != nil {
			continue
		}
		if test := page.TestOf(doc); test.Package != "" && !test.OfProgram() && src.Gone(test.Package, test.Name) == "" {
			all := gotest.Quote(path.Join(filepath.ToSlash(dir), strings.TrimSuffix(file, ".json")+"*")) // raw answers too
			message := fmt.Sprintf("git has it, and %s in %s is still there: git checkout -- %s brings it back", test.Name, test.Package, all)
			found = append(found, snapshot.Finding{File: file, Rule: ruleLost, Message: message})
		}
	}
	return found
}
