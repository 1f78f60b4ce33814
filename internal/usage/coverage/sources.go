package coverage

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/traceforge/traceforge-go/internal/gotest"
)

// Sources tell which tests the code has, whatever constraints keep their files from being built:
// a record of a test that is not there at all is of no use, however the tests were run.
type Sources struct {
	modules []module
	tests   map[string]*testFuncs // by package
}

// A module is a main module: the one of the working directory, or those of a workspace.
type module struct{ Path, Dir string }

// TestFuncs are the test functions of a package.
type testFuncs struct {
	known  bool // the package is in a main module, and all its test files could be read
	exists bool // there is such a directory, with test files
	names  map[string]bool
}

// OpenSources returns the tests of the main modules that go has in each of dirs.
func OpenSources(ctx context.Context, dirs ...string) (*Sources, error) {
	s := &Sources{tests: map[string]*testFuncs{}}
	for _, dir := range dirs {
		modules, err := mainModules(ctx, dir)
		if err != nil {
			return nil, err
		}
		for _, m := range modules {
			if !slices.Contains(s.modules, m) {
				s.modules = append(s.modules, m)
			}
		}
	}
	return s, nil
}

func mainModules(ctx context.Context, dir string) (modules []module, err error) {
	cmd := exec.CommandContext(ctx, "go", "list", "-m", "-json=Path,Dir")
	cmd.Dir = dir
	var said bytes.Buffer
	cmd.Stderr = &said
	listed, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list -m: %w\n%s", err, &said)
	}
	for dec := json.NewDecoder(bytes.NewReader(listed)); ; {
		var m module
		switch err := dec.Decode(&m); {
		case errors.Is(err, io.EOF):
			return modules, nil
		case err != nil:
			return nil, fmt.Errorf("go list -m: %w", err)
		}
		modules = append(modules, m)
	}
}

// of returns the test functions of a package.
func (s *Sources) of(pkg string) *testFuncs {
	if s.tests[pkg] == nil {
		s.tests[pkg] = s.read(pkg)
	}
	return s.tests[pkg]
}

// Gone says why the code does not have a test; empty: it has, or that is not known, as of a name
// that a test framework gave.
func (s *Sources) Gone(pkg, test string) string {
	top, _, _ := strings.Cut(test, "/")
	switch code := s.of(pkg); {
	case !code.known || gotest.Kind(top) == "":
		return ""
	case !code.exists:
		return "there is no package " + pkg + " with tests"
	case !code.names[top]:
		return pkg + " has no " + top
	}
	return ""
}

func (s *Sources) read(pkg string) *testFuncs {
	t := &testFuncs{names: map[string]bool{}}
	dir, ok := s.dirOf(pkg)
	if !ok {
		return t
	}
	files, err := filepath.Glob(filepath.Join(escapeGlob(dir), "*_test.go"))
	if err != nil { // unreachable: the pattern is well formed
		return t
	}
	t.known, t.exists = true, len(files) > 0
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.known = false
			continue
		}
		for _, decl := range parsed.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok && f.Recv == nil {
				t.names[f.Name.Name] = true
			}
		}
	}
	return t
}

// dirOf returns the directory of a package of a main module.
func (s *Sources) dirOf(pkg string) (dir string, ok bool) {
	m, rest, ok := s.moduleOf(pkg)
	return filepath.Join(m.Dir, filepath.FromSlash(rest)), ok
}

// moduleOf returns the main module that has a package, and the package's path below it.
func (s *Sources) moduleOf(pkg string) (of module, below string, ok bool) {
	for _, m := range s.modules {
		rest, in := strings.CutPrefix(pkg, m.Path)
		if in && (!ok || len(m.Path) > len(of.Path)) && (rest == "" || rest[0] == '/') {
			of, below, ok = m, rest, true
		}
	}
	return of, below, ok && !isNested(of.Dir, below)
}

// isNested reports whether a package, by its path in the module at root, is one of a module
// within that one.
func isNested(root, pkg string) bool {
	for dir := pkg; dir != "" && dir != "/"; dir = dir[:strings.LastIndexByte(dir, '/')] {
		_, err := os.Stat(filepath.Join(root, filepath.FromSlash(dir), "go.mod"))
		if !errors.Is(err, fs.ErrNotExist) {
			return true
		}
	}
	return false
}

// escapeGlob returns the pattern that matches just path.
func escapeGlob(path string) string {
	if os.PathSeparator == '\\' {
		return path // where patterns have no escapes
	}
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}
