package weft_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"testing"
)

// clocks are the functions of package time that read a clock or wait for one.
var clocks = []string{
	"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "NewTimer", "NewTicker", "Tick",
}

// The engine has no goroutines, channels or clock: what goes in decides what
// comes out. That is what the simulator, the fuzzer and every test of a
// protocol rely on. So it is with the agreement of groups.
func TestEngineIsPure(t *testing.T) {
	for _, root := range []string{"internal/engine", "internal/agreement"} {
		files := 0
		sources(t, root, parser.SkipObjectResolution, func(_ string, fset *token.FileSet, file *ast.File) {
			files++
			ast.Inspect(file, func(n ast.Node) bool {
				if what := impurity(n); what != "" {
					t.Errorf("%s: %s %s", fset.Position(n.Pos()), root, what)
				}
				return true
			})
		})
		if files == 0 {
			t.Errorf("there is no %s", root)
		}
	}
}

// impurity returns what a part of a program does that only its driver may do.
func impurity(n ast.Node) string {
	switch n := n.(type) {
	case *ast.GoStmt:
		return "starts a goroutine"
	case *ast.ChanType, *ast.SelectStmt, *ast.SendStmt:
		return "uses a channel"
	case *ast.SelectorExpr:
		if x, ok := n.X.(*ast.Ident); ok && x.Name == "time" && slices.Contains(clocks, n.Sel.Name) {
			return "reads the clock; take the time as an argument"
		}
	}
	return ""
}
