package main

import (
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path"
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

// testedBy are the packages whose tests must find a mutant of a package, too, where it is not the package alone.
var testedBy = map[string][]string{
	"internal/engine":       {"./lab/stress"},
	"internal/engine/wire":  {"./internal/engine"},
	"internal/engine/link":  {"./internal/engine", "./lab/stress"},
	"internal/engine/msg":   {"./internal/engine", "./lab/stress"},
	"internal/engine/rma":   {"./internal/engine", "./lab/stress"},
	"internal/engine/coord": {"./internal/engine", "./lab/stress"},
	"internal/driver":       {"."},
	"internal/ring":         {"./internal/transport/shm"},
	"internal/mailbox":      {"./internal/engine/rma"},
}

// A session is one run of the command.
type session struct {
	root  string // of the source
	dir   string // for what a mutant replaces
	most  int    // mutants of each package
	near  bool   // only tests of the package itself
	seed  uint64
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
	near := fs.Bool("near", false, "run no tests of other packages")
	seed := fs.Uint64("seed", 0, "choose other mutants")
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
	s := &session{root: strings.TrimSpace(string(root)), dir: dir, most: *most, near: *near, seed: *seed, since: *since, out: out}
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
	chosen := choose(all, s.most, s.seed)
	if len(chosen) == 0 || s.over() {
		return nil
	}
	b := &batch{session: s, pkg: pkg, some: chosen}
	if err := b.build(); err != nil {
		return err
	}
	if err := b.unchanged(); err != nil {
		return err
	}
	tried := s.tried
	found := s.found
	for i := range b.some {
		if s.over() {
			fmt.Fprintf(s.out, "the time is over: %d of %d mutants of %s were not begun\n", len(b.some)-i, len(b.some), pkg)
			break
		}
		b.try(i)
	}
	fmt.Fprintf(s.out, "== %s: %d mutants, %d tried, %d found\n", pkg, len(all), s.tried-tried, s.found-found)
	return nil
}

// over reports whether no further mutant is begun.
func (s *session) over() bool { return !s.until.IsZero() && time.Now().After(s.until) }
