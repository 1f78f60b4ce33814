package foreign

import (
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/traceforge/traceforge-go/snapshot"
)

// A Place is the test that a recording belongs to.
type Place struct {
	Test string
	File string // file with the function, in the package's directory
	Line int    // line of the function
}

// Source returns the location to record for the test's calls: its function, because recordings say no more. dir is the
// package's directory within the module.
func (p *Place) Source(pkg, dir string) snapshot.Source {
	function, _, _ := strings.Cut(p.Test, "/")
	return snapshot.Source{Package: pkg, Test: p.Test, File: path.Join(dir, p.File), Line: p.Line, Function: function}
}

// separators are what copies of httprr, and hand-written helpers, use in file names in place of the "/" in a test's
// name.
var separators = []string{"_", "-"}

// Place returns the test whose recording is file, a path within the package's directory. After any directories, the
// path ends in the test's name, either unchanged or with a separator for each "/". The test must exist. A path that
// matches several tests is an error.
func (t *Tests) Place(file string) (*Place, error) {
	file = strings.TrimSuffix(file, ".gz")
	elements := strings.Split(strings.TrimSuffix(file, path.Ext(file)), "/")
	found := map[string]bool{}
	missing := ""
	for i, element := range elements {
		if f := t.functions[element]; f != nil {
			if why := f.runs(elements[i+1:]); why == "" {
				found[strings.Join(elements[i:], "/")] = true
				for _, subtest := range f.spelled(strings.Join(elements[i+1:], "/"), "/") {
					found[element+"/"+subtest] = true
				}
			} else {
				missing = element + " " + why
			}
		}
	}
	last := elements[len(elements)-1]
	for name, f := range t.functions {
		for _, sep := range separators {
			rest, ok := strings.CutPrefix(last, name+sep)
			if !ok {
				continue
			}
			for _, subtest := range f.spelled(rest, sep) {
				found[name+"/"+subtest] = true
			}
			if f.isDark && t.functions[last] != nil {
				found[name+"/…"] = true // it cannot be ruled out
			} else if missing == "" {
				missing = fmt.Sprintf("%s has no subtest that is spelled %q, as far as its names can be read", name, rest)
			}
		}
	}
	names := slices.Sorted(maps.Keys(found))
	switch {
	case len(names) > 1:
		return nil, fmt.Errorf("may be of %s", strings.Join(names, " or of "))
	case len(names) == 0 && missing != "":
		return nil, fmt.Errorf("%s", missing)
	case len(names) == 0:
		return nil, fmt.Errorf("its path names no test of the package")
	}
	function, _, _ := strings.Cut(names[0], "/")
	f := t.functions[function]
	return &Place{names[0], f.file, f.line}, nil
}

// repeated is what go test appends to the name of a subtest that repeats another's.
var repeated = regexp.MustCompile(`#\d\d$`)

// runs says why a test has no subtest with a path; "" if it has or may have one.
func (f *testFunction) runs(subtest []string) string {
	name := strings.Join(subtest, "/")
	switch {
	case len(subtest) == 0:
		return ""
	case f.depth == 0:
		return "runs no subtests"
	case name == "" || name != rewritten(name):
		return fmt.Sprintf("cannot have a subtest %q", name)
	case f.isOpen || len(f.spelled(repeated.ReplaceAllString(name, ""), "/")) > 0:
		return ""
	}
	return fmt.Sprintf("has no subtest %q", name)
}

// spelled returns the subtests whose names, with sep for each "/", equal a text, or name the same file: "x/../y" and
// "y".
func (f *testFunction) spelled(text, sep string) []string {
	found := map[string]bool{}
	const most = 2 // more are ambiguous
	var try func(depth int, before, rest string)
	try = func(depth int, before, rest string) {
		if depth == f.depth || len(found) >= most {
			return
		}
		for name := range f.names {
			flat := strings.ReplaceAll(name, "/", sep)
			if path.Clean("./"+flat+".yaml") == rest+".yaml" || flat == rest {
				found[before+name] = true
			} else if after, ok := strings.CutPrefix(rest, flat+sep); ok {
				try(depth+1, before+name+"/", after)
			}
		}
	}
	try(0, "", text)
	return slices.Sorted(maps.Keys(found))
}

// rewritten returns the name of a subtest as go test changes it (testing/match.go).
func rewritten(name string) string {
	var b strings.Builder
	for _, r := range name {
		switch {
		case unicode.IsSpace(r):
			b.WriteByte('_')
		case !strconv.IsPrint(r):
			quoted := strconv.QuoteRune(r)
			b.WriteString(quoted[1 : len(quoted)-1])
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
