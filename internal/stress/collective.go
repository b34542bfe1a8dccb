package stress

import (
	"context"
	"fmt"

	"weft/coll"
)

// collective: members form a group, do some operations whose results are known, and part;
// and again. Each group has a channel of its own: one that has failed is of no use any more.
func collective(s *scene) {
	a := s.actor(s.name + " main")
	defer a.end()
	for g := range 1 + s.shared.IntN(3) {
		rng := chance(s.seed, s.name, "group", g) // says the same at all members
		var group *coll.Group
		if a.call("coll.Open",
			func() (err error) { group, err = coll.Open(a.p, 20_000+4*s.number+g, s.members); return err }) != fine {
			return
		}
		ok := true
		for range 1 + rng.IntN(20) {
			which := rng.IntN(8)
			root := rng.IntN(group.Size())
			n := 1 + rng.IntN(300)
			switch rng.IntN(12) {
			case 0:
				n = 40_000 + rng.IntN(20_000)
			case 1:
				n = 3000 + rng.IntN(6000)
			}
			call := func(what string, f func(ctx context.Context) error) bool {
				return a.call(what, func() error { return f(a.ctx) }) == fine
			}
			if ok = operate(a, group, which, root, n, call); !ok {
				break
			}
		}
		// A member that is ahead must not close the channel under one that still receives
		// what it has sent: Close waits for that.
		if a.call("Group.Close", group.Close) != fine || !ok {
			return
		}
	}
}

// operate does one operation with run, which reports whether it succeeded, and checks what
// comes of it.
func operate(a *actor, g *coll.Group, which, root, n int,
	run func(what string, f func(ctx context.Context) error) bool) bool {
	size := g.Size()
	me := g.Rank()
	value := func(rank, i int) int64 { return int64(rank*1_000_003 + i*7 + which) }
	own := make([]int64, n)
	for i := range own {
		own[i] = value(me, i)
	}
	check := func(op string, got []int64, want func(i int) int64) {
		for i, v := range got {
			if v != want(i) {
				a.found("%s: %s of %d members, %d elements, root %d: element %d is %d, not %d", a.name, op, size, n, root, i, v,
					want(i))
				return
			}
		}
	}
	sum := func(i int) (v int64) {
		for r := range size {
			v += value(r, i)
		}
		return v
	}
	all := make([]int64, n*size)
	all2 := make([]int64, n*size)
	for i := range all2 {
		all2[i] = value(me, i)
	}
	call := func(name string, f func(ctx context.Context) error) bool {
		return run(fmt.Sprintf("coll.%s of %d elements, root %d", name, n, root), f)
	}
	switch which {
	case 0:
		ok := call("Broadcast", func(ctx context.Context) error { return coll.Broadcast(ctx, g, root, own) })
		if ok {
			check("Broadcast", own, func(i int) int64 { return value(root, i) })
		}
		return ok
	case 1:
		ok := call("AllReduce", func(ctx context.Context) error { return coll.AllReduce(ctx, g, own, coll.Sum) })
		if ok {
			check("AllReduce", own, sum)
		}
		return ok
	case 2:
		ok := call("Reduce", func(ctx context.Context) error { return coll.Reduce(ctx, g, root, own, coll.Sum) })
		if ok && me == root {
			check("Reduce", own, sum)
		}
		return ok
	case 3:
		ok := call("Gather", func(ctx context.Context) error { return coll.Gather(ctx, g, root, own, all) })
		if ok && me == root {
			check("Gather", all, func(i int) int64 { return value(i/n, i%n) })
		}
		return ok
	case 4:
		ok := call("Scatter", func(ctx context.Context) error { return coll.Scatter(ctx, g, root, all2, own) })
		if ok {
			check("Scatter", own, func(i int) int64 { return value(root, me*n+i) })
		}
		return ok
	case 5:
		ok := call("AllGather", func(ctx context.Context) error { return coll.AllGather(ctx, g, own, all) })
		if ok {
			check("AllGather", all, func(i int) int64 { return value(i/n, i%n) })
		}
		return ok
	case 6:
		ok := call("AllToAll", func(ctx context.Context) error { return coll.AllToAll(ctx, g, all2, all) })
		if ok {
			check("AllToAll", all, func(i int) int64 { return value(i/n, me*n+i%n) })
		}
		return ok
	default:
		return call("Barrier", func(ctx context.Context) error { return coll.Barrier(ctx, g) })
	}
}
