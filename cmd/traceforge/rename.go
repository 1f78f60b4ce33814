package main

import (
	"cmp"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/traceforge/traceforge-go/internal/gotest"
	"github.com/traceforge/traceforge-go/internal/page"
	"github.com/traceforge/traceforge-go/internal/place"
	"github.com/traceforge/traceforge-go/internal/store"
)

// A movedDocument is a document that mv moved.
type movedDocument struct {
	From string `json:"from"` // old path of the document, from the working directory
	To   string `json:"to"`   // new path of the document
	page.Test
	Was page.Test `json:"was"` // test to which the document belonged
}

// A moveReport is the output of mv --json.
type moveReport struct {
	Moved []movedDocument `json:"moved"` // documents that were moved
}

// move implements the command mv.
func move(c *call, s *store.Store, dir string) error {
	tests, err := testsIn(s)
	if err != nil {
		return err
	}
	moves, err := movesOf(tests, c.args[0], c.args[1])
	if err != nil {
		return err
	}
	done, err := s.Move(moves...)
	if err != nil {
		return err
	}
	now := map[string]page.Test{} // by the old names of the documents
	for _, m := range moves {
		now[m.Name] = page.Test{Package: m.Package, Name: m.Test}
	}
	moved := []movedDocument{} // without documents that are only pending
	for _, m := range done {
		from, to := path.Join(filepath.ToSlash(dir), m.From), path.Join(filepath.ToSlash(dir), m.To)
		moved = append(moved, movedDocument{from, to, now[nameOf(m.From)], tests[nameOf(m.From)]})
	}
	c.answer(moveReport{moved}, func() {
		for _, r := range moved {
			c.line(fmt.Sprintf("%s -> %s  %s in %s", r.From, r.To, r.Test.Name, r.Package))
		}
	})
	c.say("%s: moved %s: nothing was recorded again", dir, page.Count(len(moves), "document", "documents"))
	if src, err := c.sources(); err == nil { // otherwise the code is not available
		for _, m := range moves {
			if gone := src.Gone(m.Package, m.Test); gone != "" {
				c.say("%s yet: rename it in the code too, or no test finds its snapshots", gone)
				break
			}
		}
	}
	return nil
}

// testsIn returns the tests of a store's documents, including pending ones, by document name.
func testsIn(s *store.Store) (map[string]page.Test, error) {
	tests := map[string]page.Test{}
	for _, of := range []*store.Store{s, s.Pending()} {
		for doc, err := range place.Documents(of) {
			if err != nil {
				return nil, err
			}
			tests[doc.Name] = page.TestOf(doc.Document)
		}
	}
	return tests, nil
}

// movesOf returns the moves for a test or a package that was renamed.
func movesOf(tests map[string]page.Test, from, to string) (moves []store.Move, err error) {
	rename, err := renaming(tests, from, to)
	if err != nil {
		return nil, err
	}
	for name, test := range tests {
		now, ok := rename(test)
		if !ok {
			continue
		}
		if now == test {
			return nil, fmt.Errorf("%s has that name already", gotest.Quote(from))
		}
		moves = append(moves, store.Move{Name: name, Package: now.Package, Test: now.Name})
	}
	slices.SortFunc(moves,
		func(a, b store.Move) int { return strings.Compare(a.Package+" "+a.Test, b.Package+" "+b.Test) })
	return moves, nil
}

// renaming returns a function that maps a test of the store to its new name. A package or a test, from, was renamed to
// the name to.
func renaming(tests map[string]page.Test, from, to string) (func(page.Test) (page.Test, bool), error) {
	var names, packages []string
	ofPackage := false
	for _, t := range tests {
		names = append(names, t.Name, t.Package+"."+t.Name, t.Package)
		_, below := inPackage(t.Package, from, from)
		ofPackage = ofPackage || below
		if isOf(t, from) && !slices.Contains(packages, t.Package) {
			packages = append(packages, t.Package)
		}
	}
	slices.Sort(packages)
	switch {
	case len(packages) > 1:
		return nil, fmt.Errorf("%s is in %d packages: name one, as in %s.%s",
			gotest.Quote(from), len(packages), packages[0], from)
	case len(packages) == 1:
		return renamingTest(packages[0], from, to)
	case !ofPackage:
		return nil, fmt.Errorf("no document is of a test or a package %s%s: traceforge ls lists them",
			gotest.Quote(from), meant(from, page.Distinct(names)))
	}
	if strings.HasSuffix(from, "/...") != strings.HasSuffix(to, "/...") {
		return nil, usagef("either both names end in /... or none: it stands for the packages below too")
	}
	if err := checkPackage(strings.TrimSuffix(to, "/...")); err != nil {
		return nil, err
	}
	return func(t page.Test) (page.Test, bool) {
		pkg, ok := inPackage(t.Package, from, to)
		return page.Test{Package: pkg, Name: t.Name}, ok
	}, nil
}

// inPackage returns the path of a package after from was renamed to the name to; ok is false for a package that is not
// affected.
func inPackage(pkg, from, to string) (now string, ok bool) {
	tree, isTree := strings.CutSuffix(from, "/...")
	if !isTree {
		return to, pkg == from
	}
	rest, ok := strings.CutPrefix(pkg+"/", tree+"/")
	return path.Join(strings.TrimSuffix(to, "/..."), rest), ok
}

func renamingTest(pkg, from, to string) (func(page.Test) (page.Test, bool), error) {
	from = strings.TrimPrefix(from, pkg+".")
	toPackage, to := splitTest(to)
	if toPackage == "" {
		toPackage = pkg
	} else if err := checkPackage(toPackage); err != nil {
		return nil, err
	}
	if err := checkTest(to); err != nil {
		return nil, err
	}
	if isRun(from) && !isRun(to) { // frameworks use names that go test does not run
		return nil, usagef("go test runs no %s, as it runs %s: begin the name as that", gotest.Quote(to), gotest.Quote(from))
	}
	return func(t page.Test) (page.Test, bool) {
		rest, ok := strings.CutPrefix(t.Name+"/", from+"/")
		return page.Test{Package: toPackage, Name: strings.TrimSuffix(to+"/"+rest, "/")}, ok && t.Package == pkg
	}, nil
}

// isRun reports whether go test runs a test of this name.
func isRun(test string) bool { return gotest.Kind(gotest.Function(test)) != "" }

// splitTest splits example.com/shop.TestAsk/a into package and test; pkg is empty if there is no package.
func splitTest(word string) (pkg, test string) {
	for i, r := range word {
		if r == '.' && i > 0 && isRun(word[i+1:]) {
			return word[:i], word[i+1:]
		}
	}
	return "", word
}

// isOdd reports whether a character cannot occur in the name of a test or a package.
func isOdd(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) }

// namedTest returns the package and test that --package and --test name together; empty if neither is given.
func (c *call) namedTest() (pkg, test string, err error) {
	pkg, test = c.value("package"), c.value("test")
	switch {
	case (pkg == "") != (test == ""):
		err = usagef("--test and --package together name the test that makes the calls")
	case pkg != "":
		err = cmp.Or(checkPackage(pkg), checkTest(test))
	}
	return pkg, test, err
}

// checkTest refuses names that Go does not give to tests, so that no document is moved to a place that nothing reads.
func checkTest(test string) error {
	if test == "" || strings.HasPrefix(test, "/") || strings.HasSuffix(test, "/") || strings.ContainsFunc(test, isOdd) {
		return usagef("%s is no name of a test: name it as go test -v prints it, with _ for a space", gotest.Quote(test))
	}
	return nil
}

// checkPackage refuses a text that is not an import path.
func checkPackage(pkg string) error {
	if pkg == "" || pkg != path.Clean(pkg) || strings.ContainsRune("./-", rune(pkg[0])) || strings.Contains(pkg, "...") ||
		strings.ContainsAny(pkg, `\:*"<>|`) || strings.ContainsFunc(pkg, isOdd) {
		return usagef("%s is no import path: name the package as go list prints it", gotest.Quote(pkg))
	}
	return nil
}

// testsAndPackages returns the names of tests and packages.
func testsAndPackages(s *store.Store, _ []string) (names []string) {
	for doc := range place.Readable(s, nil) {
		test := page.TestOf(doc.Document)
		names = append(names, test.Name, test.Package)
	}
	return page.Distinct(names)
}
