// Command survive counts primes in rounds: each rank counts the primes in a part of the round's
// numbers, and the counts are added up. It goes on when ranks are killed, whichever they are: the
// survivors agree that the round has failed, shrink their group, and repeat the round.
//
//	weft run -n 4 -survive ./examples/survive
package main

import (
	"context"
	"fmt"

	"weft"
	"weft/mpi"
)

func main() { weft.Main(run) }

const (
	rounds = 20
	span   = 50_000 // numbers of a round
)

func run(ctx context.Context, p *weft.Proc) error {
	g := mpi.World(p)
	total := 0
	for round := 0; round < rounds; {
		n := []int{count(g, round)}
		done := uint64(1)
		if err := mpi.AllReduce(ctx, g, n, mpi.Sum); err != nil {
			done = 0
		}
		// Some may have the sum, and others not: all do the same.
		all, err := g.Agree(ctx, done)
		if err != nil {
			return err
		}
		if all.Flags == 1 {
			total += n[0]
			round++
			fmt.Printf("rank %d has done round %d\n", p.Rank(), round)
			continue
		}
		if g, err = g.Shrink(ctx); err != nil {
			return err
		}
		fmt.Printf("rank %d goes on with ranks %v\n", p.Rank(), g.Group().Ranks())
	}
	if g.Rank() == 0 {
		fmt.Printf("%d primes below %d\n", total, rounds*span)
	}
	return nil
}

// count counts the primes in this member's part of a round.
func count(g *mpi.Comm, round int) (n int) {
	for i := round*span + g.Rank(); i < (round+1)*span; i += g.Size() {
		if prime(i) {
			n++
		}
	}
	return n
}

func prime(i int) bool {
	if i < 2 {
		return false
	}
	for d := 2; d*d <= i; d++ {
		if i%d == 0 {
			return false
		}
	}
	return true
}
