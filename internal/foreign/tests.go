package foreign

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/traceforge/traceforge-go/internal/gotest"
)

// Tests are the tests of a package, as far as its source shows.
type Tests struct {
	functions map[string]*testFunction
	bodies    map[string][]*ast.FuncDecl // by name, including methods
	values    map[string][]ast.Expr      // values of the package's variables
}

// A testFunction is a test with the names of its subtests by depth.
type testFunction struct {
	file string
	line int
	// texts in the function and in the parts of the package that it uses; they include the names in a table
	texts  []string
	levels []subtests
}

// subtests are the subtests at one depth.
type subtests struct {
	names    []string // literal names
	prefixes []string // prefixes of names with a variable end
	inTable  bool     // names are values of variables
	computed bool     // names are computed in some other way
}

// ReadTests reads the tests of the package in a directory. A file that is not Go has none.
func ReadTests(dir string) (*Tests, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	t := &Tests{map[string]*testFunction{}, map[string][]*ast.FuncDecl{}, map[string][]ast.Expr{}}
	files := token.NewFileSet()
	for _, e := range entries {
		if e.IsDir() || !strings.HasSuffix(e.Name(), "_test.go") {
			continue
		}
		if file, _ := parser.ParseFile(files, filepath.Join(dir, e.Name()), nil, parser.SkipObjectResolution); file != nil {
			t.learn(file)
		}
	}
	for name, bodies := range t.bodies {
		for _, d := range bodies {
			if d.Recv != nil || d.Body == nil || gotest.Kind(name) != "Test" || name == "TestMain" {
				continue
			}
			place := files.Position(d.Pos())
			f := &testFunction{file: filepath.Base(place.Filename), line: place.Line}
			w := walk{tests: t, into: f, seen: map[*ast.FuncDecl]bool{d: true}}
			w.visit(d.Body, 0)
			t.functions[name] = f
		}
	}
	return t, nil
}

func (t *Tests) learn(file *ast.File) {
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			t.bodies[d.Name.Name] = append(t.bodies[d.Name.Name], d)
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				if v, ok := spec.(*ast.ValueSpec); ok {
					for _, name := range v.Names {
						t.values[name.Name] = v.Values
					}
				}
			}
		}
	}
}

// A walk visits a test, the functions of its package that it calls, and the variables that these use.
type walk struct {
	tests *Tests
	into  *testFunction
	seen  map[*ast.FuncDecl]bool
}

func (w *walk) visit(n ast.Node, depth int) {
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BasicLit:
			w.note(n)
		case *ast.Ident:
			for _, value := range w.tests.values[n.Name] {
				ast.Inspect(value, func(n ast.Node) bool { w.note(n); return true })
			}
		case *ast.CallExpr:
			return w.call(n, depth)
		}
		return true
	})
}

func (w *walk) note(n ast.Node) {
	if text, ok := literalText(n); ok && !slices.Contains(w.into.texts, text) {
		w.into.texts = append(w.into.texts, text)
	}
}

// call visits a called function of the package. The function passed to Run is one level deeper: t.Run, and testify's
// suite.Run and s.Run.
func (w *walk) call(c *ast.CallExpr, depth int) (goOn bool) {
	name := ""
	switch f := c.Fun.(type) {
	case *ast.Ident:
		name = f.Name
	case *ast.SelectorExpr:
		name = f.Sel.Name
	}
	if name == "Run" && len(c.Args) == 2 && !isNamed(c.Args[0], "ctx") {
		w.visit(c.Fun, depth)
		w.run(c.Args[0], depth)
		w.visit(c.Args[1], depth+1)
		return false
	}
	for _, d := range w.tests.bodies[name] {
		w.enter(d, depth)
	}
	return true
}

func (w *walk) enter(d *ast.FuncDecl, depth int) {
	if !w.seen[d] && d.Body != nil {
		w.seen[d] = true
		w.visit(d.Body, depth)
	}
}

// run notes the name of a subtest.
func (w *walk) run(name ast.Expr, depth int) {
	for len(w.into.levels) <= depth {
		w.into.levels = append(w.into.levels, subtests{})
	}
	level := &w.into.levels[depth]
	if text, ok := literalText(name); ok {
		level.names = append(level.names, text)
		return
	}
	w.visit(name, depth)
	level = &w.into.levels[depth]
	switch name := name.(type) {
	case *ast.Ident:
		if isNamed(name, "t") { // suite.Run(t, …): its methods are the subtests
			w.methods(depth)
			return
		}
		level.inTable = true
	case *ast.SelectorExpr:
		level.inTable = true
	case *ast.BinaryExpr:
		prefix, ok := literalText(name.X)
		level.prefixes, level.computed = append(level.prefixes, prefix), level.computed || !ok
	default:
		level.computed = true
	}
}

func isNamed(e ast.Expr, name string) bool {
	ident, ok := e.(*ast.Ident)
	return ok && ident.Name == name
}

// methods notes the tests of suites, which are methods.
func (w *walk) methods(depth int) {
	for name, bodies := range w.tests.bodies {
		for _, d := range bodies {
			if d.Recv != nil && gotest.Kind(name) == "Test" {
				w.into.levels[depth].names = append(w.into.levels[depth].names, name)
				w.enter(d, depth+1)
			}
		}
	}
}

func literalText(n ast.Node) (string, bool) {
	lit, ok := n.(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING {
		return "", false
	}
	text, err := strconv.Unquote(lit.Value)
	return text, err == nil && text != ""
}

// candidates returns the possible names of subtests at a depth, as far as they can be read.
func (f *testFunction) candidates(depth int) []string {
	level := f.levels[depth]
	names := slices.Clone(level.names)
	for _, text := range f.texts {
		if level.inTable {
			names = append(names, text)
		}
		for _, prefix := range level.prefixes {
			names = append(names, prefix+text)
		}
	}
	return names
}

// isOpen reports whether subtests may have names that are not written where they run.
func (f *testFunction) isOpen() bool {
	return slices.ContainsFunc(f.levels, func(s subtests) bool { return s.computed || s.inTable || len(s.prefixes) > 0 })
}

// Empty reports whether there are no tests.
func (t *Tests) Empty() bool { return len(t.functions) == 0 }
