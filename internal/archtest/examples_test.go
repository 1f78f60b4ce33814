package archtest

import (
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// public are the packages that users import.
var public = []string{
	"traceforgetest", "traceforgetest/cassette", "traceforgetest/fault", "traceforgetest/script", "snapshot", "modelio", "modelio/modeltest", "modelio/session", "contract", "canon",
	"adapters/genkit", "adapters/genkit/hooks", "adapters/mcp", "adapters/websocket",
}

// called by the standard library for their users: fmt, errors, encoding/json, net/http.
var called = []string{"Error", "Is", "Unwrap", "String", "Format", "MarshalJSON", "UnmarshalJSON", "RoundTrip", "ServeHTTP"}

// withoutExample are exported functions and methods that no example calls, each with the reason.
var withoutExample = map[string]string{
	"traceforgetest/script.Script.ForRecorder": "package traceforgetest calls it",
	"snapshot.Finding.Compare":                 "a function for slices.SortFunc, as that of modelio.Violation, which has an example",
	"adapters/genkit.BackgroundModel":          "as Embedder and Retriever, which have examples; a background model of Genkit's takes a page to define",
	"adapters/genkit/hooks.Recording.Live":     "takes names of tools and nothing else",
	"adapters/genkit/hooks.Recording.Name":     "Genkit calls it",
}

// TestExamples holds that each exported function and method of a public package is called by an example of it, or has a reason.
func TestExamples(t *testing.T) {
	needed := map[string]bool{}
	for _, dir := range public {
		files, err := filepath.Glob(filepath.Join("../..", dir, "*.go"))
		require.NoError(t, err)
		var exported []string
		said := map[string]bool{} // the names that examples say
		for _, file := range files {
			syntax, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
			require.NoError(t, err)
			if strings.HasSuffix(file, "_test.go") {
				whole := strings.HasPrefix(filepath.Base(file), "example") // with what its examples call
				for _, decl := range syntax.Decls {
					if f, ok := decl.(*ast.FuncDecl); ok && (whole || f.Recv == nil && strings.HasPrefix(f.Name.Name, "Example")) {
						ast.Inspect(f, func(n ast.Node) bool {
							if selector, ok := n.(*ast.SelectorExpr); ok {
								said[selector.Sel.Name] = true
							}
							return true
						})
					}
				}
				continue
			}
			for _, decl := range syntax.Decls {
				if f, ok := decl.(*ast.FuncDecl); ok && f.Name.IsExported() {
					if name, ok := exportedName(f); ok {
						exported = append(exported, name)
					}
				}
			}
		}
		require.NotEmpty(t, exported, dir)
		for _, name := range exported {
			last := name[strings.LastIndex(name, ".")+1:]
			if said[last] || strings.Contains(name, ".") && slices.Contains(called, last) {
				continue
			}
			needed[dir+"."+name] = true
			assert.NotEmpty(t, withoutExample[dir+"."+name], "%s.%s: no example calls it", dir, name)
		}
	}
	for name := range withoutExample {
		assert.True(t, needed[name], "%s is not there, or an example calls it: it needs no reason", name)
	}
}

// TestOptionsAreListed holds that the comment of type Option, which users read, names each option.
func TestOptionsAreListed(t *testing.T) {
	names, err := filepath.Glob("../../traceforgetest/*.go")
	require.NoError(t, err)
	files := token.NewFileSet()
	var parsed []*ast.File
	for _, name := range names {
		syntax, err := parser.ParseFile(files, name, nil, parser.ParseComments)
		require.NoError(t, err)
		if syntax.Name.Name == "traceforgetest" {
			parsed = append(parsed, syntax)
		}
	}
	of, err := doc.NewFromFiles(files, parsed, "traceforgetest")
	require.NoError(t, err)
	at := slices.IndexFunc(of.Types, func(named *doc.Type) bool { return named.Name == "Option" })
	require.NotEmpty(t, of.Types[at].Funcs)
	for _, option := range of.Types[at].Funcs {
		require.Contains(t, of.Types[at].Doc, "["+option.Name+"]")
	}
}

// TestExamplesStandAlone holds that readers can copy an example: with package copied, which does it, or as one that go/doc can make a program
// of, from its file alone.
func TestExamplesStandAlone(t *testing.T) {
	for _, dir := range public {
		files, err := filepath.Glob(filepath.Join("../..", dir, "*_test.go"))
		require.NoError(t, err)
		copied := slices.ContainsFunc(files, func(file string) bool {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			return strings.Contains(string(text), "copied.Run(t")
		})
		for _, file := range files {
			syntax, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments)
			require.NoError(t, err)
			for _, example := range doc.Examples(syntax) {
				where := filepath.Base(file) + ": Example" + example.Name
				if strings.HasPrefix(filepath.Base(file), "example_") && copied || dir == "contract" {
					continue // the examples of contract make calls, of a provider that is internal
				}
				if assert.NotNil(t, example.Play, "%s/%s uses what its file does not have", dir, where) {
					for _, imported := range example.Play.Imports {
						assert.NotContains(t, imported.Path.Value, "/internal/", "%s/%s: readers cannot import it", dir, where)
					}
				}
			}
		}
	}
}

// exportedName returns the name of a function, or of a method and its type, if both are exported.
func exportedName(f *ast.FuncDecl) (string, bool) {
	if f.Recv == nil {
		return f.Name.Name, true
	}
	receiver := f.Recv.List[0].Type
	if star, ok := receiver.(*ast.StarExpr); ok {
		receiver = star.X
	}
	switch generic := receiver.(type) {
	case *ast.IndexExpr:
		receiver = generic.X
	case *ast.IndexListExpr:
		receiver = generic.X
	}
	name := receiver.(*ast.Ident)
	return name.Name + "." + f.Name.Name, name.IsExported()
}
