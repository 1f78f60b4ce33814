package schematest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// comments are the comments of types and their fields, by the package's directory, and "Type" or "Type.Field".
type comments map[string]map[string]string

// comment returns the comment of a field, or of its type if field is empty.
func (c comments) comment(t *testing.T, of reflect.Type, field string) string {
	t.Helper()
	if of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	dir := strings.TrimPrefix(of.PkgPath(), "github.com/traceforge/traceforge-go/")
	if c[dir] == nil {
		c[dir] = map[string]string{}
		c.read(t, dir)
	}
	return c[dir][strings.TrimSuffix(of.Name()+"."+field, ".")]
}

func (c comments) read(t *testing.T, dir string) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(Checkout(dir), "*.go"))
	require.NoError(t, err)
	require.NotEmpty(t, names, dir)
	for _, name := range names {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		require.NoError(t, err)
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				return false
			case *ast.GenDecl:
				if spec, ok := n.Specs[0].(*ast.TypeSpec); ok && len(n.Specs) == 1 && spec.Doc == nil {
					spec.Doc = n.Doc
				}
			case *ast.TypeSpec:
				c[dir][n.Name.Name] = said(n.Doc)
				record, ok := n.Type.(*ast.StructType)
				for i := 0; ok && i < len(record.Fields.List); i++ {
					field := record.Fields.List[i]
					for _, name := range field.Names {
						c[dir][n.Name.Name+"."+name.Name] = said(field.Comment, field.Doc)
					}
				}
			}
			return true
		})
	}
}

// said returns the text of the first non-empty comment as one line, without Go directives.
func said(comments ...*ast.CommentGroup) (text string) {
	for _, c := range comments {
		if text == "" {
			text = goOnly.ReplaceAllString(strings.Join(strings.Fields(c.Text()), " "), "")
		}
	}
	return link.ReplaceAllString(text, "$1")
}

var (
	goOnly = regexp.MustCompile(`(; )?(nil|empty)(:| means) (absent|none|not (set|kept|known|there))$`)
	link   = regexp.MustCompile(`\[(\w+)\]`)
)
