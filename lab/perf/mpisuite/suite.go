package mpisuite

import (
	"context"
	"os"
	"slices"

	"weft/mpi"
)

// A bench is one benchmark.
type bench struct {
	name  string
	ranks int  // that take part, or 0: all; others wait in the barrier
	sized bool // it has a length
	many  int  // messages, or halves of a round trip, in one operation
	make  func(e *env) (op func())
	work  func(size, n int) float64 // of programs: operations on numbers, or bytes, of all members; or nil
}

// An env is what the operation of a benchmark works on.
type env struct {
	ctx   context.Context
	c     *mpi.Comm
	me, n int
	size  int    // bytes of a message
	file  string // that may be written

	out, in         mpi.Buffer   // for one message
	allOut, allIn   mpi.Buffer   // for messages of all ranks
	eachOut, eachIn []mpi.Buffer // the same, a buffer for each
	sum, sums       []float64    // as many as the bytes of one message hold, at least one; of all ranks

	w     *mpi.Window[float64] // of sums
	words *mpi.Window[uint64]  // the table of RandomAccess
	last  *mpi.Request         // of an operation that begins only

	opened  *mpi.File // or nil
	repeats bool      // until the time is long enough
	back    []func()  // give memory back
}

// newEnv returns what operations with messages of some bytes work on, in memory of mpi.Alloc if alloc is set.
func newEnv(ctx context.Context, c *mpi.Comm, size int, alloc bool) *env {
	e := &env{ctx: ctx, c: c, me: c.Rank(), n: c.Size(), size: size}
	counts := slices.Repeat([]int{size}, e.n)
	out := elements[byte](e, size*e.n, alloc)
	in := elements[byte](e, size*e.n, alloc)
	e.out = mpi.Of(out[:size])
	e.in = mpi.Of(in[:size])
	e.allOut = mpi.Of(out)
	e.allIn = mpi.Of(in)
	e.eachOut = mpi.Parts(out, counts)
	e.eachIn = mpi.Parts(in, counts)
	words := max(size/8, 1)
	e.sum = elements[float64](e, words, alloc)
	e.sums = elements[float64](e, words*e.n, alloc)
	e.w = mpi.Must(mpi.NewWindow[float64](ctx, c, words))
	e.words = mpi.Must(mpi.NewWindow[uint64](ctx, c, tableWords))
	return e
}

// elements returns memory for so many elements.
func elements[T any](e *env, n int, alloc bool) []T {
	if !alloc {
		return make([]T, n)
	}
	s := mpi.Must(mpi.Alloc[T](e.c.Proc(), n))
	e.back = append(e.back, func() { mpi.Check(mpi.Free(e.c.Proc(), s)) })
	return s
}

// free gives the windows and the memory back.
func (e *env) free() {
	if e.opened != nil {
		mpi.Check(e.opened.Close(e.ctx))
		if e.me == 0 {
			mpi.Check(os.Remove(e.file))
		}
	}
	mpi.Check(e.w.UnlockAll(e.ctx))
	mpi.Check(e.words.UnlockAll(e.ctx))
	mpi.Check(e.w.Free(e.ctx))
	mpi.Check(e.words.Free(e.ctx))
	for _, back := range e.back {
		back()
	}
}

// window is how many messages are under way in benchmarks of bandwidth and rate.
const window = 64

// benches are all benchmarks.
func benches() []bench {
	all := []bench{
		{name: "PingPong", ranks: 2, sized: true, many: 2, make: func(e *env) func() { return e.pingPong(1 - e.me) }},
		{name: "PingPing", ranks: 2, sized: true, many: 1, make: func(e *env) func() { return func() { e.swap(1-e.me, 1-e.me) } }},
		{name: "Sendrecv", ranks: 0, sized: true, many: 1, make: func(e *env) func() { return func() { e.swap((e.me+1)%e.n, (e.me+e.n-1)%e.n) } }},
		{name: "Exchange", ranks: 0, sized: true, many: 1, make: func(e *env) func() { return e.exchange() }},
		{name: "MultiLatency", ranks: 0, sized: true, many: 2, make: func(e *env) func() { return e.pingPong((e.me + e.n/2) % e.n) }},
		{name: "Bandwidth", ranks: 2, sized: true, many: window, make: func(e *env) func() { return e.stream(1-e.me, e.me == 0, e.me == 1) }},
		{name: "BiBandwidth", ranks: 2, sized: true, many: window, make: func(e *env) func() { return e.stream(1-e.me, true, true) }},
		{name: "MessageRate", ranks: 0, sized: true, many: window, make: func(e *env) func() {
			return e.stream((e.me+e.n/2)%e.n, e.me < e.n/2, e.me >= e.n/2)
		}},
	}
	all = append(all, collectives()...)
	return slices.Concat(all, oneSided(), programs())
}

// pingPong is a round trip between pairs, whose first member has the smaller rank.
func (e *env) pingPong(with int) func() {
	return func() {
		if e.me < with {
			mpi.Check(e.c.Send(e.ctx, e.out, with, 1))
			mpi.Must(e.c.Recv(e.ctx, e.in, with, 1))
		} else {
			mpi.Must(e.c.Recv(e.ctx, e.in, with, 1))
			mpi.Check(e.c.Send(e.ctx, e.out, with, 1))
		}
	}
}

// swap sends to one rank while it receives from one.
func (e *env) swap(to, from int) {
	mpi.Must(e.c.SendRecv(e.ctx, e.out, to, 1, e.in, from, 1))
}

// exchange sends to and receives from both neighbours at once. The sends are started again each time, which allocates
// nothing.
func (e *env) exchange() func() {
	left := (e.me + e.n - 1) % e.n
	right := (e.me + 1) % e.n
	var sends []*mpi.Request
	return func() {
		if sends == nil {
			sends = []*mpi.Request{mpi.Must(e.c.StartSend(e.out, right, 1)), mpi.Must(e.c.StartSend(e.out, left, 2))}
		} else {
			mpi.Check(sends[0].Start())
			mpi.Check(sends[1].Start())
		}
		mpi.Must(e.c.Recv(e.ctx, e.in, left, 1))
		mpi.Must(e.c.Recv(e.ctx, e.in, right, 2))
		mpi.Check(mpi.WaitAll(e.ctx, sends...))
	}
}

// stream has a window of messages under way between pairs, and ends with an answer.
func (e *env) stream(with int, sends, receives bool) func() {
	var qs []*mpi.Request // receives, which are started again, and then sends
	if receives {
		qs = make([]*mpi.Request, window)
	}
	if sends {
		qs = append(qs, make([]*mpi.Request, window)...)
	}
	return func() {
		for i := range qs {
			switch {
			case qs[i] != nil:
				mpi.Check(qs[i].Start())
			case receives && i < window:
				qs[i] = mpi.Must(e.c.StartRecv(e.in, with, 1))
			default:
				qs[i] = mpi.Must(e.c.StartSend(e.out, with, 1))
			}
		}
		mpi.Check(mpi.WaitAll(e.ctx, qs...))
		none := mpi.Of([]byte(nil))
		if receives {
			mpi.Check(e.c.Send(e.ctx, none, with, 2))
		}
		if sends {
			mpi.Must(e.c.Recv(e.ctx, none, with, 2))
		}
	}
}
