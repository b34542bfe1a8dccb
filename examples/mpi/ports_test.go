package mpi

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"weft/internal/explore"
)

var rewrite = flag.Bool("rewrite", false, "write docs/PORTS.md")

// ports are the programs: what each is called, what it shows, and what four ranks print.
var ports = []struct{ name, title, shows, want string }{
	{
		"stencil", "A stencil",
		"A grid of ranks, neighbours beyond the edge, and columns that are sent without packing: a derived datatype is a " +
			"`Section`.",
		"after 200 steps: heat 843.177870, last change 0.001210",
	}, {
		"matrix", "A product of matrices",
		"Communicators of the rows and columns of a grid, broadcasts in them, and a gather.",
		"192 x 192 on 4 ranks: first 192, sum 83832192",
	}, {
		"farm", "A master with workers",
		"Any source, any tag, the status of a receive, and elements that are structs.",
		"17984 primes below 200000, sum of inverses 2.763614132",
	},
}

// page returns docs/PORTS.md.
func page(t *testing.T) string {
	var s strings.Builder
	s.WriteString("# MPI programs, ported\n\nThree programs in C, and the same in Go, line by line where that " +
		"is possible. " +
		"[MPI](MPI.md) has the counterpart of each call. Errors are fatal in them, as they are in MPI by default: " +
		"`mpi.Program` ends the program, and the job, with the error that `Check` or `Must` gets. A program that goes on " +
		"after an error looks at it instead.\n\nThe programs are in [examples/mpi](../examples/mpi), whose tests run both.\n")
	for _, p := range ports {
		fmt.Fprintf(&s, "\n## %s\n\n%s Lines of text: %d in C, %d in Go.\n\n<table><tr><th>C</th><th>Go</th></tr>"+
			"<tr><td>\n\n",
			p.title, p.shows, lines(cText(t, p.name)), lines(goText(t, p.name)))
		fmt.Fprintf(&s, "```c\n%s```\n\n</td><td>\n\n```go\n%s```\n\n</td></tr></table>\n", cText(t, p.name),
			goText(t, p.name))
		fmt.Fprintf(&s, "\nFour ranks print:\n\n```\n%s\n```\n", p.want)
	}
	return s.String()
}

func cText(t *testing.T, name string) string  { return read(t, "c/"+name+".c") }
func goText(t *testing.T, name string) string { return read(t, name+"/main.go") }

func read(t *testing.T, path string) string {
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// lines counts lines that are neither empty nor a comment.
func lines(text string) (n int) {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line != "" && !strings.HasPrefix(line, "//") && !strings.HasPrefix(line, "/*") {
			n++
		}
	}
	return n
}

// TestPorts: the page shows the programs as they are, and none has more than 1.1 times the lines of its C text.
func TestPorts(t *testing.T) {
	const path = "../../docs/PORTS.md"
	if *rewrite {
		if err := os.WriteFile(path, []byte(page(t)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if read(t, path) != page(t) {
		t.Error("docs/PORTS.md is not what the programs are: go test ./examples/mpi -rewrite")
	}
	for _, p := range ports {
		c := lines(cText(t, p.name))
		g := lines(goText(t, p.name))
		if float64(g) > 1.1*float64(c) {
			t.Errorf("%s has %d lines, and in C %d", p.name, g, c)
		}
	}
}

// TestC: the C programs compile, and print the same. They run in exploration alone, because four ranks of MPICH that
// poll take seconds on two processors.
func TestC(t *testing.T) {
	cc, err := exec.LookPath("mpicc.mpich")
	if err != nil {
		t.Skip("MPICH is not installed")
	}
	for _, p := range ports {
		bin := filepath.Join(t.TempDir(), p.name)
		compile := exec.CommandContext(t.Context(), cc, "-Wall", "-o", bin, "c/"+p.name+".c", "-lm")
		if out, err := compile.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		if explore.Round() == 0 {
			continue
		}
		out, err := exec.CommandContext(t.Context(), "mpiexec.mpich", "-n", "4", bin).Output()
		if err != nil || strings.TrimSpace(string(out)) != p.want {
			t.Errorf("%s: %q, %v", p.name, out, err)
		}
	}
}
