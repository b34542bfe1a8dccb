package weft_test

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"testing"
)

// A line assigns once, so that a reader finds each assignment where a line begins. It may assign several values when
// they are the results of one call, when it swaps (a right side reads what a left side names), and in the header of a
// for statement, which has room for one statement only.
func TestOneAssignmentALine(t *testing.T) {
	goFiles(t, func(name string, text []byte) {
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, name, text, parser.SkipObjectResolution)
		if err != nil {
			t.Error(err)
			return
		}
		for _, at := range manyAssignments(file) {
			t.Errorf("%v assigns several values: give each a line of its own", fset.Position(at))
		}
	})
}

// manyAssignments returns where a file has several assignments on a line.
func manyAssignments(file *ast.File) (found []token.Pos) {
	headers := map[ast.Stmt]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ForStmt:
			headers[n.Init] = true
			headers[n.Post] = true
		case *ast.AssignStmt:
			if len(n.Rhs) > 1 && !headers[n] && !swaps(n) {
				found = append(found, n.Pos())
			}
		case *ast.ValueSpec:
			if len(n.Values) > 1 {
				found = append(found, n.Pos())
			}
		}
		return true
	})
	return found
}

// swaps reports whether a right side of an assignment reads what another left side names.
func swaps(s *ast.AssignStmt) bool {
	for i, left := range s.Lhs {
		name := source(left)
		for j, right := range s.Rhs {
			if i != j && reads(right, name) {
				return true
			}
		}
	}
	return false
}

// reads reports whether an expression has a part with this text.
func reads(whole ast.Expr, part string) (found bool) {
	ast.Inspect(whole, func(n ast.Node) bool {
		if e, ok := n.(ast.Expr); ok && source(e) == part {
			found = true
		}
		return !found
	})
	return found
}

// source returns an expression as Go text.
func source(e ast.Expr) string {
	var text bytes.Buffer
	_ = printer.Fprint(&text, token.NewFileSet(), e) // to memory
	return text.String()
}

func TestManyAssignments(t *testing.T) {
	for line, want := range map[string]int{
		"a, b := f()":                     0,
		"v, ok := m[k]":                   0,
		"a, b = b, a":                     0,
		"s[i], s[j] = s[j], s[i]":         0,
		"a, b = b, a+b":                   0,
		"for i, j := 0, 9; i < j; i++ {}": 0,
		"a, b := 1, 2":                    1,
		"s.a, s.b = 1, 2":                 1,
		"if a, b := 1, 2; a < b {}":       1,
		"var a, b = 1, 2":                 1,
		"a, b = x(), y()":                 1,
	} {
		file, err := parser.ParseFile(token.NewFileSet(), "", "package p; func _() {\n"+line+"\n}", 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := len(manyAssignments(file)); got != want {
			t.Errorf("%q: %d findings, want %d", line, got, want)
		}
	}
}
