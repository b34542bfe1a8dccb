package main

import (
	"bytes"
	"path/filepath"
	"regexp"
	"strings"

	"golang.org/x/tools/go/analysis"
)

// An exclusion names linters that do not hold for some files.
type exclusion struct {
	files   *regexp.Regexp // names from the root of the repository
	linters string
}

var exclusions = []exclusion{
	// A test ends the process, and the system closes what is open.
	{regexp.MustCompile(`_test\.go$`), "errcheck errorlint"},
	// On a data path an error of the same package is compared, and not searched for in a tree.
	{regexp.MustCompile(`^(am|fm|mpi|pm|stream|vmmc|internal/(driver|endpoint|engine|sys))/|^[a-z_]+\.go$`), "errorlint"},
	// Tables, and what a program prints, which cannot be cut.
	{regexp.MustCompile(`(^deps|^words|internal/(launch/control|perf/perf|waitgraph/graph))_test\.go$`), "lll"},
}

// nolint is a comment that excuses the findings of some linters in its line: //nolint:errcheck,nilerr // why.
var nolint = regexp.MustCompile(`//nolint:([a-z,]+)`)

// excuse makes analyzers forget the findings of a linter that are excused, and name the linter in the others.
func excuse(linter string, analyzers ...*analysis.Analyzer) {
	for _, a := range analyzers {
		run := a.Run
		a.Run = func(pass *analysis.Pass) (any, error) {
			own := *pass
			own.Report = func(d analysis.Diagnostic) {
				if !excused(pass, linter, d) {
					d.Message += " (" + linter + ", " + a.Name + ")"
					pass.Report(d)
				}
			}
			return run(&own)
		}
	}
}

// excused reports whether a file or a line is free of a linter.
func excused(pass *analysis.Pass, linter string, d analysis.Diagnostic) bool {
	at := pass.Fset.Position(d.Pos)
	pkg := strings.TrimPrefix(strings.TrimSuffix(pass.Pkg.Path(), "_test")+"/", "weft/")
	name := pkg + filepath.Base(at.Filename)
	for _, e := range exclusions {
		if e.files.MatchString(name) && containsWord(e.linters, " ", linter) {
			return true
		}
	}
	text, err := pass.ReadFile(at.Filename)
	if err != nil || at.Line < 1 {
		return false
	}
	lines := bytes.Split(text, []byte("\n"))
	if at.Line > len(lines) {
		return false
	}
	m := nolint.FindSubmatch(lines[at.Line-1])
	return m != nil && containsWord(string(m[1]), ",", linter)
}

func containsWord(list, separator, word string) bool {
	return strings.Contains(separator+list+separator, separator+word+separator)
}
