package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "planted:", err)
		os.Exit(1)
	}
}

// run plants the bugs, and runs the tests that must find them: those of some packages, or all.
func run(packages []string, out io.Writer) error {
	all, err := bugs()
	if err != nil {
		return err
	}
	root, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "weft").Output()
	if err != nil {
		return fmt.Errorf("where is the source of module weft? %w", err)
	}
	dir, err := os.MkdirTemp("", "planted-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	source := strings.TrimSpace(string(root))
	name, err := overlay(source, dir, all)
	if err != nil {
		return err
	}
	r := newReport(all, packages)
	if len(r.open) == 0 {
		return fmt.Errorf("no bug is found in %v", packages)
	}
	args := []string{"test", "-json", "-count=1", "-vet=off", "-tags", "mutants", "-overlay", name, "-run", "^TestPlanted"}
	cmd := exec.Command("go", append(args, r.packages()...)...)
	cmd.Dir = source
	cmd.Stderr = os.Stderr
	events, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	read := r.read(events, out)
	return errors.Join(read, cmd.Wait(), r.missing())
}

// A finding is what is asked of a package: that its tests find a bug.
type finding struct{ pkg, bug string }

// A report is what has become of all bugs.
type report struct {
	open   []finding // not found yet
	output map[string]*bytes.Buffer
}

func newReport(all []bug, packages []string) *report {
	r := &report{output: map[string]*bytes.Buffer{}}
	for _, b := range all {
		for _, pkg := range b.foundIn {
			if len(packages) == 0 || slices.ContainsFunc(packages, func(p string) bool { return path.Clean(p) == pkg }) {
				r.open = append(r.open, finding{pkg, b.name})
			}
		}
	}
	return r
}

// packages returns the packages whose tests find bugs.
func (r *report) packages() []string {
	var all []string
	for _, f := range r.open {
		if name := "./" + f.pkg; !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	return all
}

// An event is a line of `go test -json`.
type event struct {
	Action, Package, Test, Output string
	Elapsed                       float64
}

// read reads what the tests say: it prints a line when a bug has been found, and all output of a test that fails.
func (r *report) read(events io.Reader, out io.Writer) error {
	for from := json.NewDecoder(events); ; {
		var e event
		if err := from.Decode(&e); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		key := e.Package + " " + e.Test
		switch e.Action {
		case "output", "build-output":
			if r.output[key] == nil {
				r.output[key] = &bytes.Buffer{}
			}
			r.output[key].WriteString(e.Output)
		case "fail", "build-fail":
			if said := r.output[key]; said != nil {
				fmt.Fprintf(out, "%s", said)
			}
		case "pass":
			r.passed(e, out)
		}
	}
}

// passed strikes the bug out whose test has passed.
func (r *report) passed(e event, out io.Writer) {
	test, name, _ := strings.Cut(e.Test, "/")
	f := finding{strings.TrimPrefix(e.Package, "weft/"), name}
	if i := slices.Index(r.open, f); i >= 0 {
		r.open = slices.Delete(r.open, i, i+1)
		fmt.Fprintf(out, "%-16s found by %s of %s (%.1f s)\n", name, test, f.pkg, e.Elapsed)
	}
}

// missing says which bugs have not been found.
func (r *report) missing() error {
	var all []error
	for _, f := range r.open {
		all = append(all, fmt.Errorf("planted bug %s is not found by the tests of %s", f.bug, f.pkg))
	}
	return errors.Join(all...)
}
