// Command elsewhere checks that packages compile for another system: it reads and type-checks their files for it, and
// those of all that they import. That takes a tenth of what compiling them takes, and finds the same mistakes of a
// person: a name, a file or a type that is missing there.
//
//	go run ./lab/elsewhere darwin/arm64 ./...
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "elsewhere: say for which system, as darwin/arm64, and which packages")
		os.Exit(2)
	}
	if err := check(os.Args[1], os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// A source is a package as go list describes it.
type source struct {
	ImportPath string
	Dir        string
	GoFiles    []string
	ImportMap  map[string]string // of what the text imports by another path
	Standard   bool
	Error      *struct{ Err string }
}

// check type-checks packages, after what they import: go list gives them in that order.
func check(system string, packages []string) error {
	goos, goarch, ok := strings.Cut(system, "/")
	if !ok {
		return fmt.Errorf("%q is no system: one is darwin/arm64", system)
	}
	args := []string{"list", "-deps", "-json=ImportPath,Dir,GoFiles,ImportMap,Standard,Error"}
	list := exec.Command("go", append(args, packages...)...)
	list.Env = append(os.Environ(), "GOOS="+goos, "GOARCH="+goarch, "CGO_ENABLED=0")
	list.Stderr = os.Stderr
	out, err := list.StdoutPipe()
	if err != nil {
		return err
	}
	if err := list.Start(); err != nil {
		return err
	}
	var failed []error
	made := map[string]*types.Package{"unsafe": types.Unsafe}
	for from := json.NewDecoder(out); ; {
		var s source
		if err := from.Decode(&s); err == io.EOF {
			break
		} else if err != nil {
			return err
		}
		if s.ImportPath != "unsafe" {
			failed = append(failed, s.check(goarch, made)...)
		}
	}
	return errors.Join(append(failed, list.Wait())...)
}

// check type-checks one package, whose imports have been made, and adds it to them.
func (s *source) check(goarch string, made map[string]*types.Package) (failed []error) {
	if s.Error != nil {
		return []error{errors.New(s.Error.Err)}
	}
	fset := token.NewFileSet()
	var files []*ast.File
	for _, name := range s.GoFiles {
		f, err := parser.ParseFile(fset, filepath.Join(s.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return []error{err}
		}
		files = append(files, f)
	}
	config := types.Config{
		Importer:         imports{s, made},
		IgnoreFuncBodies: s.Standard,
		Sizes:            types.SizesFor("gc", goarch),
		Error:            func(err error) { failed = append(failed, err) },
	}
	made[s.ImportPath], _ = config.Check(s.ImportPath, fset, files, nil) // its error is the first of failed
	return failed
}

// imports finds what a package imports.
type imports struct {
	of   *source
	made map[string]*types.Package
}

// Import returns the package that the text calls by a path.
func (i imports) Import(path string) (*types.Package, error) {
	if other := i.of.ImportMap[path]; other != "" {
		path = other
	}
	if p := i.made[path]; p != nil {
		return p, nil
	}
	return nil, fmt.Errorf("%s imports %s, which go list has not named before it", i.of.ImportPath, path)
}
