package main

import (
	"fmt"
	"go/ast"
	"go/token"
	"regexp"
	"strings"

	"github.com/golangci/misspell"
	"github.com/golangci/unconvert"
	"github.com/kisielk/errcheck/errcheck"
	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/packages"
	"honnef.co/go/tools/unused"
)

// maxLine is the most characters of a line that contains no address of a page.
const maxLine = 120

// unacted are functions whose errors need no answer: what has failed is closed, a deadline is set on a connection
// that has ended (which the next call reports), or the function never fails.
var unacted = []string{
	"(net.Conn).SetDeadline", "(net.Conn).SetReadDeadline", "(net.Conn).SetWriteDeadline",
	"(*net.TCPConn).SetDeadline",
	"(*net.UnixConn).SetDeadline", "(*net.UnixConn).SetReadDeadline", "(*net.UnixConn).SetWriteDeadline",
	"crypto/rand.Read", "fmt.Sscan", "io.WriteString", "weft/internal/sys.Unmap",
}

// ended matches calls that end or clean up something, or print: their errors change nothing.
var ended = regexp.MustCompile(
	`(?i)^((os\.)?std(out|err)\..*|.*Close|.*Flush|os\.Remove(All)?|.*print(f|ln)?|os\.(Un)?Setenv)$`)

var uncheckedErrors = &analysis.Analyzer{
	Name: "errcheck",
	Doc:  "finds calls whose errors are dropped",
	Run: func(pass *analysis.Pass) (any, error) {
		c := errcheck.Checker{Exclusions: errcheck.Exclusions{BlankAssignments: true, TypeAssertions: true}}
		c.Exclusions.Symbols = append(c.Exclusions.Symbols, errcheck.DefaultExcludedSymbols...)
		c.Exclusions.Symbols = append(c.Exclusions.Symbols, unacted...)
		found := c.CheckPackage(&packages.Package{
			Fset: pass.Fset, Syntax: pass.Files, Types: pass.Pkg, TypesInfo: pass.TypesInfo,
		})
		for _, e := range found.Unique().UncheckedErrors {
			call := e.SelectorName
			if call == "" {
				call = e.FuncName
			}
			if !ended.MatchString(call) {
				pass.Reportf(position(pass, e.Pos), "the error of %s is not checked", call)
			}
		}
		return nil, nil
	},
}

var unneeded = &analysis.Analyzer{
	Name: "unconvert",
	Doc:  "finds conversions to the type that a value has",
	Run: func(pass *analysis.Pass) (any, error) {
		for _, p := range unconvert.Run(pass) {
			pass.Reportf(position(pass, p), "a needless conversion")
		}
		return nil, nil
	},
}

var unusedNames = &analysis.Analyzer{
	Name:     "unused",
	Doc:      "finds names that nothing uses",
	Requires: []*analysis.Analyzer{unused.Analyzer.Analyzer},
	Run: func(pass *analysis.Pass) (any, error) {
		found := pass.ResultOf[unused.Analyzer.Analyzer].(unused.Result)
		used := map[token.Position]bool{} // a variable of a type switch is several objects
		for _, o := range found.Used {
			used[o.Position] = true
		}
		for _, o := range found.Unused {
			if o.Kind != "type param" && !used[o.Position] {
				pass.Reportf(position(pass, o.Position), "%s %s is not used", o.Kind, o.Name)
			}
		}
		return nil, nil
	},
}

var misspelled = &analysis.Analyzer{
	Name: "misspell",
	Doc:  "finds English words that are misspelled",
	Run: func(pass *analysis.Pass) (any, error) {
		r := misspell.Replacer{Replacements: misspell.DictMain}
		r.Compile()
		return nil, eachText(pass, func(file *token.File, text string) {
			_, found := r.Replace(text)
			for _, d := range found {
				pass.Reportf(file.LineStart(d.Line)+token.Pos(d.Column), "%s is a misspelling of %s", d.Original, d.Corrected)
			}
		})
	},
}

var lines = &analysis.Analyzer{
	Name: "lll",
	Doc:  "finds long lines",
	Run: func(pass *analysis.Pass) (any, error) {
		return nil, eachText(pass, func(file *token.File, text string) {
			for i, line := range strings.Split(text, "\n") {
				if n := len([]rune(line)); n > maxLine && !strings.Contains(line, "http") {
					pass.Reportf(file.LineStart(i+1), "a line of %d characters, of at most %d", n, maxLine)
				}
			}
		})
	},
}

// eachText calls a function with each file of a package.
func eachText(pass *analysis.Pass, f func(file *token.File, text string)) error {
	for _, a := range pass.Files {
		file := pass.Fset.File(a.Pos())
		text, err := pass.ReadFile(file.Name())
		if err != nil {
			return err
		}
		f(file, string(text))
	}
	return nil
}

// position returns where a place is in a package's files.
func position(pass *analysis.Pass, p token.Position) token.Pos {
	for _, a := range pass.Files {
		if file := pass.Fset.File(a.Pos()); file.Name() == p.Filename {
			return file.LineStart(p.Line) + token.Pos(p.Column-1)
		}
	}
	panic(fmt.Sprintf("%v is in no file of the package", p))
}

// ofInterfaces are methods whose interfaces say what they do.
var ofInterfaces = regexp.MustCompile(`^(Error|Read|ServeHTTP|String|Write|Unwrap|Len|Less|Swap)$`)

// documented wants a comment at each exported name. Its form is checked by staticcheck (ST1020 to ST1022).
var documented = &analysis.Analyzer{
	Name: "revive",
	Doc:  "finds exported names without a comment, and those that repeat their package's name",
	Run: func(pass *analysis.Pass) (any, error) {
		if pass.Pkg.Name() == "main" {
			return nil, nil
		}
		for _, file := range pass.Files {
			if strings.HasSuffix(pass.Fset.Position(file.Pos()).Filename, "_test.go") {
				continue
			}
			for _, d := range file.Decls {
				switch d := d.(type) {
				case *ast.FuncDecl:
					function(pass, d)
				case *ast.GenDecl:
					declaration(pass, d)
				}
			}
		}
		return nil, nil
	},
}

func function(pass *analysis.Pass, f *ast.FuncDecl) {
	switch {
	case !f.Name.IsExported():
		return
	case f.Recv == nil:
		repeated(pass, f.Name)
	case ofInterfaces.MatchString(f.Name.Name) || !ast.IsExported(receiver(f.Recv.List[0].Type)):
		return
	}
	if f.Doc.Text() == "" {
		pass.Reportf(f.Pos(), "%s is exported and has no comment", f.Name.Name)
	}
}

// receiver returns the name of a receiver's type.
func receiver(t ast.Expr) string {
	switch t := t.(type) {
	case *ast.StarExpr:
		return receiver(t.X)
	case *ast.IndexExpr:
		return receiver(t.X)
	case *ast.IndexListExpr:
		return receiver(t.X)
	case *ast.Ident:
		return t.Name
	}
	return ""
}

func declaration(pass *analysis.Pass, d *ast.GenDecl) {
	for _, s := range d.Specs {
		switch s := s.(type) {
		case *ast.TypeSpec:
			repeated(pass, s.Name)
			if s.Name.IsExported() && s.Doc.Text() == "" && d.Doc.Text() == "" {
				pass.Reportf(s.Pos(), "%s is exported and has no comment", s.Name.Name)
			}
		case *ast.ValueSpec:
			for i, n := range s.Names {
				switch {
				case !n.IsExported():
				case i > 0:
					pass.Reportf(n.Pos(), "%s is exported and should have its own declaration", n.Name)
				case s.Doc.Text() == "" && d.Doc.Text() == "":
					pass.Reportf(n.Pos(), "%s is exported and has no comment", n.Name)
				}
			}
		}
	}
}

// repeated reports a name that begins with its package's: others write both.
func repeated(pass *analysis.Pass, n *ast.Ident) {
	pkg := pass.Pkg.Name()
	if !n.IsExported() || len(n.Name) <= len(pkg) || !strings.EqualFold(n.Name[:len(pkg)], pkg) {
		return
	}
	if next := n.Name[len(pkg)]; next == '_' || 'A' <= next && next <= 'Z' {
		pass.Reportf(n.Pos(), "%s.%s says %s twice", pkg, n.Name, pkg)
	}
}
