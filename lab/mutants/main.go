package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"time"
)

// dangerous are the packages in which a fault would be worst.
var dangerous = []string{
	"internal/handshake", "internal/transport/shm", "internal/transport/tcp", "internal/transport/udp",
	"internal/transport/eth", "internal/engine", "internal/engine/wire", "internal/engine/link", "internal/engine/msg",
	"internal/engine/rma", "internal/engine/coord", "internal/mailbox", "internal/ring", "internal/driver", "internal/match",
	"mpi", "stream",
}

// testedBy are the packages whose tests must find a mutant of a package, the fastest first, where it is not the package
// alone.
var testedBy = map[string][]string{
	"internal/engine":       {"./internal/engine", "./lab/stress"},
	"internal/engine/wire":  {"./internal/engine/wire", "./internal/engine"},
	"internal/engine/link":  {"./internal/engine/link", "./internal/engine", "./lab/stress"},
	"internal/engine/msg":   {"./internal/engine/msg", "./internal/engine", "./lab/stress"},
	"internal/engine/rma":   {"./internal/engine/rma", "./internal/engine", "./lab/stress"},
	"internal/engine/coord": {"./internal/engine", "./internal/engine/coord", "./lab/stress"},
	"internal/driver":       {"./internal/driver", "."},
}

// A session is one run of the command.
type session struct {
	root  string // of the source
	dir   string // for what a mutant replaces
	most  int    // mutants of each package
	since string // a revision, or ""
	until time.Time
	out   io.Writer

	tried, found int
}

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

// run tries mutants, and prints those that no test has found, and the score.
func run(args []string, out io.Writer) error {
	fs := flag.NewFlagSet("mutants", flag.ContinueOnError)
	most := fs.Int("n", math.MaxInt, "mutants of each package")
	since := fs.String("diff", "", "only lines that have changed since this revision")
	limit := fs.Duration("for", 0, "begin no mutant after so long")
	least := fs.Int("least", 0, "fail if fewer in a hundred are found")
	if err := fs.Parse(args); err != nil {
		return err
	}
	root, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "weft").Output()
	if err != nil {
		return fmt.Errorf("where is the source of module weft? %w", err)
	}
	dir, err := os.MkdirTemp("", "mutants-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	s := &session{root: strings.TrimSpace(string(root)), dir: dir, most: *most, since: *since, out: out}
	if *limit > 0 {
		s.until = time.Now().Add(*limit)
	}
	packages := fs.Args()
	if len(packages) == 0 {
		packages = dangerous
	}
	for _, pkg := range packages {
		if err := s.try(path.Clean(pkg)); err != nil {
			return fmt.Errorf("%s: %w", pkg, err)
		}
	}
	fmt.Fprintf(out, "\n%d mutants tried, %d found\n", s.tried, s.found)
	if 100*s.found < *least*s.tried {
		return fmt.Errorf("fewer than %d in a hundred were found", *least)
	}
	return nil
}

// try tries the mutants of a package.
func (s *session) try(pkg string) error {
	changed := map[string]map[int]bool{}
	if s.since != "" {
		var err error
		if changed, err = s.changed(pkg); err != nil || len(changed) == 0 {
			return err
		}
	}
	list := exec.Command("go", "list", "-f", "{{range .GoFiles}}{{.}}\n{{end}}", "./"+pkg)
	list.Dir = s.root
	names, err := list.Output()
	if err != nil {
		return err
	}
	var all []mutant
	for name := range strings.FieldsSeq(string(names)) {
		file := path.Join(pkg, name)
		some, err := mutants(s.root, file, func(line int) bool { return s.since == "" || changed[file][line] })
		if err != nil {
			return err
		}
		all = append(all, some...)
	}
	chosen := choose(all, s.most)
	if len(chosen) == 0 || s.over() {
		return nil
	}
	took, err := s.unchanged(pkg)
	if err != nil {
		return err
	}
	tried := s.tried
	found := s.found
	for i := range chosen {
		if s.over() {
			fmt.Fprintf(s.out, "the time is over: %d of %d mutants of %s were not begun\n", len(chosen)-i, len(chosen), pkg)
			break
		}
		if err := s.tryOne(pkg, &chosen[i], 4*took+time.Minute/2); err != nil {
			return err
		}
	}
	fmt.Fprintf(s.out, "== %s: %d mutants, %d tried, %d found\n", pkg, len(all), s.tried-tried, s.found-found)
	return nil
}

// over reports whether no further mutant is begun.
func (s *session) over() bool { return !s.until.IsZero() && time.Now().After(s.until) }

// tryOne runs the tests that should find a mutant. They are given four times as long as without it.
func (s *session) tryOne(pkg string, m *mutant, limit time.Duration) error {
	original := filepath.Join(s.root, m.file)
	text, err := os.ReadFile(original)
	if err != nil {
		return err
	}
	mutated := filepath.Join(s.dir, "mutant.go")
	if err := os.WriteFile(mutated, m.apply(text), 0o666); err != nil {
		return err
	}
	replace, err := json.Marshal(map[string]any{"Replace": map[string]string{original: mutated}})
	if err != nil {
		return err
	}
	overlay := filepath.Join(s.dir, "overlay.json")
	if err := os.WriteFile(overlay, replace, 0o666); err != nil {
		return err
	}
	for _, tests := range packagesFor(pkg) {
		said, err := s.test(pkg, tests, limit, "-overlay", overlay)
		switch {
		case strings.Contains(said, "[build failed]"):
			return nil
		case err != nil:
			s.tried++
			s.found++
			return nil
		}
	}
	s.tried++
	fmt.Fprintf(s.out, "LIVED %s:%d %s\n", m.file, m.line, m.what)
	return nil
}

// packagesFor returns the packages whose tests must find mutants of a package.
func packagesFor(pkg string) []string {
	if tests := testedBy[pkg]; tests != nil {
		return tests
	}
	return []string{"./" + pkg}
}

// unchanged runs the tests without a mutant, and returns how long the longest took. They must pass.
func (s *session) unchanged(pkg string) (longest time.Duration, err error) {
	for _, tests := range packagesFor(pkg) {
		start := time.Now()
		if said, err := s.test(pkg, tests, 10*time.Minute); err != nil {
			return 0, fmt.Errorf("the tests of %s fail without a mutant: %w\n%s", tests, err, said)
		}
		longest = max(longest, time.Since(start))
	}
	return longest, nil
}

// test runs the tests of a package.
func (s *session) test(pkg, tests string, limit time.Duration, flags ...string) (said string, err error) {
	args := append([]string{"test", "-count=1", "-failfast", "-vet=off", "-timeout", limit.String()}, flags...)
	if pkg == "internal/driver" {
		args = append(args, "-tags", "mutants") // its model needs the tag
	}
	cmd := exec.Command("go", append(args, tests)...)
	cmd.Dir = s.root
	text, err := cmd.CombinedOutput()
	return string(text), err
}
