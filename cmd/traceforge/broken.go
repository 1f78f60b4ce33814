package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/traceforge/traceforge-go/internal/page"
	"github.com/traceforge/traceforge-go/internal/place"
	"github.com/traceforge/traceforge-go/internal/store"
	"github.com/traceforge/traceforge-go/internal/store/audit"
	"github.com/traceforge/traceforge-go/internal/usage"
	"github.com/traceforge/traceforge-go/snapshot"
)

// A breakage is what is wrong with the snapshots of tests that failed before they used any, by store.
type breakage struct {
	of    map[page.Test]bool
	found map[string][]snapshot.Finding
}

// brokenOf looks at the snapshots of the tests that failed and made no call.
func brokenOf(c *call, receipts []usage.Receipt) (breakage, error) {
	b := breakage{of: map[page.Test]bool{}, found: map[string][]snapshot.Finding{}}
	for _, r := range receipts {
		test := page.Test{Package: r.Package, Test: r.Test}
		if used := len(r.Played) + len(r.Recorded) + len(r.Drifts) + r.Missing; r.Outcome != "fail" || used > 0 || b.of[test] {
			continue
		}
		src, err := c.sources()
		if err != nil {
			return b, err
		}
		dir := cmp.Or(src.StoreOf(r), filepath.FromSlash(r.Store))
		s, err := store.Open(dir)
		if err != nil {
			return b, err
		}
		name := snapshot.DocumentName(r.Package, r.Test)
		result, err := audit.VerifyFiles(s, []string{"any/" + name + ".json"})
		if err != nil {
			continue // there is no store
		}
		wrong := slices.DeleteFunc(result.Findings, func(f snapshot.Finding) bool { return !strings.Contains(f.File, "/"+name) })
		if len(wrong) > 0 {
			b.of[test] = true
			b.found[dir] = append(b.found[dir], wrong...)
		}
	}
	return b, nil
}

// findings returns what is broken, with the paths of files from the working directory where they are below it.
func (b breakage) findings() []snapshot.Finding {
	all := []snapshot.Finding{}
	for _, dir := range slices.Sorted(maps.Keys(b.found)) {
		for _, f := range b.found[dir] {
			shown, _ := namesOf(dir)
			f.File = path.Join(filepath.ToSlash(shown), f.File)
			all = append(all, f)
		}
	}
	return all
}

// namesOf returns the directory of a store as the command names it, and as its user has to: "" where it is found from
// here.
func namesOf(dir string) (shown, named string) {
	shown, err := place.StoreDir("")
	if abs, unknown := filepath.Abs(shown); err == nil && unknown == nil && abs == filepath.Clean(dir) {
		return shown, ""
	}
	return dir, dir
}

// write writes what is broken, and the ways out.
func (b breakage) write(c *call, out io.Writer) {
	if len(b.of) == 0 {
		return
	}
	say := func(line string) { c.lineTo(out, line) }
	fmt.Fprintln(out)
	say(page.Count(len(b.of), "test has a broken snapshot:", "tests have broken snapshots:"))
	for _, at := range slices.Sorted(maps.Keys(b.found)) {
		dir, named := namesOf(at)
		var lines []string
		for _, f := range b.found[at] {
			f.File = path.Join(filepath.ToSlash(dir), f.File)
			lines = append(lines, f.String())
		}
		for _, line := range page.Most(20, lines, "more") {
			say("  " + line)
		}
		for _, line := range remediesOf(c, b.found[at], dir, named) {
			say(line)
		}
	}
}

// brokenConfig writes what is wrong with the configuration of the store: no test that uses it can begin, and none leaves a
// receipt.
func (c *call) brokenConfig(out io.Writer) {
	dir, err := place.StoreDir("")
	if err != nil {
		return // there is none
	}
	s, err := store.Open(dir)
	if err != nil {
		return
	}
	if _, err := s.Config(); err != nil {
		c.lineTo(out, "")
		c.lineTo(out, "no test with a recorder could begin, by one cause:")
		for line := range strings.Lines(err.Error()) {
			c.lineTo(out, "  "+strings.TrimRight(line, "\n"))
		}
	}
}
