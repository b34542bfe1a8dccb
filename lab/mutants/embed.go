package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// The environment chooses the mutant of a program in which many are embedded, and names the file in which it notes
// which ones it has reached.
const (
	variable  = "WEFT_MUTANT"
	reachedBy = "WEFT_MUTANTS_REACHED"
)

// choice is the file that is added to a package with embedded mutants.
const choice = `package %s

import (
	"fmt"
	"os"
	"strconv"
	"sync/atomic"
)

var (
	theMutant, _ = strconv.Atoi(os.Getenv("` + variable + `"))
	reachedFile  = os.Getenv("` + reachedBy + `")
	reached      [%d]atomic.Bool
)

func isMutant(n int) bool {
	if reachedFile != "" {
		noteReached(n)
	}
	return theMutant == n
}

func noteReached(n int) {
	if reached[n].Swap(true) {
		return
	}
	if f, err := os.OpenFile(reachedFile, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666); err == nil {
		fmt.Fprintln(f, n)
		f.Close()
	}
}
`

// An edit replaces bytes of a file.
type edit struct {
	at, end int
	by      string
}

// embed returns a file in which each function that has mutants begins by calling a copy of itself, if the environment
// chooses the mutant that is made in this copy. Their numbers begin at first. It also returns the line at which each
// copy begins.
func embed(root, file string, some []mutant, first int) (text string, begins []int, err error) {
	original, err := os.ReadFile(filepath.Join(root, file))
	if err != nil {
		return "", nil, err
	}
	set := token.NewFileSet()
	tree, err := parser.ParseFile(set, file, original, parser.SkipObjectResolution|parser.ParseComments)
	if err != nil {
		return "", nil, err
	}
	at := func(p token.Pos) int { return set.Position(p).Offset }
	var edits []edit
	copies := ""
	lines := strings.Count(string(original), "\n") + 2
	for _, d := range tree.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Body == nil {
			continue
		}
		from := at(f.Type.Func)
		to := at(f.End())
		var names []edit
		call := caller(f, at, &names)
		calls := ""
		for i := range some {
			m := &some[i]
			if m.at < from || m.at >= to {
				continue
			}
			name := fmt.Sprintf("%sMutant%d", f.Name.Name, first+i)
			calls += fmt.Sprintf(" if isMutant(%d) { %s }; ", first+i, fmt.Sprintf(call, name))
			one := apply(string(original), append(slices.Clone(names), edit{at(f.Name.Pos()), at(f.Name.End()), name},
				edit{m.at, m.end, m.by}), from, to)
			begins = append(begins, lines)
			lines += strings.Count(one, "\n") + 1
			copies += one + "\n"
		}
		if calls != "" {
			edits = append(append(edits, names...), edit{at(f.Body.Lbrace) + 1, at(f.Body.Lbrace) + 1, calls})
		}
	}
	return apply(string(original), edits, 0, len(original)) + "\n" + copies, begins, nil
}

// caller returns the statement by which a function calls a copy of itself, with %s for its name. It gives names to
// parameters that have none.
func caller(f *ast.FuncDecl, at func(token.Pos) int, names *[]edit) string {
	given := 0
	list := func(fields *ast.FieldList) (all []string) {
		for _, field := range fields.List {
			some := []string{}
			for _, n := range field.Names {
				name := n.Name
				if name == "_" {
					given++
					name = fmt.Sprint("unnamed", given)
					*names = append(*names, edit{at(n.Pos()), at(n.End()), name})
				}
				some = append(some, name)
			}
			if len(some) == 0 {
				given++
				some = append(some, fmt.Sprint("unnamed", given))
				*names = append(*names, edit{at(field.Type.Pos()), at(field.Type.Pos()), some[0] + " "})
			}
			if _, variadic := field.Type.(*ast.Ellipsis); variadic {
				some[len(some)-1] += "..."
			}
			all = append(all, some...)
		}
		return all
	}
	call := "%s"
	if f.Recv != nil {
		call = list(f.Recv)[0] + ".%s"
	}
	if f.Type.TypeParams != nil {
		call += "[" + strings.Join(list(f.Type.TypeParams), ", ") + "]"
	}
	call += "(" + strings.Join(list(f.Type.Params), ", ") + ")"
	if f.Type.Results == nil {
		return call + "; return"
	}
	return "return " + call
}

// apply returns the part of a text between two places, with edits.
func apply(text string, edits []edit, from, to int) string {
	slices.SortFunc(edits, func(a, b edit) int { return a.at - b.at })
	var b strings.Builder
	for _, e := range edits {
		b.WriteString(text[from:e.at] + e.by)
		from = e.end
	}
	return b.String() + text[from:to]
}

var position = regexp.MustCompile(`(?m)^[^\s:]*?([^/\s:]+\.go):(\d+):`)

// broken returns which mutants a compiler has refused: begins holds the lines of the copies of each file, in the order
// of the mutants, and first their numbers.
func broken(said string, begins map[string][]int, first map[string]int) (numbers map[int]bool) {
	numbers = map[int]bool{}
	for _, m := range position.FindAllStringSubmatch(said, -1) {
		line, _ := strconv.Atoi(m[2])
		of := begins[m[1]]
		i := 0
		for i < len(of) && of[i] <= line {
			i++
		}
		if i > 0 {
			numbers[first[m[1]]+i-1] = true
		}
	}
	return numbers
}
