package main

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
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

// ruleLost is verify's own rule for documents of existing tests that git has and the store lacks.
const ruleLost = "lost"

// mostLooked is the maximum number of documents examined for tests that did not run.
const mostLooked = 1_000

// sayGone lists the tests that are gone from the code and whose documents the run did not use. It also says what to do
// about them, and nothing if there are none.
func (c *call) sayGone(receipts []usage.Receipt, say func(line string)) {
	s, _, err := place.OpenStore("")
	if err != nil {
		return // the tests use no store, or other ones
	}
	files, err := s.List()
	c.fail(err)
	used, wayOut := map[string]bool{}, "traceforge prune --write removes them"
	for _, r := range receipts {
		used[snapshot.DocumentName(r.Package, r.Test)] = true
		if r.Missing > 0 && r.Document == "" { // it may be a renamed test
			wayOut = "if one was renamed, traceforge update keeps its answers; traceforge prune --write removes the others"
		}
	}
	files = slices.DeleteFunc(files, func(file string) bool { return used[nameOf(file)] })
	if len(files) == 0 || len(files) > mostLooked {
		return
	}
	src, err := c.sources()
	c.fail(err)
	var gone []string
	for _, file := range files {
		doc, err := place.Load(s, file)
		if err != nil {
			continue // verify reports it
		}
		if test := page.TestOf(doc.Document); src.Gone(test.Package, test.Name) != "" { // of a program, nothing is known
			gone = append(gone, test.Name)
		}
	}
	if len(gone) > 0 {
		slices.Sort(gone)
		say(fmt.Sprintf("%s of tests that are gone: %s: %s", page.Count(len(gone), "document is", "documents are"),
			strings.Join(page.Most(3, gone, "more"), ", "), wayOut))
	}
}

// lost finds documents of existing tests that git has and the store lacks.
func lost(c *call, s *store.Store, dir string) (found []snapshot.Finding) {
	deleted, _ := worktree.Deleted(c.ctx, dir) // none outside of a repository
	if len(deleted) == 0 {
		return nil
	}
	src, err := coverage.OpenSources(c.ctx, filepath.Dir(dir))
	if err != nil {
		return nil
	}
	var missing []worktree.File
	for _, file := range deleted {
		if _, _, ok := store.ParseDocumentFile(file); ok {
			missing = append(missing, worktree.File{Name: file, Object: ":./" + file})
		}
	}
	for some := range slices.Chunk(missing, copied) {
		texts := c.textsOf(dir, some) // without its text, a file is no document
		for _, f := range some {
			doc, err := snapshot.Parse([]byte(texts[f.Object]))
			if err != nil || len(found) == mostLooked {
				continue
			}
			test := page.TestOf(doc)
			_, err = s.Load(snapshot.DocumentName(test.Package, test.Name), store.UnknownProvider) // under any name
			names, _ := src.Functions(test.Package)
			if errors.Is(err, fs.ErrNotExist) && slices.Contains(names, gotest.Function(test.Name)) {
				program, named := git.At(dir)
				all := gotest.Quote(path.Join(named, strings.TrimSuffix(f.Name, ".json")+"*")) // includes raw answers
				message := fmt.Sprintf("git has it, and %s in %s is still there: %s checkout -- %s brings it back",
					test.Name, test.Package, program, all)
				found = append(found, snapshot.Finding{File: f.Name, Rule: ruleLost, Message: message})
			}
		}
	}
	return found
}

// textsOf returns the contents of files by their objects, as far as git has them. git prints nothing if a partial clone
// lacks one of them, so textsOf then asks for each half of the files.
func (c *call) textsOf(dir string, files []worktree.File) map[string]string {
	texts, err := worktree.Contents(c.ctx, dir, files)
	if half := len(files) / 2; err != nil && half > 0 {
		texts = c.textsOf(dir, files[:half])
		maps.Copy(texts, c.textsOf(dir, files[half:]))
	}
	return texts
}
