package main

import (
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/traceforge/traceforge-go/internal/gotest"
	"github.com/traceforge/traceforge-go/internal/page"
	"github.com/traceforge/traceforge-go/internal/place"
	"github.com/traceforge/traceforge-go/internal/usage/coverage"
	"github.com/traceforge/traceforge-go/snapshot"
)

// Remedies are what to do about the findings in a store, where their messages do not say it.
type remedies struct {
	dir   string // of the store, as messages name it
	named string // as the user named it; empty: not at all

	stray, lost []string // files
	conflicts   bool
	tests       []page.Test // whose documents are broken
}

// remediesOf says what to do about what was found in the store in dir; named is how the user named it.
func remediesOf(found []snapshot.Finding, dir, named string) []string {
	r := &remedies{dir: dir, named: named}
	for _, f := range found {
		r.add(f)
	}
	r.findTests()
	return r.lines()
}

func (r *remedies) add(f snapshot.Finding) {
	switch f.Rule {
	case "unused", "unrecorded", snapshot.RuleManifest, snapshot.RuleBehind, snapshot.RulePending,
		snapshot.RuleAttributes, snapshot.RuleDuplicate: // others say it
	case snapshot.RuleStray:
		r.stray = append(r.stray, f.File)
	case snapshot.RuleConflict:
		r.conflicts = true
	default:
		file := f.File
		if f.Pointer != "" && (f.Rule == snapshot.RuleRaw || f.Rule == snapshot.RuleMedia) {
			file = strings.TrimSuffix(file, ".json") // what the document names is there
		}
		if file != "" && !slices.Contains(r.lost, file) {
			r.lost = append(r.lost, file)
		}
	}
}

// findTests notes which tests can record again what was lost, where the document still tells it.
func (r *remedies) findTests() {
	for _, file := range r.lost {
		test := place.TestOfBroken(r.dir, file)
		test.Test, _, _ = strings.Cut(test.Test, "/")
		if gotest.Kind(test.Test) != "" && !slices.Contains(r.tests, test) {
			r.tests = append(r.tests, test)
		}
	}
}

// lines returns a line for each thing to do, in order.
func (r *remedies) lines() []string {
	var lines []string
	add := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	if r.conflicts {
		add("merge the records of both sides: traceforge repair%s", r.dirFlag())
	}
	if len(r.lost) > 0 {
		add("restore with git: %s, or of an earlier commit if it was committed so", r.git("checkout HEAD", r.lost))
	}
	for i, t := range r.tests {
		if i == filesShown {
			add("and so %s more", page.Count(len(r.tests)-i, "test", "tests"))
			break
		}
		pattern := gotest.Quote(gotest.Pattern(t.Test))
		add("or record again: go test %s -run %s -update", gotest.Quote(t.Package), pattern)
	}
	if len(r.stray) > 0 {
		add("delete what does not belong in a store: %s", r.files(r.stray))
	}
	if len(lines) > 1 {
		again := ""
		if r.named != "" {
			again = " " + gotest.Quote(r.named)
		}
		add("then run traceforge verify%s again", again)
	}
	return lines
}

func (r *remedies) dirFlag() string {
	if r.named == "" {
		return ""
	}
	return " --dir " + gotest.Quote(r.named)
}

// filesShown is how many files a line names; when these are done, verify names the next.
const filesShown = 5

func (r *remedies) git(args string, files []string) string {
	dir := ""
	if filepath.IsAbs(r.dir) { // maybe in another repository than the working directory
		dir = " -C " + gotest.Quote(r.dir)
	}
	return "git" + dir + " " + args + " -- " + r.files(files)
}

func (r *remedies) files(files []string) string {
	var words []string
	for i, file := range files {
		if i == filesShown {
			words = append(words, fmt.Sprintf("(and %d more)", len(files)-i))
			break
		}
		words = append(words, gotest.Quote(path.Join(filepath.ToSlash(r.dir), file)))
	}
	return strings.Join(words, " ")
}

// updateOf is the command that records tests again.
func updateOf(missing []coverage.Unanswered) string {
	var tests, packages []string
	for _, m := range missing {
		top, _, _ := strings.Cut(m.Test.Test, "/")
		if gotest.Kind(top) == "" {
			top = "" // it runs in a test function that is not known
		}
		tests, packages = append(tests, top), append(packages, gotest.Quote(m.Package))
	}
	slices.Sort(tests)
	slices.Sort(packages)
	tests, packages = slices.Compact(tests), slices.Compact(packages)
	if len(packages) > filesShown {
		packages = nil // all
	}
	command := "traceforge update"
	switch {
	case tests[0] == "" || len(tests) > filesShown:
	case len(tests) == 1:
		command += " --run " + gotest.Quote(gotest.Pattern(tests[0]))
	default:
		command += " --run " + gotest.Quote("^("+strings.Join(tests, "|")+")$")
	}
	return strings.Join(append([]string{command}, packages...), " ")
}
