package weft_test

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Limits of what a reader takes in at once: a file holds one idea, and a function fits a screen.
const (
	maxFileLines     = 400
	maxFunctionLines = 70
)

// longFunctions lists the functions that are longer than the limit, with the length that they have. An entry may
// only become smaller: split the function, and take its entry out. An entry with a reason stays.
var longFunctions = map[string]int{
	"example_test.go ExampleFault":                      86, // the documentation shows an example's function only
	"internal/engine/scenario_test.go scenario.command": 81, // a table: a command, and what does it
	"internal/engine/wire/describe.go fields":           72, // a table: a type, and what parses it
	"internal/engine/wire/event_test.go TestEvents":     96, // a table: an event, and what parses it
	"lab/cmd/weftlab/perf.go perfTests":                 79, // a table: a measurement, and its flags
	"internal/launch/ranks_test.go beRank":              85, // a table: a word, and what a rank does then
}

// insideTests holds tests of the product that need hosts; lab/inside puts them into their packages.
const insideTests = "lab/inside/testdata"

// goFiles calls f with the name and the text of every Go file, tests too, that is part of the repository.
func goFiles(t *testing.T, f func(name string, text []byte)) {
	t.Helper()
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		hidden := strings.HasPrefix(d.Name(), ".") && name != "."
		switch {
		case d.IsDir() && (hidden || d.Name() == "testdata" && filepath.ToSlash(name) != insideTests):
			return fs.SkipDir
		case d.IsDir() || hidden || !strings.HasSuffix(name, ".go"):
			return nil
		}
		text, err := os.ReadFile(name)
		if err == nil {
			f(filepath.ToSlash(name), text)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestLengths(t *testing.T) {
	functions := map[string]int{}
	goFiles(t, func(name string, text []byte) {
		if n := bytes.Count(text, []byte("\n")); n > maxFileLines {
			t.Errorf("%s: a file of %d lines: at most %d; split it", name, n, maxFileLines)
		}
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, name, text, parser.SkipObjectResolution)
		if err != nil {
			t.Error(err)
			return
		}
		for function, n := range functionLines(fset, file, strings.HasSuffix(name, "_test.go")) {
			if n > maxFunctionLines {
				functions[name+" "+function] = n
			}
		}
	})
	ratchet(t, functions)
}

// ratchet compares the long functions with the listed ones. What has become shorter is no error, so that an
// improvement needs no other change; lower its entry, or take it out.
func ratchet(t *testing.T, have map[string]int) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(have)) {
		n := have[name]
		switch most, ok := longFunctions[name]; {
		case !ok:
			t.Errorf("%s: a function of %d lines: at most %d; split it", name, n, maxFunctionLines)
		case n > most:
			t.Errorf("%s: a function of %d lines, which may have %d until it is split: do not let it grow", name, n, most)
		}
	}
}

// functionLines returns the length of each function of a file by its name. In a test a table, which is a literal of
// a slice, an array or a map, counts as one line; a function inside the table counts by itself.
func functionLines(fset *token.FileSet, file *ast.File, isTest bool) map[string]int {
	lengths := map[string]int{}
	line := func(p token.Pos) int { return fset.Position(p).Line }
	var measure func(name string, from, to token.Pos, body ast.Node)
	measure = func(name string, from, to token.Pos, body ast.Node) {
		n := line(to) - line(from) + 1
		if isTest {
			for _, table := range tables(body) {
				n -= line(table.End()) - line(table.Pos())
				for i, f := range functionsIn(table) {
					measure(fmt.Sprintf("%s, in a table (%d)", name, i), f.Pos(), f.End(), f.Body)
				}
			}
		}
		lengths[name] = max(lengths[name], n)
	}
	for _, decl := range file.Decls {
		if f, ok := decl.(*ast.FuncDecl); ok && f.Body != nil {
			measure(functionName(f), f.Pos(), f.End(), f.Body)
		}
	}
	return lengths
}

// functionName returns the name of a function, after its receiver's type if it is a method.
func functionName(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return f.Name.Name
	}
	receiver := f.Recv.List[0].Type
	for {
		switch r := receiver.(type) {
		case *ast.StarExpr:
			receiver = r.X
		case *ast.IndexExpr:
			receiver = r.X
		case *ast.IndexListExpr:
			receiver = r.X
		case *ast.Ident:
			return r.Name + "." + f.Name.Name
		default:
			return f.Name.Name
		}
	}
}

// tables returns the outermost literals of slices, arrays and maps.
func tables(body ast.Node) (found []*ast.CompositeLit) {
	ast.Inspect(body, func(n ast.Node) bool {
		literal, ok := n.(*ast.CompositeLit)
		if !ok {
			return true
		}
		switch literal.Type.(type) {
		case *ast.ArrayType, *ast.MapType:
			found = append(found, literal)
			return false
		}
		return true
	})
	return found
}

// functionsIn returns the outermost function literals of a table.
func functionsIn(table *ast.CompositeLit) (found []*ast.FuncLit) {
	ast.Inspect(table, func(n ast.Node) bool {
		f, ok := n.(*ast.FuncLit)
		if ok {
			found = append(found, f)
		}
		return !ok
	})
	return found
}
