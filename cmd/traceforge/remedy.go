package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/traceforge/traceforge-go/internal/gotest"
	"github.com/traceforge/traceforge-go/snapshot"
)

// Remedies are what mends the findings in a store, by what is to be done.
type remedies struct {
	dir  string // of the store, as messages name it
	args string // what names the store to other commands; empty: nothing need to

	stray, extra, misnamed []string // files
	missing, broken        []string
	records, blobs         []string // with conflict markers
	lostBlobs              bool     // missing or altered
	orphans, manifest      bool
	tests                  []testOf // of broken records
}

// sayRemedies says how to mend what was found in the store in dir; named is how the user named it.
func sayRemedies(con *console, found []snapshot.Finding, dir, named string) {
	r := &remedies{dir: dir}
	if named != "" {
		r.args = " " + gotest.Quote(named)
	}
	rules := map[string][]string{} // by file
	for _, f := range found {
		rules[f.File] = append(rules[f.File], f.Rule)
	}
	for _, f := range found {
		if file := f.File; file != "" && rules[file] != nil {
			r.add(file, rules[file])
			rules[file] = nil // once
		}
	}
	for _, line := range r.lines() {
		con.say("%s", line)
	}
}

// add takes a file that broke rules.
func (r *remedies) add(file string, rules []string) {
	broke := func(rule string) bool { return slices.Contains(rules, rule) }
	isBlob := strings.HasPrefix(file, "blobs/")
	switch {
	case broke("unused"): // a matter of prune
	case broke("stray"):
		r.stray = append(r.stray, file)
	case broke("orphan") && len(rules) == 1:
		r.orphans = true
	case file == "manifest.json", broke("pending"), broke("attributes"):
		r.manifest = true
	case broke("conflict") && isBlob:
		r.blobs = append(r.blobs, file)
	case broke("conflict"):
		r.records = append(r.records, file)
	case isBlob:
		r.lostBlobs = true
	case broke("missing") && len(rules) == 1 && !r.exists(file):
		r.missing = append(r.missing, file)
	case broke("extra") && len(rules) == 1:
		r.extra = append(r.extra, file)
	case broke("extra"):
		r.misnamed = append(r.misnamed, file)
	case broke("manifest") && len(rules) == 1:
		r.manifest = true
	case broke("blob") && !slices.ContainsFunc(rules, func(rule string) bool { return rule != "blob" }):
		r.lostBlobs = true
		r.addTest(file)
	default:
		r.broken = append(r.broken, file)
		r.addTest(file)
	}
}

func (r *remedies) exists(file string) bool {
	_, err := os.Lstat(filepath.Join(r.dir, filepath.FromSlash(file)))
	return err == nil
}

// addTest notes which test the record in a file is of, where that can still be read.
func (r *remedies) addTest(file string) {
	data, err := os.ReadFile(filepath.Join(r.dir, filepath.FromSlash(file)))
	var doc struct {
		Snapshots []struct {
			Source testOf `json:"source"`
		} `json:"snapshots"`
	}
	if err != nil || json.Unmarshal(data, &doc) != nil || len(doc.Snapshots) != 1 {
		return
	}
	test := doc.Snapshots[0].Source
	test.Test, _, _ = strings.Cut(test.Test, "/")
	if gotest.Kind(test.Test) != "" && !slices.Contains(r.tests, test) {
		r.tests = append(r.tests, test)
	}
}

// lines returns a line for each thing to do, in order. What may come of another finding, or would
// make a loss permanent, is left for when the others are mended.
func (r *remedies) lines() []string {
	var lines []string
	add := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	if len(r.records) > 0 {
		add("take one side of the merge: %s, or --theirs", r.git("checkout --ours", r.records))
	}
	if len(r.blobs) > 0 {
		add("take the blobs of the merge: %s, or of MERGE_HEAD where HEAD does not have them", r.git("checkout HEAD", r.blobs))
	}
	lost := slices.Concat(r.missing, r.broken)
	if r.lostBlobs {
		lost = append(lost, "blobs")
	}
	if len(lost) > 0 {
		add("restore with git: %s, or of an earlier commit if it was committed so", r.git("checkout HEAD", lost))
	}
	if len(r.missing) > 0 {
		add("do not run traceforge manifest before: it would make the loss permanent")
	}
	for i, t := range r.tests {
		if i == filesShown {
			add("and so %s more", count(len(r.tests)-i, "test", "tests"))
			break
		}
		add("or record again: go test %s -run %s -update", gotest.Quote(t.Package), gotest.Quote(gotest.Pattern(t.Test)))
	}
	if len(r.stray) > 0 {
		add("delete what is none of the store's: %s", r.files(r.stray))
	}
	if len(r.misnamed) > 0 {
		add("delete what has the name of no record: %s", r.files(r.misnamed))
	}
	if len(r.extra) > 0 {
		add("delete what nobody recorded: %s", r.files(r.extra))
		if len(lost) == 0 {
			add("or take it into the manifest: traceforge manifest%s", r.args)
		}
	}
	if r.manifest && len(lost) == 0 {
		add("make the manifest and .gitattributes anew from the records: traceforge manifest%s", r.args)
	}
	if r.orphans && len(lost)+len(r.records)+len(r.blobs) == 0 {
		dir := ""
		if r.args != "" {
			dir = " --dir" + r.args
		}
		add("remove blobs that no record refers to: traceforge prune --blobs --write%s", dir)
	}
	if len(lines) > 1 {
		add("then run traceforge verify%s again", r.args)
	}
	return lines
}

// filesShown is how many files a line names; when they are mended, verify names the next.
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
func updateOf(missing []unanswered) string {
	var tests, packages []string
	for _, m := range missing {
		top, _, _ := strings.Cut(m.Test, "/")
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
		command += " -run " + gotest.Quote(gotest.Pattern(tests[0]))
	default:
		command += " -run " + gotest.Quote("^("+strings.Join(tests, "|")+")$")
	}
	return strings.Join(append([]string{command}, packages...), " ")
}
