package main

import (
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/traceforge/traceforge-go/internal/git"
	"github.com/traceforge/traceforge-go/internal/git/worktree"
	"github.com/traceforge/traceforge-go/internal/gotest"
	"github.com/traceforge/traceforge-go/internal/inorder"
	"github.com/traceforge/traceforge-go/internal/lint"
	"github.com/traceforge/traceforge-go/internal/page"
	"github.com/traceforge/traceforge-go/internal/place"
	"github.com/traceforge/traceforge-go/internal/store"
	"github.com/traceforge/traceforge-go/internal/store/audit"
	"github.com/traceforge/traceforge-go/snapshot"
)

// filesShown is the maximum number of files in a line; once these are fixed, verify names the next ones.
const filesShown = 5

const mergeSides = "merge the records of both sides: traceforge repair"

// remediesOf returns, in order, how to fix the findings in the store in dir that do not include their own remedy.
func remediesOf(c *call, found []snapshot.Finding, dir string) []string {
	if slices.ContainsFunc(found, func(f snapshot.Finding) bool { return f.File == store.JournalName }) {
		return []string{"first finish or undo the commit that was cut short: traceforge repair",
			"then run traceforge verify again"}
	}
	var lines, stray, lost []string
	add := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	for _, f := range found {
		if f.Rule == snapshot.RuleVersion &&
			(f.Pointer == "" || f.Message == snapshot.OtherVersion(snapshot.VersionSF).Message) {
			continue // the document has the layout or numbering of SF, and the finding includes how to upgrade it
		}
		switch f.Rule {
		case "unused", "drifted", "unrecorded", ruleAge, ruleSecret, lint.RuleConfig, snapshot.RuleManifest,
			snapshot.RuleBehind, snapshot.RulePending,
			// their findings include it
			snapshot.RuleAttributes, snapshot.RuleRules, snapshot.RuleDuplicate, snapshot.RuleNewer, snapshot.RulePointer:
		case snapshot.RuleStray:
			if audit.IsSurplus(f) { // the other findings say what else to do
				stray = append(stray, f.File)
			}
		case snapshot.RuleConflict:
			if lines == nil && f.File != store.ConfigName { // which only people can merge
				add(mergeSides)
			}
		default:
			if strings.HasSuffix(f.Message, snapshot.Unsealed) {
				continue // the finding includes it
			}
			file := f.File
			if f.Pointer != "" && (f.Rule == snapshot.RuleRaw || f.Rule == snapshot.RuleMedia) {
				file = strings.TrimSuffix(file, ".json") // the files that the document refers to exist
			}
			if file != "" {
				lost = inorder.With(lost, file)
			}
		}
	}
	if rest := withoutConflicts(c, dir, lost); len(rest) < len(lost) {
		if lost = rest; lines == nil {
			add(mergeSides)
		}
	}
	if kept := worktree.InHead(c.ctx, dir, lost); len(kept) > 0 {
		program, named := git.At(dir)
		if slices.ContainsFunc(found, hasOtherLineEnds) { // git skips files that it believes to be unchanged
			add("restore with git: %[1]s rm -rq --cached %[2]s && %[1]s checkout HEAD -- %[2]s (when traceforge repair has written .gitattributes)",
				program, gotest.Quote(named))
		} else {
			shown := kept[:min(len(kept), filesShown)] // the line is pasted
			add("restore with git: %s checkout HEAD -- %s (if the damage is committed, name an earlier commit in place of HEAD)",
				program, listed(named, shown))
			if more := len(kept) - len(shown); more > 0 {
				add("and so %s more", page.Count(more, "file", "files"))
			}
		}
	}
	again := testsOf(dir, lost)
	if len(again) > 0 && len(lines) == 0 {
		again[0] = strings.TrimPrefix(again[0], "or ")
	}
	lines = append(lines, again[:min(len(again), filesShown)]...)
	if more := len(again) - filesShown; more > 0 {
		add("and so %s more", page.Count(more, "test", "tests"))
	}
	if len(stray) > 0 {
		add("delete what does not belong in a store: %s", listed(dir, stray))
	}
	if len(lines) > 1 {
		add("then run traceforge verify again")
	}
	return lines
}

// withoutConflicts returns the files of the store in dir except those of documents that git could not merge. Git may
// leave such a document without conflict markers, and without files next to it that only one side removed.
func withoutConflicts(c *call, dir string, files []string) []string {
	conflicts, _ := git.Run(c.ctx, dir, "ls-files", "--unmerged") // none outside of a repository
	return slices.DeleteFunc(slices.Clone(files), func(file string) bool {
		return strings.Contains(conflicts, "\t"+strings.TrimSuffix(store.DocumentOf(file), ".json"))
	})
}

// hasOtherLineEnds reports whether a finding is about line endings that git changed.
func hasOtherLineEnds(f snapshot.Finding) bool {
	return f.Rule == snapshot.RuleCanonical && strings.HasPrefix(f.Message, "has CRLF line ends")
}

// option returns the flag that names a directory on a command line, or "".
func option(flag, dir string) string {
	if dir == "" {
		return ""
	}
	return flag + gotest.Quote(dir)
}

// testsOf returns how to re-record lost files, if the documents still show which tests they belong to.
func testsOf(dir string, lost []string) (lines []string) {
	var documents []string // many files may belong to one
	for _, file := range lost {
		documents = inorder.With(documents, store.DocumentOf(file))
	}
	for _, document := range documents {
		if again := recordAgain(place.TestOfBroken(dir, document)); again != "" {
			lines = inorder.With(lines, "or record again: "+again)
		}
	}
	return lines
}

// recordAgain returns the command that re-records the calls of a test, or of a program, whose function is its command.
// It is empty if go test runs no test with that name.
func recordAgain(test page.Test, function string) string {
	if !test.OfProgram() && !isRun(test.Name) {
		return ""
	}
	return page.Again([]page.Place{{Package: test.Package, Test: test.Name, Command: function}}, "")
}

// listed formats files of the store in dir for a command line.
func listed(dir string, files []string) string {
	var words []string
	for _, file := range files[:min(len(files), filesShown)] {
		words = append(words, gotest.Quote(path.Join(filepath.ToSlash(dir), file)))
	}
	if more := len(files) - filesShown; more > 0 {
		words = append(words, fmt.Sprintf("(and %d more)", more))
	}
	return strings.Join(words, " ")
}
