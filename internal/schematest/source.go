package schematest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A source is a package as it is written.
type source struct {
	*testing.T
	funcs    map[string]*ast.FuncDecl // functions and methods by their names
	values   map[string]ast.Expr      // of package variables
	comments map[string]string        // of fields and types: "Type.Field", "Type"
	tags     map[string]string        // the comments of fields by "Type.json_name"
}

// sourceOf reads the package in a directory of the repository.
func sourceOf(t *testing.T, dir string) *source {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(Checkout(dir), "*.go"))
	require.NoError(t, err)
	require.NotEmpty(t, names, dir)
	s := &source{t, map[string]*ast.FuncDecl{}, map[string]ast.Expr{}, map[string]string{}, map[string]string{}}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		require.NoError(t, err)
		for _, d := range file.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				s.funcs[nameOf(d)] = d
			case *ast.GenDecl:
				s.declared(d)
			}
		}
	}
	return s
}

// nameOf returns the name of a function, or of a method with that of its type: "Type.Method".
func nameOf(d *ast.FuncDecl) string {
	if d.Recv == nil {
		return d.Name.Name
	}
	of := d.Recv.List[0].Type
	if star, ok := of.(*ast.StarExpr); ok {
		of = star.X
	}
	if name, ok := of.(*ast.Ident); ok {
		return name.Name + "." + d.Name.Name
	}
	return d.Name.Name
}

func (s *source) declared(d *ast.GenDecl) {
	for _, spec := range d.Specs {
		switch spec := spec.(type) {
		case *ast.ValueSpec:
			for i, value := range spec.Values {
				s.values[spec.Names[i].Name] = value
			}
		case *ast.TypeSpec:
			s.comments[spec.Name.Name] = said(spec.Doc)
			if s.comments[spec.Name.Name] == "" && len(d.Specs) == 1 {
				s.comments[spec.Name.Name] = said(d.Doc)
			}
			record, ok := spec.Type.(*ast.StructType)
			if !ok {
				continue
			}
			for _, field := range record.Fields.List {
				comment := said(field.Comment)
				if comment == "" {
					comment = said(field.Doc)
				}
				for _, name := range field.Names {
					s.comments[spec.Name.Name+"."+name.Name] = comment
				}
				if field.Tag != nil {
					tag, _ := strconv.Unquote(field.Tag.Value)
					name, _, _ := strings.Cut(reflect.StructTag(tag).Get("json"), ",")
					s.tags[spec.Name.Name+"."+name] = comment
				}
			}
		}
	}
}

// said returns the text of a comment as one line, without what is Go's.
func said(c *ast.CommentGroup) string {
	text := goOnly.ReplaceAllString(strings.Join(strings.Fields(c.Text()), " "), "")
	return link.ReplaceAllString(text, "$1")
}

var (
	goOnly = regexp.MustCompile(`(; )?(nil|empty)(:| means) (absent|none|not (set|kept|known|there))$`)
	link   = regexp.MustCompile(`\[(\w+)\]`)
)

// named returns the function that a call names, as in c.text, list or required; empty means it names none.
func named(call *ast.CallExpr) string {
	switch f := call.Fun.(type) {
	case *ast.Ident:
		return f.Name
	case *ast.SelectorExpr:
		return f.Sel.Name
	}
	return ""
}

// first returns the first call of a function of that name in n; nil means there is none.
func first(n ast.Node, name string) (found *ast.CallExpr) {
	ast.Inspect(n, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok && found == nil && named(call) == name {
			found = call
		}
		return found == nil
	})
	return found
}

// calls returns the calls among statements, in order, whatever they depend on.
func calls(list []ast.Stmt) (all []*ast.CallExpr) {
	for _, stmt := range list {
		switch stmt := stmt.(type) {
		case *ast.ExprStmt:
			if call, ok := stmt.X.(*ast.CallExpr); ok {
				all = append(all, call)
			}
		case *ast.IfStmt:
			all = append(all, calls(stmt.Body.List)...)
			if stmt.Else != nil {
				all = append(all, calls([]ast.Stmt{stmt.Else})...)
			}
		case *ast.BlockStmt:
			all = append(all, calls(stmt.List)...)
		}
	}
	return all
}

// text returns the string that a literal is.
func (s *source) text(e ast.Expr) string {
	literal, ok := e.(*ast.BasicLit)
	require.True(s, ok, "%v is no literal", e)
	text, err := strconv.Unquote(literal.Value)
	require.NoError(s, err)
	return text
}

// pattern returns the regular expression that a variable is.
func (s *source) pattern(variable string) string {
	return s.text(s.values[variable].(*ast.CallExpr).Args[0])
}

// texts returns the strings that arguments are.
func (s *source) texts(list []ast.Expr) (all []string) {
	for _, e := range list {
		all = append(all, s.text(e))
	}
	return all
}

// word returns the name that an argument is: optional, isHash, c.part.
func word(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return e.Sel.Name
	}
	return ""
}

// body returns the statements of a function literal.
func (s *source) body(e ast.Expr) []ast.Stmt {
	f, ok := e.(*ast.FuncLit)
	require.True(s, ok, "%v is no function", e)
	return f.Body.List
}
