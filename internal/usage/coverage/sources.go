package coverage

import (
	"context"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/traceforge/traceforge-go/internal/gotest"
	"github.com/traceforge/traceforge-go/internal/place"
	"github.com/traceforge/traceforge-go/internal/usage"
)

// Sources list the tests in the source code, whatever build constraints their files have. A record of a test that is
// nowhere in the source is useless, however the tests were run.
type Sources struct {
	modules map[string]string     // directories of the main modules, by path
	tests   map[string]*testFuncs // by package
}

// testFuncs are the functions in a package's test files that go test may run.
type testFuncs struct {
	known bool            // the package is in a main module, and all its test files could be read
	names map[string]bool // nil without test files
}

// OpenSources returns the tests of the main modules in each of dirs: a single module, or those of a workspace. With an
// error, it returns those of the modules before.
func OpenSources(ctx context.Context, dirs ...string) (*Sources, error) {
	s := &Sources{map[string]string{}, map[string]*testFuncs{}}
	for _, dir := range dirs {
		if root, path := onlyModule(dir); path != "" {
			s.modules[path] = root
			continue
		}
		rows, err := goList(ctx, dir, "-m", "-f", "{{.Path}}\t{{.Dir}}")
		if err != nil {
			return s, err
		}
		for _, row := range rows {
			s.modules[row[0]] = row[1]
		}
	}
	return s, nil
}

// onlyModule returns the directory and the path of the main module if there is no workspace. If the path is empty, go
// must be called, which takes longer.
func onlyModule(dir string) (root, path string) {
	dir, err := filepath.Abs(dir)
	if work := os.Getenv("GOWORK"); err != nil || work != "off" && (work != "" || place.Workspace(dir) != "") {
		return "", ""
	}
	if root, err = gotest.Module(dir); err != nil || root == "" {
		return "", ""
	}
	return root, gotest.ModulePath(root)
}

// Gone says why a test does not exist in the source; empty if it exists or if that is unknown, as for a name that a
// framework has made.
func (s *Sources) Gone(pkg, test string) string {
	top := gotest.Function(test)
	switch code := s.of(pkg); {
	case !code.known || gotest.Kind(top) == "":
		return ""
	case code.names == nil:
		return "there is no package " + pkg + " with tests"
	case !code.names[top]:
		return pkg + " has no " + top
	}
	return ""
}

// Functions returns the functions of a package that go test may run, in no particular order. known reports whether the
// list is complete.
func (s *Sources) Functions(pkg string) (names []string, known bool) {
	code := s.of(pkg)
	return slices.Collect(maps.Keys(code.names)), code.known
}

// of returns the test functions of a package.
func (s *Sources) of(pkg string) *testFuncs {
	t, read := s.tests[pkg]
	if !read {
		t = &testFuncs{}
		s.tests[pkg] = t
		if _, dir := s.Find(pkg); dir != "" {
			t.read(dir)
		}
	}
	return t
}

func (t *testFuncs) read(dir string) {
	entries, err := os.ReadDir(dir)
	t.known = err == nil || errors.Is(err, fs.ErrNotExist)
	for _, entry := range entries {
		if !strings.HasSuffix(entry.Name(), "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(dir, entry.Name()), nil, parser.SkipObjectResolution)
		if err != nil {
			t.known = false
			continue
		}
		if t.names == nil {
			t.names = map[string]bool{}
		}
		for _, decl := range file.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok && f.Recv == nil && gotest.Kind(f.Name.Name) != "" {
				t.names[f.Name.Name] = true
			}
		}
	}
}

// Module returns the directory of a package's main module; empty without one.
func (s *Sources) Module(pkg string) string {
	module, _ := s.Find(pkg)
	return module
}

// StoreOf returns the directory of the store that a test used; empty if its module is unknown.
func (s *Sources) StoreOf(r usage.Receipt) string {
	dir := filepath.FromSlash(r.Store)
	if filepath.IsAbs(dir) {
		return dir
	}
	module := s.Module(r.Package)
	if module == "" {
		return ""
	}
	return filepath.Join(module, dir)
}

// Find returns the directories of a package and its main module; empty without one.
func (s *Sources) Find(pkg string) (module, dir string) {
	for of := pkg; of != "."; of = path.Dir(of) {
		if root, ok := s.modules[of]; ok {
			dir = filepath.Join(root, filepath.FromSlash(pkg[len(of):]))
			if nearest, err := gotest.Module(dir); err != nil || nearest != filepath.Clean(root) { // the package belongs to a nested module
				return "", ""
			}
			return root, dir
		}
	}
	return "", ""
}
