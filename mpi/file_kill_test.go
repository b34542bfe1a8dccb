//go:build linux

package mpi_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"weft"
	"weft/job"
	"weft/mpi"
)

// TestMain makes this test's executable what package job starts.
func TestMain(m *testing.M) {
	job.Main(map[string]func(context.Context, *weft.Proc) error{"rewrite": mpi.Program(rewrite)})
	os.Exit(m.Run())
}

const record = 64 // words, of each member in turn: a block of the file has records of both

// rewrite writes a file again and again, each time with another number.
func rewrite(ctx context.Context, c *mpi.Comm) {
	f := mpi.Must(mpi.OpenFile(ctx, c, os.Getenv("MPI_TEST_FILE"), os.O_RDWR|os.O_CREATE, 0o600))
	mpi.Check(f.SetView(ctx, 0, mpi.Vector(c.Rank()*record, 1, record, 0), record*c.Size()))
	for round := uint64(1); ; round++ {
		mpi.Check(f.WriteAtAll(ctx, mpi.Of(slices.Repeat([]uint64{round}, 1<<16)), 0))
		if c.Rank() == 0 {
			fmt.Printf("round %d\n", round)
		}
	}
}

// TestFileKilled: after kill -9 in the middle of collective writes, each block is whole: that of one round.
func TestFileKilled(t *testing.T) {
	name := filepath.Join(t.TempDir(), "f")
	cfg := job.Config{Ranks: 2, Run: "rewrite", Hosts: 2, Env: []string{"MPI_TEST_FILE=" + name}}
	j, err := job.Start(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	if err := j.Await(t.Context(), 0, "round 3\n"); err != nil {
		t.Fatal(err)
	}
	j.Kill(1)
	j.Kill(0)
	_ = j.Wait(t.Context()) // it names the signal
	b, err := os.ReadFile(name)
	if err != nil || len(b) != 1<<20 {
		t.Fatalf("%d bytes, %v", len(b), err)
	}
	for block := range slices.Chunk(b, 4096) {
		for word := range slices.Chunk(block, 8) {
			if first := binary.NativeEndian.Uint64(block); binary.NativeEndian.Uint64(word) != first || first < 2 {
				t.Fatalf("a block of round %d has words of round %d", first, binary.NativeEndian.Uint64(word))
			}
		}
	}
}
