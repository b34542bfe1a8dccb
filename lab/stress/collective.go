package stress

import (
	"context"
	"fmt"

	"weft/mpi"
)

// collective: members form a group, do some operations whose results are known, and part;
// and again. A group that has failed is of no use any more. The member that
// has seen it fail comes to the next group nevertheless, since others may have seen nothing and wait there.
func collective(s *scene) {
	a := s.actor(s.name + " main")
	defer a.end()
	call := func(what string, f func(ctx context.Context) error) bool {
		return a.call(what, func() error { return f(a.ctx) }) == fine
	}
	groups := 1 + s.shared.IntN(3)
	for g := 0; g < groups && !a.quit; g++ {
		rng := chance(s.seed, s.name, "group", g) // says the same at all members
		var group *mpi.Comm
		if a.call("CreateGroup",
			func() (err error) { group, err = comm(a, s, g); return err }) != fine {
			continue
		}
		for range 1 + rng.IntN(20) {
			o := operation{
				a: a, g: group, which: rng.IntN(8), root: rng.IntN(group.Size()), n: 1 + rng.IntN(300), call: call,
			}
			switch rng.IntN(12) {
			case 0:
				o.n = 40_000 + rng.IntN(20_000)
			case 1:
				o.n = 3000 + rng.IntN(6000)
			}
			if !o.run() {
				break
			}
		}
		a.call("Comm.Free", func() error { return group.Free(a.ctx) })
	}
}

// comm returns a communicator of a scene's members, one of several.
func comm(a *actor, s *scene, i int) (*mpi.Comm, error) {
	world := mpi.World(a.p)
	g, err := world.Group().Include(s.members...)
	if err != nil {
		return nil, err
	}
	return world.CreateGroup(a.ctx, g, 8*s.number+i)
}

// An operation is one of a group, whose result each member knows before.
type operation struct {
	a           *actor
	g           *mpi.Comm
	which, root int
	n           int // elements of each member

	// call makes a call, and reports whether it succeeded.
	call func(what string, f func(ctx context.Context) error) bool
}

// value returns what element i of a member is.
func (o operation) value(rank, i int) int64 { return int64(rank*1_000_003 + i*7 + o.which) }

// sum returns the sum of the elements i of all members.
func (o operation) sum(i int) (v int64) {
	for rank := range o.g.Size() {
		v += o.value(rank, i)
	}
	return v
}

// own returns the first n elements of this member.
func (o operation) own(n int) []int64 {
	s := make([]int64, n)
	for i := range s {
		s[i] = o.value(o.g.Rank(), i)
	}
	return s
}

// run does the operation, and checks its result. It reports whether the operation succeeded.
func (o operation) run() bool {
	g := o.g
	n := o.n
	me := g.Rank()
	own := o.own(n)
	forAll := o.own(n * g.Size())
	all := make([]int64, n*g.Size())
	byMember := func(i int) int64 { return o.value(i/n, i%n) }
	switch o.which {
	case 0:
		return o.do("Broadcast", func(ctx context.Context) error { return g.Broadcast(ctx, mpi.Of(own), o.root) }) &&
			o.check("Broadcast", own, func(i int) int64 { return o.value(o.root, i) })
	case 1:
		return o.do("AllReduce", func(ctx context.Context) error { return mpi.AllReduce(ctx, g, own, mpi.Sum) }) &&
			o.check("AllReduce", own, o.sum)
	case 2:
		return o.do("Reduce", func(ctx context.Context) error { return mpi.Reduce(ctx, g, own, mpi.Sum, o.root) }) &&
			o.check("Reduce", o.atRoot(own), o.sum)
	case 3:
		return o.do("Gather", func(ctx context.Context) error { return g.Gather(ctx, mpi.Of(own), mpi.Of(all), o.root) }) &&
			o.check("Gather", o.atRoot(all), byMember)
	case 4:
		return o.do("Scatter", func(ctx context.Context) error { return g.Scatter(ctx, mpi.Of(forAll), mpi.Of(own), o.root) }) &&
			o.check("Scatter", own, func(i int) int64 { return o.value(o.root, me*n+i) })
	case 5:
		return o.do("AllGather", func(ctx context.Context) error { return g.AllGather(ctx, mpi.Of(own), mpi.Of(all)) }) &&
			o.check("AllGather", all, byMember)
	case 6:
		return o.do("AllToAll", func(ctx context.Context) error { return g.AllToAll(ctx, mpi.Of(forAll), mpi.Of(all)) }) &&
			o.check("AllToAll", all, func(i int) int64 { return o.value(i/n, me*n+i%n) })
	default:
		return o.do("Barrier", func(ctx context.Context) error { return g.Barrier(ctx) })
	}
}

// do calls an operation of package mpi, and reports whether it succeeded.
func (o operation) do(name string, f func(ctx context.Context) error) bool {
	return o.call(fmt.Sprintf("mpi.%s of %d elements, root %d", name, o.n, o.root), f)
}

// atRoot returns the result of an operation that only the root gets.
func (o operation) atRoot(result []int64) []int64 {
	if o.g.Rank() == o.root {
		return result
	}
	return nil
}

// check compares a result with what it must be, and reports a difference to the scene. It returns
// true: the operation itself has succeeded.
func (o operation) check(name string, got []int64, want func(i int) int64) bool {
	for i, v := range got {
		if v != want(i) {
			o.a.found("%s: %s of %d members, %d elements, root %d: element %d is %d, not %d", o.a.name, name, o.g.Size(), o.n,
				o.root, i, v, want(i))
			break
		}
	}
	return true
}
