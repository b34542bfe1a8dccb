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
// protocol rely on.
func TestEngineIsPure(t *testing.T) {
	files := 0
	sources(t, "internal/engine", parser.SkipObjectResolution, func(_ string, fset *token.FileSet, file *ast.File) {
		files++
		ast.Inspect(file, func(n ast.Node) bool {
			what := ""
			switch n := n.(type) {
			case *ast.GoStmt:
				what = "starts a goroutine"
			case *ast.ChanType, *ast.SelectStmt, *ast.SendStmt:
				what = "uses a channel"
			case *ast.SelectorExpr:
				if x, ok := n.X.(*ast.Ident); ok && x.Name == "time" && slices.Contains(clocks, n.Sel.Name) {
					what = "reads the clock; take the time as an argument"
				}
			}
			if what != "" {
				t.Errorf("%s: the engine %s", fset.Position(n.Pos()), what)
			}
			return true
		})
	})
	if files == 0 {
		t.Error("there is no engine")
	}
}
