package mpi

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// names returns the exported names of the package: X, and T.X of methods.
func names(t *testing.T) map[string]bool {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]bool{}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				all[receiver(d)+d.Name.Name] = true
			case *ast.GenDecl:
				ast.Inspect(d, func(n ast.Node) bool {
					switch n := n.(type) {
					case *ast.TypeSpec:
						all[n.Name.Name] = true
						return false
					case *ast.ValueSpec:
						for _, name := range n.Names {
							all[name.Name] = true
						}
					}
					return true
				})
			}
		}
	}
	return all
}

// receiver returns "T." for a method of a type T, and else nothing.
func receiver(d *ast.FuncDecl) string {
	if d.Recv == nil {
		return ""
	}
	at := d.Recv.List[0].Type
	if star, ok := at.(*ast.StarExpr); ok {
		at = star.X
	}
	if generic, ok := at.(*ast.IndexExpr); ok {
		at = generic.X
	}
	if name, ok := at.(*ast.Ident); ok {
		return name.Name + "."
	}
	return ""
}

// TestPage: docs/MPI.md names nothing that the package does not have, and every call of a communicator.
func TestPage(t *testing.T) {
	page, err := os.ReadFile("../docs/MPI.md")
	if err != nil {
		t.Fatal(err)
	}
	has := names(t)
	word := regexp.MustCompile("`([A-Z][a-z]\\w*(?:\\.[A-Z]\\w*)?)(?:\\([a-z, ]*\\))?`")
	said := map[string]bool{}
	for _, m := range word.FindAllStringSubmatch(string(page), -1) {
		said[m[1]] = true
		if !has[m[1]] && !has["Group."+m[1]] {
			t.Errorf("docs/MPI.md says %s, which package mpi does not have", m[1])
		}
	}
	if len(said) < 80 {
		t.Fatalf("docs/MPI.md names %d things of package mpi; this test no longer finds them", len(said))
	}
	for name := range has {
		of, call, ok := strings.Cut(name, ".")
		ok = ok && (of == "Comm" || of == "Window" || of == "File") && ast.IsExported(call)
		if ok && !strings.HasPrefix(call, "Start") && !said[name] {
			t.Errorf("docs/MPI.md does not say %s", name)
		}
	}
}
