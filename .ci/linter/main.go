// Linter vets and lints a package for the go command, which keeps its results:
//
//	go vet -vettool=first ./...
//
// Program first beside this one answers in its place for the packages of which nobody needs to know anything.
// It runs the analyzers of go vet, of staticcheck, and of the smaller linters in suite.go, except where exclusions.go
// or a comment excuses a finding:
//
//	return nil //nolint:nilerr // why it is right
package main

import (
	"encoding/gob"
	"encoding/json"
	"log"
	"os"
	"regexp"
	"runtime/debug"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/passes/lostcancel"
	"golang.org/x/tools/go/analysis/passes/printf"
	"golang.org/x/tools/go/analysis/unitchecker"
	"honnef.co/go/tools/analysis/facts/deprecated"
)

func main() {
	debug.SetGCPercent(400) // it ends soon
	all := suite()
	if last := os.Args[len(os.Args)-1]; strings.HasSuffix(last, ".cfg") {
		asked := read(last)
		product := strings.HasPrefix(asked.ImportPath+"/", "weft/")
		for _, a := range all { // whatever analyzes this package reads what all have found about its imports
			register(a)
		}
		switch {
		case asked.VetxOnly && !product:
			// Others' packages are asked only what they tell of their functions.
			foreign := []*analysis.Analyzer{printf.Analyzer, lostcancel.Analyzer, deprecated.Analyzer}
			if ending[asked.ImportPath] {
				foreign = append(foreign, needed("buildir", all))
			}
			unitchecker.Main(foreign...)
		case vetted.MatchString(asked.ImportPath):
			unitchecker.Main(vet...)
		}
	}
	unitchecker.Main(all...)
}

// vetted matches packages that are vetted, and not linted: the laboratory, and modules of their own.
var vetted = regexp.MustCompile(`^weft/(lab|fabric|internal/web/webtest)\b`)

// ending has others' packages with functions that do not return, such as testing.T.Fatal: staticcheck learns of them
// from the code that it has of a package, which is much work.
var ending = map[string]bool{"log": true, "os": true, "runtime": true, "syscall": true, "testing": true}

// needed returns the analyzer of a name that some others need, or nil.
func needed(name string, by []*analysis.Analyzer) *analysis.Analyzer {
	for _, a := range by {
		if a.Name == name {
			return a
		}
		if found := needed(name, a.Requires); found != nil {
			return found
		}
	}
	return nil
}

// A question is what the go command asks, of what it writes into a file.
type question struct {
	ImportPath string
	VetxOnly   bool // only what packages that import this one need to know
}

func read(file string) (q question) {
	text, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(text, &q)
	}
	if err != nil {
		log.Fatal(err)
	}
	return q
}

// register makes the facts of an analyzer readable, and the facts of the analyzers that it needs.
func register(a *analysis.Analyzer) {
	for _, f := range a.FactTypes {
		gob.Register(f)
	}
	for _, other := range a.Requires {
		register(other)
	}
}
