package main

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"hash/fnv"
	"os"
	"path/filepath"
	"slices"
)

// A mutant is one change of one file.
type mutant struct {
	file    string // from the root of the source
	line    int
	at, end int // what is replaced, in bytes of the file
	by      string
	what    string // for people
	order   uint64 // of all mutants of a package the first ones are tried
}

// instead is what takes the place of an operator.
var instead = map[token.Token][]token.Token{
	token.LSS: {token.LEQ, token.GEQ}, token.LEQ: {token.LSS, token.GTR},
	token.GTR: {token.GEQ, token.LEQ}, token.GEQ: {token.GTR, token.LSS},
	token.EQL: {token.NEQ}, token.NEQ: {token.EQL},
	token.LAND: {token.LOR}, token.LOR: {token.LAND},
	token.ADD: {token.SUB}, token.SUB: {token.ADD}, token.MUL: {token.QUO}, token.QUO: {token.MUL},
	token.REM: {token.MUL}, token.AND: {token.OR}, token.OR: {token.AND},
	token.SHL: {token.SHR}, token.SHR: {token.SHL},
	token.INC: {token.DEC}, token.DEC: {token.INC},
	token.ADD_ASSIGN: {token.SUB_ASSIGN}, token.SUB_ASSIGN: {token.ADD_ASSIGN},
	token.BREAK: {token.CONTINUE}, token.CONTINUE: {token.BREAK},
}

// mutants returns the mutants of a file's functions, of lines for which wanted is true.
func mutants(root, file string, wanted func(line int) bool) ([]mutant, error) {
	text, err := os.ReadFile(filepath.Join(root, file))
	if err != nil {
		return nil, err
	}
	set := token.NewFileSet()
	tree, err := parser.ParseFile(set, file, text, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	var all []mutant
	add := func(from, to token.Pos, by, what string) {
		m := mutant{file: file, line: set.Position(from).Line, by: by, what: what}
		m.at = set.Position(from).Offset
		m.end = set.Position(to).Offset
		if wanted(m.line) {
			all = append(all, m)
		}
	}
	operator := func(at token.Pos, t token.Token) {
		for _, by := range instead[t] {
			add(at, at+token.Pos(len(t.String())), by.String(), fmt.Sprintf("%s becomes %s", t, by))
		}
	}
	look := func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GenDecl:
			return n.Tok != token.CONST // figures are decisions, not conditions
		case *ast.BinaryExpr:
			operator(n.OpPos, n.Op)
		case *ast.IncDecStmt:
			operator(n.TokPos, n.Tok)
		case *ast.AssignStmt:
			operator(n.TokPos, n.Tok)
		case *ast.BranchStmt:
			operator(n.TokPos, n.Tok)
		case *ast.IfStmt:
			cond := string(text[set.Position(n.Cond.Pos()).Offset:set.Position(n.Cond.End()).Offset])
			add(n.Cond.Pos(), n.Cond.End(), "false && ("+cond+")", "never if "+cond)
		}
		return true
	}
	for _, d := range tree.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Body != nil {
			ast.Inspect(f.Body, look)
		}
	}
	rank(all, text)
	return all, nil
}

// rank gives each mutant its place among all: by the text of its line and what is done to it, so that a change
// elsewhere in the file chooses no other mutants.
func rank(all []mutant, text []byte) {
	seen := map[uint64]uint64{}
	for i := range all {
		m := &all[i]
		begin := m.at
		for begin > 0 && text[begin-1] != '\n' {
			begin--
		}
		h := fnv.New64a()
		fmt.Fprintf(h, "%s %s %s %d", m.file, text[begin:m.end], m.what, m.at-begin)
		key := h.Sum64()
		fmt.Fprintf(h, " %d", seen[key])
		seen[key]++
		m.order = mix(h.Sum64())
	}
}

// mix spreads a hash: the last bytes of what FNV has read change few bits.
func mix(x uint64) uint64 {
	x ^= x >> 33
	x *= 0xff51afd7ed558ccd
	x ^= x >> 33
	return x
}

// choose returns the n mutants that are tried with a seed, in the order of the source.
func choose(all []mutant, n int, seed uint64) []mutant {
	turn := mix(mix(seed))
	slices.SortFunc(all, func(a, b mutant) int { return cmp.Compare(a.order^turn, b.order^turn) })
	some := all[:min(n, len(all))]
	slices.SortFunc(some, func(a, b mutant) int {
		return cmp.Or(cmp.Compare(a.file, b.file), cmp.Compare(a.at, b.at), cmp.Compare(a.what, b.what))
	})
	return some
}
