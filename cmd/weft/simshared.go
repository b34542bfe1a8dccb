package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"sort"
	"strings"
)

// warnShared tells of package-level variables that a program changes: in the
// simulator all ranks share them. It looks at the program's own package only.
func warnShared(dir string) {
	fset := token.NewFileSet()
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return
	}
	var files []*ast.File
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		if f, err := parser.ParseFile(fset, name, nil, 0); err == nil {
			files = append(files, f)
		}
	}
	for _, line := range sharedVariables(fset, files) {
		fmt.Fprintf(os.Stderr, "weft: %s\n", line)
	}
}

// sharedVariables returns a line for each package-level variable that a
// function assigns to or takes the address of.
func sharedVariables(fset *token.FileSet, files []*ast.File) (lines []string) {
	global := map[string]bool{}
	for _, f := range files {
		for _, d := range f.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok || g.Tok != token.VAR {
				continue
			}
			for _, s := range g.Specs {
				for _, n := range s.(*ast.ValueSpec).Names {
					global[n.Name] = n.Name != "_"
				}
			}
		}
	}
	seen := map[string]bool{}
	for _, f := range files {

		ast.Inspect(f, func(n ast.Node) bool {
			var changed []ast.Expr
			switch s := n.(type) {
			case *ast.AssignStmt:
				if s.Tok != token.DEFINE {
					changed = s.Lhs
				}
			case *ast.IncDecStmt:
				changed = []ast.Expr{s.X}
			case *ast.UnaryExpr:
				if s.Op == token.AND {
					changed = []ast.Expr{s.X}
				}
			}
			for _, e := range changed {
				id := root(e)
				if id == nil || !global[id.Name] || seen[id.Name] || !isGlobal(id, f) {
					continue
				}
				seen[id.Name] = true
				lines = append(lines, fmt.Sprintf("%s: the package-level variable %s is changed: "+
					"in the simulator all ranks share it",
					fset.Position(id.Pos()), id.Name))
			}
			return true
		})
	}
	sort.Strings(lines)
	return lines
}

// root returns the variable that an expression is a part of.
func root(e ast.Expr) *ast.Ident {
	for {
		switch x := e.(type) {
		case *ast.Ident:
			return x
		case *ast.SelectorExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		case *ast.ParenExpr:
			e = x.X
		default:
			return nil
		}
	}
}

// isGlobal reports whether an identifier means a variable of the package: one
// declared at the top of this file, or in none that the parser has seen.
func isGlobal(id *ast.Ident, f *ast.File) bool {
	return id.Obj == nil || f.Scope.Lookup(id.Name) == id.Obj
}
