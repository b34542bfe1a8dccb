package mpisuite

import "weft/mpi"

// updates is how many updates of RandomAccess are under way.
const updates = 1024

// tableWords is the number of words that each rank has of the table of RandomAccess.
const tableWords = 1 << 16

// oneSided returns the benchmarks of windows. Rank 0 works on the memory of rank 1; each operation is complete there
// when it ends.
func oneSided() []bench {
	at1 := func(op func(e *env) error) func(e *env) func() {
		return func(e *env) func() {
			e.w.LockAll()
			return func() {
				if e.me == 0 {
					mpi.Check(op(e))
					mpi.Check(e.w.Flush(e.ctx, 1))
				}
			}
		}
	}
	return []bench{
		{name: "Put", ranks: 2, sized: true, many: 1, make: at1(func(e *env) error { return e.w.Put(e.ctx, e.sum, 1, 0) })},
		{name: "Get", ranks: 2, sized: true, many: 1, make: at1(func(e *env) error { return e.w.Get(e.ctx, e.sum, 1, 0) })},
		{name: "Accumulate", ranks: 2, sized: true, many: 1, make: at1(func(e *env) error { return e.w.Accumulate(e.ctx, e.sum, 1, 0, mpi.UpdateSum) })},
		{name: "Get_accumulate", ranks: 2, sized: true, many: 1, make: at1(func(e *env) error {
			return e.w.GetAccumulate(e.ctx, e.sum, e.sums[:len(e.sum)], 1, 0, mpi.UpdateSum)
		})},
		{name: "Fetch_and_op", ranks: 2, sized: false, many: 1, make: at1(func(e *env) error {
			_, err := e.w.FetchOp(e.ctx, 1, 1, 0, mpi.UpdateSum)
			return err
		})},
		{name: "Compare_and_swap", ranks: 2, sized: false, many: 1, make: at1(func(e *env) error {
			_, err := e.w.CompareSwap(e.ctx, 0, 1, 1, 0)
			return err
		})},
		{name: "PutFence", ranks: 0, sized: true, many: 1, make: func(e *env) func() {
			return func() {
				mpi.Check(e.w.Put(e.ctx, e.sum, (e.me+1)%e.n, 0))
				mpi.Check(e.w.Fence(e.ctx))
			}
		}},
		{name: "RandomAccess", ranks: 0, sized: false, many: updates, make: randomAccess},
	}
}

// randomAccess is HPCC's: words at places that a sequence chooses, of all ranks, get the exclusive or with its values.
func randomAccess(e *env) func() {
	v := uint64(e.me+1) * 0x9e3779b97f4a7c15
	var one [1]uint64
	e.words.LockAll()
	return func() {
		for range updates {
			v = v<<1 ^ uint64(int64(v)>>63)&7
			at := int(v % uint64(tableWords*e.n))
			one[0] = v
			mpi.Check(e.words.Accumulate(e.ctx, one[:], at/tableWords, at%tableWords, mpi.UpdateXor))
		}
		mpi.Check(e.words.FlushAll(e.ctx))
	}
}
