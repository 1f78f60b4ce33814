// Package copied runs examples in the place where readers paste them. It is for tests of packages with examples.
package copied

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/traceforge/traceforge-go/internal/tbtest/toy"
)

// Run copies the examples of the package in the working directory into an empty module, as readers do, and vets,
// records and replays them there. Each is the body of a test, whose t is a variable of the package that is never set.
// In a file with one example, which is shown in full, a function testX is the test. env is added to the environment of
// the recording.
func Run(t *testing.T, env ...string) {
	t.Helper()
	if testing.Short() {
		t.Skip("runs go test")
	}
	dir := toy.Dir(t)
	emptyModule(t, dir)
	files, err := filepath.Glob("example_*test.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("no examples: %v", err)
	}
	for _, file := range files {
		write(t, filepath.Join(dir, file), asTests(t, read(t, file)))
	}
	run := func(update string, args ...string) {
		t.Helper()
		cmd := exec.Command("go", args...)
		cmd.Dir = dir
		cmd.Env = append(append(os.Environ(), env...), "GOFLAGS="+toy.Flags("-mod=mod"), "GOPROXY=off", "GOWORK=off", "CI=",
			"TRACEFORGE_DIR=", "TRACEFORGE_UPDATE="+update)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("go %s, TRACEFORGE_UPDATE=%s: %v\n%s", strings.Join(args, " "), update, err, out)
		}
	}
	run("", "vet", ".")
	run("1", "test", "-count=1", ".")
	run("", "test", "-count=1", ".")
}

// emptyModule makes a module that requires the module of the working directory and that module's requirements.
func emptyModule(t *testing.T, dir string) {
	out, err := exec.Command("go", "env", "GOMOD").Output()
	if err != nil {
		t.Fatal(err)
	}
	file := strings.TrimSpace(string(out))
	root := filepath.Dir(file)
	mod := read(t, file)
	module := regexp.MustCompile(`(?m)^module (\S+)$`).FindStringSubmatch(mod)[1]
	mod = strings.Replace(mod, "module "+module, "module example.com/copied", 1)
	mod = regexp.MustCompile(`=> \.\S*`).ReplaceAllStringFunc(mod, func(to string) string {
		return "=> " + filepath.Join(root, strings.TrimPrefix(to, "=> "))
	})
	write(t, filepath.Join(dir, "go.mod"),
		fmt.Sprintf("%s\nrequire %s v0.0.0\n\nreplace %[2]s => %q\n", mod, module, root))
	write(t, filepath.Join(dir, "go.sum"), read(t, filepath.Join(root, "go.sum")))
}

// asTests converts a file of examples to a file of tests. It refuses declarations next to several examples, since
// readers do not see them.
func asTests(t *testing.T, text string) string {
	syntax, err := parser.ParseFile(token.NewFileSet(), "", text, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	var tests bytes.Buffer
	var others []string
	imports, examples := syntax.Decls[0], 0
	for _, decl := range syntax.Decls[1:] {
		whole := text[decl.Pos()-1 : decl.End()-1]
		f, ok := decl.(*ast.FuncDecl)
		if !ok || !strings.HasPrefix(f.Name.Name, "Example") {
			others = append(others, whole)
			continue
		}
		examples++
		fmt.Fprintf(&tests, "\n\nfunc Test%s(t *testing.T) %s", f.Name, text[f.Body.Pos()-1:f.Body.End()-1])
	}
	head := "package copied\n\n" + text[imports.Pos()-1:imports.End()-1]
	if !strings.Contains(head, `"testing"`) {
		head += "\n\nimport \"testing\""
	}
	switch {
	case len(others) == 0:
		return head + tests.String()
	case examples > 1:
		t.Fatalf("an example that is copied lacks what is declared beside it:\n%s", strings.Join(others, "\n\n"))
	}
	return regexp.MustCompile(`\btest([A-Z])`).ReplaceAllString("package copied\n\n"+text[imports.Pos()-1:], "Test$1")
}

func read(t *testing.T, file string) string {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func write(t *testing.T, file, text string) {
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
