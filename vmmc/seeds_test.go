package vmmc_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"weft"
	"weft/internal/explore"
	"weft/vmmc"
)

// TestSeeds plays random programs on random clusters: every rank sends to every other, now straight into memory, now to
// exports that are redirected before, while or after the data comes. Each transfer is taken once, in order and whole.
func TestSeeds(t *testing.T) {
	if raceEnabled {
		t.Skip("goroutines wait for a mutex here: the race detector does not see how the simulator schedules them")
	}
	for seed := range explore.Choose[uint64](10, 24) {
		if err := play(t.Context(), seed); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
	}
}

// A program is what a seed says.
type program struct {
	ranks, rounds, window, slot int
	seed                        uint64
}

func play(ctx context.Context, seed uint64) error {
	r := rand.New(rand.NewPCG(seed, 14))
	g := program{ranks: 2 + r.IntN(3), rounds: 4 + r.IntN(8), window: 1 + r.IntN(3), slot: 1 << (6 + r.IntN(12)),
		seed: seed}
	c := weft.Cluster{Ranks: g.ranks, PerHost: 1 + r.IntN(2), Seed: seed, Loss: 0.02 * r.Float64(),
		GoBackN: r.IntN(2) == 0}
	if r.IntN(3) == 0 {
		c.Faults = append(c.Faults, weft.Fault{
			Kind: weft.Pause, Ranks: []int{r.IntN(g.ranks)}, At: time.Duration(r.IntN(500)) * time.Microsecond,
			For: time.Millisecond,
		})
	}
	if r.IntN(3) == 0 {
		c.Faults = append(c.Faults, weft.Fault{Kind: weft.Slow, Ranks: []int{r.IntN(g.ranks)},
			Delay: 50 * time.Microsecond, For: 2 * time.Millisecond})
	}
	_, err := weft.Simulate(ctx, c, g.rank)
	return err
}

// length is that of the k-th transfer from one rank to another.
func (g *program) length(from, to, k int) int { return 1 + (k*7919+from*104729+to*31)%g.slot }

func (g *program) mark(from, to, k int) int { return from*13 + to*5 + k }

// rank is a rank's program: a sender and a receiver for each other rank.
func (g *program) rank(ctx context.Context, p *weft.Proc) error {
	e, err := vmmc.Open(p, 0, nil)
	if err != nil {
		return err
	}
	defer e.Close()
	// A word for each rank: how many of our transfers it has taken.
	taken, err := e.Export(ctx, "taken", 8*g.ranks, nil)
	if err != nil {
		return err
	}
	in, err := e.Export(ctx, "in", g.ranks*g.window*g.slot, &vmmc.ExportConfig{Redirections: g.ranks * g.window})
	if err != nil {
		return err
	}
	var tasks []*weft.Task
	var failed error
	for other := range g.ranks {
		for _, f := range []func() error{
			func() error { return g.send(ctx, p, e, taken, other) },
			func() error { return g.receive(ctx, p, e, in, other) },
		} {
			tasks = append(tasks, p.Go(func() {
				if err := f(); err != nil && failed == nil {
					failed = fmt.Errorf("with rank %d: %w", other, err)
				}
			}))
		}
	}
	for _, t := range tasks {
		if err := t.Wait(ctx); err != nil {
			return fmt.Errorf("%w (%v)", err, failed)
		}
	}
	if failed != nil {
		return failed
	}
	return p.Barrier("end", nil).Wait(ctx)
}

func (g *program) place(from, k int) int { return (from*g.window + k%g.window) * g.slot }

// send sends what is to go to a rank, so far ahead of what that has taken as the window says.
func (g *program) send(ctx context.Context, p *weft.Proc, e *vmmc.Endpoint, taken *vmmc.Export, to int) error {
	r := rand.New(rand.NewPCG(g.seed, uint64(p.Rank()*100+to)))
	i, err := e.Import(ctx, to, "in")
	if err != nil {
		return err
	}
	var started []*vmmc.Transfer
	for k := range g.rounds {
		for seen := taken.Load(8 * to); k-int(seen) >= g.window; {
			if seen, err = taken.Await(ctx, 8*to, seen); err != nil {
				return err
			}
		}
		b := pattern(g.mark(p.Rank(), to, k), g.length(p.Rank(), to, k))
		if r.IntN(2) == 0 {
			err = i.Send(ctx, g.place(p.Rank(), k), b)
		} else {
			var t *vmmc.Transfer
			if t, err = i.StartSend(ctx, g.place(p.Rank(), k), b, false); err == nil {
				started = append(started, t)
			}
		}
		if err != nil {
			return fmt.Errorf("transfer %d: %w", k, err)
		}
	}
	for _, t := range started {
		if err := t.Wait(ctx); err != nil {
			return err
		}
	}
	return i.Close(ctx)
}

// receive takes what comes from a rank, sooner or later, and tells it.
func (g *program) receive(ctx context.Context, p *weft.Proc, e *vmmc.Endpoint, in *vmmc.Export, from int) error {
	r := rand.New(rand.NewPCG(g.seed, uint64(p.Rank()*100+from+50)))
	i, err := e.Import(ctx, from, "taken")
	if err != nil {
		return err
	}
	redirect := func(k int) (*vmmc.Redirection, []byte, error) {
		buf := make([]byte, r.IntN(g.slot+1))
		source := from
		if r.IntN(2) == 0 {
			source = weft.Any // nobody else sends there
		}
		rd, err := in.Redirect(source, g.place(from, k), buf)
		return rd, buf, err
	}
	for k := range g.rounds {
		if err := p.Sleep(ctx, time.Duration(r.IntN(40))*time.Microsecond); err != nil {
			return err
		}
		rd, buf, err := redirect(k)
		if err != nil {
			return err
		}
		land, err := rd.Wait(ctx)
		if err != nil {
			return fmt.Errorf("transfer %d: %w", k, err)
		}
		n := g.length(from, p.Rank(), k)
		if land.From != from || land.Len != n || land.Direct > min(n, len(buf)) {
			return fmt.Errorf("transfer %d is of %d bytes: %+v", k, n, land)
		}
		want := pattern(g.mark(from, p.Rank(), k), n)
		got := bytes.Clone(buf[:min(n, len(buf))])
		if n > len(buf) {
			got = append(got, in.Bytes()[g.place(from, k)+len(buf):][:n-len(buf)]...)
		}
		if !bytes.Equal(got, want) {
			return fmt.Errorf("transfer %d of %d bytes, redirected to %d: not what was sent", k, n, len(buf))
		}
		if err := i.Send(ctx, 8*p.Rank(), word(uint64(k+1))); err != nil {
			return err
		}
	}
	return nil
}
