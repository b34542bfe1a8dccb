package mpi

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"weft"
	"weft/internal/explore"
)

// A survival is a job whose ranks add numbers, agree after each sum on whether all have it, and shrink their group if
// not, while ranks die, stand still for longer than the liveness time, and are slow.
type survival struct {
	ranks, rounds, size int
	diaries             []diary
}

// A diary is what a rank has seen.
type diary struct {
	agreed []string // each agreement and each group
	dead   []int    // the members that the last agreement has called dead
	group  []int    // the members of the last group
	done   bool     // it got through
	err    error    // or why it has given up
}

// rank is what a rank does. It returns no error: that would end the job.
func (s *survival) rank(ctx context.Context, p *weft.Proc) error {
	d := &s.diaries[p.Rank()]
	d.err = s.work(ctx, p, d)
	d.done = d.err == nil
	return nil
}

func (s *survival) work(ctx context.Context, p *weft.Proc, d *diary) error {
	g := World(p)
	d.group = g.Group().Ranks()
	for round := 0; round < s.rounds; {
		sum := make([]int, s.size)
		for i := range sum {
			sum[i] = p.Rank() + 1
		}
		failed := AllReduce(ctx, g, sum, Sum)
		flags := ^uint64(0)
		if failed != nil {
			flags = ^uint64(1)
		}
		a, err := g.Agree(ctx, flags)
		if err != nil {
			return fmt.Errorf("round %d: %w", round, err)
		}
		dead, err := g.Group().Include(a.Dead...)
		if err != nil {
			return err
		}
		d.dead = dead.Ranks()
		d.agreed = append(d.agreed, fmt.Sprintf("round %d, generation %d: %x, dead %v", round, g.Generation(), a.Flags,
			d.dead))
		if a.Flags&1 != 0 {
			if err := s.check(g, sum); err != nil {
				return err
			}
			round++
			continue
		}
		if g, err = g.Shrink(ctx); err != nil {
			return fmt.Errorf("round %d: %w", round, err)
		}
		d.group = g.Group().Ranks()
		d.agreed = append(d.agreed, fmt.Sprintf("group %v", d.group))
	}
	return nil
}

// check returns what is wrong with a sum that all members have.
func (s *survival) check(g *Comm, sum []int) error {
	want := 0
	for _, rank := range g.Group().Ranks() {
		want += rank + 1
	}
	if sum[0] != want || sum[len(sum)-1] != want {
		return fmt.Errorf("the sum of %v is %d", g.Group().Ranks(), sum[0])
	}
	return nil
}

// has reports whether a rank counts another one among the living at the end.
func (d *diary) has(rank int) bool {
	return slices.Contains(d.group, rank) && !slices.Contains(d.dead, rank)
}

// verdict returns what is wrong. All ranks must have seen the same; only of two ranks of which one takes the other for
// dead is this not required, and that may happen only if ranks stand still. A rank that has ended early has seen the
// beginning of what the others have.
func (s *survival) verdict(stricken []int, pauses bool) error {
	finished := 0
	for i, d := range s.diaries {
		if d.done {
			finished++
		} else if !slices.Contains(stricken, i) && !pauses {
			return fmt.Errorf("rank %d: %v\n%v", i, d.err, d.agreed)
		}
		for j, e := range s.diaries {
			same := slices.Equal(d.agreed, e.agreed)
			if !d.done {
				same = slices.Equal(d.agreed, e.agreed[:min(len(e.agreed), len(d.agreed))])
			}
			apart := pauses && (!d.has(j) || !e.has(i))
			if e.done && !same && !apart {
				return fmt.Errorf("rank %d has seen\n%q\nand rank %d\n%q", i, d.agreed, j, e.agreed)
			}
			if d.done && d.has(j) && !e.done && !slices.Contains(stricken, j) {
				return fmt.Errorf("rank %d has got through with rank %d, which has not: %v", i, j, e.err)
			}
		}
	}
	if finished == 0 && len(stricken) < s.ranks && !pauses {
		return errors.New("nobody has got through")
	}
	return nil
}

// surviving plays a seed.
func surviving(ctx context.Context, seed uint64) error {
	r := rand.New(rand.NewPCG(seed, 18))
	s := &survival{ranks: 2 + r.IntN(7), rounds: 1 + r.IntN(4), size: 1 + r.IntN(2)*3000}
	s.diaries = make([]diary, s.ranks)
	c := weft.Cluster{Ranks: s.ranks, PerHost: 1 + r.IntN(2), Seed: seed, Loss: 0.02 * r.Float64(),
		Liveness: 20 * time.Millisecond}
	var stricken []int
	pauses := r.IntN(3) == 0
	for _, rank := range r.Perm(s.ranks)[:r.IntN(s.ranks+1)] {
		f := weft.Fault{Kind: weft.Crash, Ranks: []int{rank}}
		if pauses && r.IntN(2) == 0 {
			f.Kind = weft.Pause
			f.For = time.Duration(10+r.IntN(50)) * time.Millisecond
		}
		switch r.IntN(3) {
		case 0: // at an operation of its own
			f.After = weft.Operations{Rank: rank, Count: 1 + r.IntN(40)}
		case 1: // or of another one: the first to be struck, perhaps
			f.After = weft.Operations{Rank: r.IntN(s.ranks), Count: 1 + r.IntN(40)}
		default:
			f.At = time.Duration(r.IntN(60_000)) * time.Microsecond
		}
		stricken = append(stricken, rank)
		c.Faults = append(c.Faults, f)
	}
	if r.IntN(4) == 0 {
		c.Faults = append(c.Faults, weft.Fault{Kind: weft.Slow, Ranks: []int{r.IntN(s.ranks)},
			Delay: 2 * time.Millisecond, For: 30 * time.Millisecond})
	}
	if _, err := weft.Simulate(ctx, c, s.rank); err != nil {
		return fmt.Errorf("%w\nfaults: %+v\n%+v", err, c.Faults, s.diaries)
	}
	if err := s.verdict(stricken, pauses); err != nil {
		return fmt.Errorf("%w\nfaults: %+v", err, c.Faults)
	}
	return nil
}

// TestSurvivors: ranks die, are suspended and come back, in the middle of sums, agreements and shrinks; the survivors
// agree, and none hangs. WEFT_MPI_SEEDS=FROM-TO plays other seeds.
func TestSurvivors(t *testing.T) {
	from := uint64(0)
	to := explore.Choose[uint64](40, 200)
	if raceEnabled {
		to = 15 // one goroutine of a simulation runs at a time
	}
	if s := os.Getenv("WEFT_MPI_SEEDS"); s != "" {
		if _, err := fmt.Sscanf(s, "%d-%d", &from, &to); err != nil {
			t.Fatal(err)
		}
	}
	for seed := from; seed < to; seed++ {
		t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) {
			if err := surviving(t.Context(), seed); err != nil {
				t.Error(err)
			}
		})
	}
}
