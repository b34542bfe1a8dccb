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

// ports are the programs: what each is called, and what it shows.
var ports = []struct{ name, title, shows string }{
	{
		"integrate", "An integral",
		"A struct that is broadcast, and a sum of what the ranks have found.",
	}, {
		"stencil", "A stencil",
		"A grid of ranks, neighbours beyond the edge, and columns that are sent without packing: a derived datatype is a " +
			"`Section`.",
	}, {
		"matrix", "A product of matrices",
		"Communicators of the rows and columns of a grid, broadcasts in them, and a gather.",
	}, {
		"farm", "A master with workers",
		"Any source, any tag, the status of a receive, and elements that are structs.",
	}, {
		"bodies", "Bodies",
		"A periodic grid of one dimension, and buffers that are replaced by what is received.",
	}, {
		"gradient", "Conjugate gradients",
		"A vector of which each rank has a part of its own length, gathered in place.",
	}, {
		"samplesort", "A sort",
		"An exchange among all with other lengths for each pair: `Parts` takes the place of counts and displacements.",
	}, {
		"balance", "A histogram",
		"One-sided operations: a counter that hands out work, and sums in the memory of others. A window is all zero.",
	}, {
		"blocks", "A matrix in a file",
		"A view is a `Section`, too: each rank sees its block of the file.",
	}, {
		"overlap", "A search by two halves",
		"A communicator that is split, values with their places, and an operation that goes on beside computing. A " +
			"`Request` is started again.",
	},
}

const head = "# MPI programs, ported\n\nPrograms in C, and the same in Go, line by line where that is possible. " +
	"[MPI](MPI.md) has the counterpart of each call. Errors are fatal in them, as they are in MPI by default: " +
	"`mpi.Program` ends the program, and the job, with the error that `Check` or `Must` gets. A program that goes on " +
	"after an error looks at it instead.\n\nThe programs are in [examples/mpi](../examples/mpi), whose tests run " +
	"both.\n\n" +
	"| | lines in C | in Go | |\n|---|---|---|---|\n"

// page returns docs/PORTS.md.
func page(t *testing.T) string {
	var s strings.Builder
	s.WriteString(head)
	for _, p := range ports {
		fmt.Fprintf(&s, "| [%s](#%s) | %d | %d | %s |\n", p.title, strings.ReplaceAll(strings.ToLower(p.title), " ", "-"),
			lines(cText(t, p.name)), lines(goText(t, p.name)), p.shows)
	}
	for _, p := range ports {
		fmt.Fprintf(&s, "\n## %s\n\n<table><tr><th>C</th><th>Go</th></tr><tr><td>\n\n", p.title)
		fmt.Fprintf(&s, "```c\n%s```\n\n</td><td>\n\n```go\n%s```\n\n</td></tr></table>\n", cText(t, p.name),
			goText(t, p.name))
		fmt.Fprintf(&s, "\nFour ranks print:\n\n```\n%s```\n", printed(t, p.name))
	}
	return s.String()
}

func printed(t *testing.T, name string) string { return read(t, "c/"+name+".txt") }
func cText(t *testing.T, name string) string   { return read(t, "c/"+name+".c") }
func goText(t *testing.T, name string) string  { return read(t, name+"/main.go") }

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
		if out, err := compile.CombinedOutput(); err != nil || len(out) > 0 {
			t.Fatalf("%v: %s", err, out)
		}
		if explore.Round() == 0 {
			continue
		}
		run := exec.CommandContext(t.Context(), "mpiexec.mpich", "-n", "4", bin)
		run.Dir = t.TempDir()
		out, err := run.Output()
		if err != nil || string(out) != printed(t, p.name) {
			t.Errorf("%s: %q, %v", p.name, out, err)
		}
	}
}
