package coverage

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
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

// Gone says why a test does not exist in the source. It is empty if the test exists or if that is unknown, as for a
// name that a framework has made.
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
	for of := pkg; of != "." && of != "/"; of = path.Dir(of) {
		if root, ok := s.modules[of]; ok {
			dir = filepath.Join(root, filepath.FromSlash(pkg[len(of):]))
			// the package belongs to a nested module
			if nearest, err := gotest.Module(dir); err != nil || nearest != filepath.Clean(root) {
				return "", ""
			}
			return root, dir
		}
	}
	return "", ""
}

// Harness is the package that recording tests import. This command never links it.
const Harness = "github.com/traceforge/traceforge-go/traceforgetest"

// A Package is a package with tests.
type Package struct {
	Path    string // import path
	Module  string // directory of its module
	Records bool   // its test binary links the harness, possibly through another package
}

// Packages returns the packages with tests that match patterns, sorted by path. flags are flags of go test; those that
// select files, such as -tags, are used.
func Packages(ctx context.Context, dir string, patterns, flags []string) ([]Package, error) {
	args := []string{"-test", "-f", "{{if .Module}}{{.ImportPath}}\t{{.Module.Dir}}\t{{join .Deps \" \"}}{{end}}"}
	rows, err := goList(ctx, dir, slices.Concat(args, selecting(flags), []string{"--"}, patterns)...)
	var packages []Package
	for _, row := range rows {
		if path, isTest := strings.CutSuffix(row[0], ".test"); isTest {
			// A package that is compiled for another package's test has that test's name after its own.
			packages = append(packages, Package{path, row[1], slices.Contains(strings.Fields(row[2]), Harness)})
		}
	}
	slices.SortFunc(packages, func(a, b Package) int { return strings.Compare(a.Path, b.Path) })
	return packages, err
}

// goList runs go list and returns the tab-separated fields of the lines that it prints.
func goList(ctx context.Context, dir string, args ...string) (rows [][]string, err error) {
	cmd := exec.CommandContext(ctx, "go", append([]string{"list", "-buildvcs=false"}, args...)...)
	cmd.Dir = dir
	var said bytes.Buffer
	cmd.Stderr = &said
	listed, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w\n%s", err, &said)
	}
	for line := range strings.Lines(string(listed)) {
		rows = append(rows, strings.Split(strings.TrimRight(line, "\r\n"), "\t"))
	}
	return rows, nil
}

// selects matches a flag that selects the files of a package. Its groups are the name of a flag with a value, and the
// value.
var selects = regexp.MustCompile(`^--?(?:race|msan|asan|(tags|mod|modfile|overlay))(=.*)?$`)

// selecting returns the flags of go test that select the files of a package.
func selecting(flags []string) (kept []string) {
	for i, flag := range flags {
		if flag == "-args" || flag == "--args" {
			break
		}
		if m := selects.FindStringSubmatch(flag); m != nil {
			kept = append(kept, flag)
			if m[1] != "" && m[2] == "" && i+1 < len(flags) {
				kept = append(kept, flags[i+1])
			}
		}
	}
	return kept
}
