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
	"weft/coll"
)

func main() { weft.Main(run) }

const (
	rounds = 20
	span   = 50_000 // numbers of a round
)

func run(ctx context.Context, p *weft.Proc) error {
	g, err := coll.Open(p, 1, nil)
	if err != nil {
		return err
	}
	total := 0
	for round := 0; round < rounds; {
		n := []int{count(g, round)}
		done := uint64(1)
		if err := coll.AllReduce(ctx, g, n, coll.Sum); err != nil {
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
		if g, err = survivors(ctx, g); err != nil {
			return err
		}
		fmt.Printf("rank %d goes on with ranks %v\n", p.Rank(), g.Members())
	}
	if g.Rank() == 0 {
		fmt.Printf("%d primes below %d\n", total, rounds*span)
	}
	return g.Close()
}

// survivors returns the group of the surviving ranks.
func survivors(ctx context.Context, g *coll.Group) (*coll.Group, error) {
	defer g.Close()
	return g.Shrink(ctx, g.Generation()+2) // each generation has a channel of its own
}

// count counts the primes in this member's part of a round.
func count(g *coll.Group, round int) (n int) {
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
