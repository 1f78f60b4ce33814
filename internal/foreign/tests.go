package foreign

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
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

// A testFunction is a test with what its source tells of its subtests.
type testFunction struct {
	file string
	line int
	// texts in the function and in what it uses of the package, as go test spells names; also those of a table
	texts  map[string]bool
	begins []string // what is in front of a text in a name, or nothing
	depth  int      // of its subtests; 0 if it runs none
	isOpen bool     // subtests may have names that are not written where they run
	isDark bool     // names are computed in other ways than in a table
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
			f := &testFunction{
				file: filepath.Base(place.Filename), line: place.Line, texts: map[string]bool{}, begins: []string{""},
			}
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
	if text := literalText(n); text != "" {
		w.into.texts[text] = true
	}
}

// call visits a called function of the package. The function passed to Run, as in t.Run, is one level deeper.
func (w *walk) call(c *ast.CallExpr, depth int) (goOn bool) {
	name := ""
	switch f := c.Fun.(type) {
	case *ast.Ident:
		name = f.Name
	case *ast.SelectorExpr:
		name = f.Sel.Name
	}
	if name == "Run" && len(c.Args) == 2 && !isContext(c.Args[0]) {
		w.run(c.Args[0], depth)
		w.visit(c.Fun, depth)
		w.visit(c.Args[0], depth)
		w.visit(c.Args[1], depth+1)
		return false
	}
	for _, d := range w.tests.bodies[name] {
		if !w.seen[d] && d.Body != nil {
			w.seen[d] = true
			w.visit(d.Body, depth)
		}
	}
	return true
}

func isContext(e ast.Expr) bool {
	ident, ok := e.(*ast.Ident)
	return ok && ident.Name == "ctx"
}

// run notes how a subtest gets its name.
func (w *walk) run(name ast.Expr, depth int) {
	f := w.into
	f.depth = max(f.depth, depth+1)
	switch name := name.(type) {
	case *ast.BasicLit:
	case *ast.Ident, *ast.SelectorExpr: // of a table; or suite.Run(t, …), whose subtests are methods
		f.isOpen = true
	case *ast.BinaryExpr:
		begin := literalText(name.X)
		f.begins, f.isOpen, f.isDark = append(f.begins, begin), true, f.isDark || begin == ""
	default:
		f.isOpen, f.isDark = true, true
	}
}

// literalText returns a text as go test spells it in a name; empty if n is none.
func literalText(n ast.Node) string {
	lit, ok := n.(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING {
		return ""
	}
	text, _ := strconv.Unquote(lit.Value) // the parser has checked it
	return rewritten(text)
}

// names yields the possible names of subtests, as far as they can be read.
func (f *testFunction) names(yield func(string) bool) {
	for text := range f.texts {
		for _, begin := range f.begins {
			if !yield(begin + text) {
				return
			}
		}
	}
}

// Empty reports whether there are no tests.
func (t *Tests) Empty() bool { return len(t.functions) == 0 }
