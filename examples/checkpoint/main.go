// Command checkpoint computes how heat spreads along a ring of slots that are distributed over all
// ranks. Every few steps each rank saves its slots. If the job is started again it goes on from
// the last step that all ranks have saved:
//
//	weft run -n 4 -restart 3 ./examples/checkpoint -fail 130
//
// In the first run one rank kills itself in step 130. The result is that of a run without a death.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"weft"
	"weft/mpi"
)

func main() {
	flag.Parse()
	weft.Main(run)
}

var (
	dir = flag.String("dir", filepath.Join(os.TempDir(), "weft-checkpoint"),
		"where the ranks save what they have; on several hosts, a file system that they share")
	steps = flag.Int("steps", 400, "steps")
	every = flag.Int("every", 50, "steps from one checkpoint to the next")
	fail  = flag.Int("fail", 0, "the step in which the last rank kills itself, in the first run; 0: never")
	slots = flag.Int("slots", 1000, "slots of the ring that each rank holds")
)

func run(ctx context.Context, p *weft.Proc) error {
	g := mpi.World(p)
	s := &store{dir: *dir, rank: p.Rank()}
	step, heat, err := begin(ctx, p, g, s)
	if err != nil {
		return err
	}
	for ; step < *steps; step++ {
		if step%*every == 0 && step > 0 {
			if err := checkpoint(ctx, g, s, step, heat); err != nil {
				return err
			}
		}
		if step == *fail && step > 0 && p.Restarts() == 0 && p.Rank() == p.Size()-1 {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		}
		if err := spread(ctx, g, heat); err != nil {
			return err
		}
	}
	sum := []float64{0}
	for i, h := range heat {
		sum[0] += h * float64(p.Rank()**slots+i)
	}
	if err := mpi.AllReduce(ctx, g, sum, mpi.Sum); err != nil {
		return err
	}
	if p.Rank() == 0 {
		fmt.Printf("after %d steps: %.6f\n", *steps, sum[0])
	}
	return s.clear()
}

// begin returns the state to begin with. If the job has been started again that is the last state
// that all ranks have saved.
func begin(ctx context.Context, p *weft.Proc, g *mpi.Comm, s *store) (step int, heat []float64, err error) {
	heat = make([]float64, *slots)
	for i := range heat {
		heat[i] = float64((p.Rank()**slots + i) % 17)
	}
	if p.Restarts() == 0 {
		return 0, heat, s.clear() // of an earlier job
	}
	// A rank may have one checkpoint more than another, and still has the one before.
	last := []int{s.newest()}
	if err := mpi.AllReduce(ctx, g, last, mpi.Min); err != nil {
		return 0, nil, err
	}
	if p.Rank() == 0 {
		fmt.Printf("restart %d, from step %d\n", p.Restarts(), last[0])
	}
	if last[0] == 0 {
		return 0, heat, nil
	}
	return last[0], heat, s.load(last[0], heat)
}

// checkpoint saves a step when all ranks have saved the one before. So each rank has the last two
// steps, and one of them is a step that all ranks have.
func checkpoint(ctx context.Context, g *mpi.Comm, s *store, step int, heat []float64) error {
	if err := g.Barrier(ctx); err != nil {
		return err
	}
	return s.save(step, heat)
}

// spread does one step: each slot takes from its neighbours. Ranks exchange the slots at their ends, which first lie
// outside.
func spread(ctx context.Context, g *mpi.Comm, heat []float64) error {
	n := g.Size()
	me := g.Rank()
	left := []float64{0}
	right := []float64{0}
	if _, err := g.SendRecv(ctx, mpi.Of(heat[len(heat)-1:]), (me+1)%n, 0, mpi.Of(left), (me+n-1)%n, 0); err != nil {
		return err
	}
	if _, err := g.SendRecv(ctx, mpi.Of(heat[:1]), (me+n-1)%n, 0, mpi.Of(right), (me+1)%n, 0); err != nil {
		return err
	}
	before := left[0]
	for i, h := range heat {
		after := right[0]
		if i+1 < len(heat) {
			after = heat[i+1]
		}
		heat[i] = h/2 + before/4 + after/4
		before = h
	}
	return nil
}
