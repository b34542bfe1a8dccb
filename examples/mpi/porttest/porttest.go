// Package porttest runs the ports in tests.
package porttest

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"weft"
	"weft/mpi"
)

// A Port is a port: rank 0 writes to out.
type Port func(ctx context.Context, world *mpi.Comm, out io.Writer)

// Run has four ranks run the port of the directory where the test runs, which share memory or are as on hosts of their
// own. They write what the C program does. Files that they make go to a directory that is removed.
func Run(t *testing.T, port Port) {
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(filepath.Join("..", "c", filepath.Base(dir)+".txt"))
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	for _, apart := range []bool{false, true} {
		var out strings.Builder
		err = weft.LocalWith(t.Context(), weft.LocalConfig{Ranks: 4, Apart: apart},
			mpi.Program(func(ctx context.Context, world *mpi.Comm) { port(ctx, world, &out) }))
		if err != nil || out.String() != string(want) {
			t.Errorf("apart %t: %q, %v", apart, &out, err)
		}
	}
}
