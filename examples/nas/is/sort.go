package main

import (
	"context"
	"fmt"
	"time"

	"weft"
	"weft/examples/nas/npb"
	"weft/mpi"
)

const iterations = 10

// A sorter is one rank's part of Integer Sort: to rank keys means to count,
// for every value, how many keys are less.
type sorter struct {
	class
	p      *weft.Proc
	g      *mpi.Comm
	keys   []int32 // our share of all keys, never sorted
	out    []int32 // our keys, by bucket
	in     []int32 // the keys of our range of values
	got    []int32 // the part of in that is used
	bucket []int32 // keys in each bucket; and the values of the test keys
	begin  []int32
	total  []int32
	counts []int32 // keys of each value in our range, then of all lesser values
	low    int32   // first value of our range
	lesser int32   // keys in the ranges of lower ranks
	sendN  []int
	recvN  []int
	passed int // checks
	wrong  int
}

// newSorter makes this rank's keys, and room for the keys that it may receive: half as many again as its share,
// since buckets are never quite even.
func newSorter(ctx context.Context, p *weft.Proc, c class) (*sorter, error) {
	ranks := p.Size()
	if ranks&(ranks-1) != 0 || ranks > 1<<c.logBucket/2 {
		return nil, &npb.RanksError{Ranks: ranks, Must: fmt.Sprintf("a power of two up to %d", 1<<c.logBucket/2)}
	}
	g := mpi.World(p)
	n := 1 << c.logKeys / ranks
	buckets := 1 << c.logBucket
	s := &sorter{
		class: c, p: p, g: g, keys: make([]int32, n),
		bucket: make([]int32, buckets+tests), total: make([]int32, buckets+tests), begin: make([]int32, buckets),
		counts: make([]int32, 1<<c.logMax), sendN: make([]int, ranks), recvN: make([]int, ranks),
	}
	var err error
	if s.out, err = mpi.Alloc[int32](p, n); err != nil {
		return nil, err
	}
	if s.in, err = mpi.Alloc[int32](p, n+n/2+1<<12); err != nil {
		return nil, err
	}
	s.fill(p.Rank())
	return s, nil
}

// fill makes our keys: each is the mean of four random numbers, scaled. Every
// rank starts at its own place in the one sequence.
func (s *sorter) fill(rank int) {
	r := npb.NewRandom(npb.Seed, 4*uint64(rank)*uint64(len(s.keys)))
	scale := float64(int(1) << s.logMax / 4)
	for i := range s.keys {
		x := r.Next() + r.Next()
		x += r.Next()
		x += r.Next()
		s.keys[i] = int32(scale * x)
	}
}

// rank does one iteration.
func (s *sorter) rank(ctx context.Context, it int32) error {
	if s.p.Rank() == 0 {
		s.keys[it] = it
		s.keys[it+iterations] = 1<<s.logMax - it
	}
	s.sortIntoBuckets()
	copy(s.total, s.bucket)
	if err := mpi.AllReduce(ctx, s.g, s.total, mpi.Sum); err != nil {
		return err
	}
	s.divide()
	if err := s.g.AllToAll(ctx, mpi.Of(s.sendN), mpi.Of(s.recvN)); err != nil {
		return err
	}
	n := 0
	for _, k := range s.recvN {
		n += k
	}
	if n > len(s.in) {
		return fmt.Errorf("%d keys fall to this rank, and there is room for %d", n, len(s.in))
	}
	if err := s.g.AllToAllV(ctx, mpi.Parts(s.out, s.sendN), mpi.Parts(s.in[:n], s.recvN)); err != nil {
		return err
	}
	s.got = s.in[:n]
	s.count()
	s.check(it)
	return nil
}

// sortIntoBuckets orders our keys by their high bits. Behind the bucket sizes
// it notes the values of those test keys that are ours.
func (s *sorter) sortIntoBuckets() {
	shift := s.logMax - s.logBucket
	clear(s.bucket)
	for _, k := range s.keys {
		s.bucket[k>>shift]++
	}
	at := int32(0)
	for i := range s.begin {
		s.begin[i] = at
		at += s.bucket[i]
	}
	for _, k := range s.keys {
		b := &s.begin[k>>shift]
		s.out[*b] = k
		*b++
	}
	first := s.p.Rank() * len(s.keys)
	for i, index := range s.index {
		if index >= first && index < first+len(s.keys) {
			s.bucket[len(s.begin)+i] = s.keys[index-first]
		}
	}
}

// divide gives each rank consecutive buckets with about as many keys as it
// has made, and finds our own.
func (s *sorter) divide() {
	shift := s.logMax - s.logBucket
	clear(s.sendN)
	rank := 0
	all := 0
	first := 0
	s.low = 1 << s.logMax
	s.lesser = int32(1 << s.logKeys)
	for i := range s.begin {
		if rank == s.p.Rank() && first == i {
			s.low = int32(i) << shift
			s.lesser = int32(all)
		}
		all += int(s.total[i])
		s.sendN[rank] += int(s.bucket[i])
		if all >= (rank+1)*len(s.keys) && rank < len(s.sendN)-1 {
			rank++
			first = i + 1
		}
	}
}

// count makes counts hold, for each value of our range, the keys that are at
// most that value.
func (s *sorter) count() {
	counts := s.counts
	clear(counts)
	for _, k := range s.got {
		counts[k-s.low]++
	}
	sum := s.lesser
	for i := range counts {
		sum += counts[i]
		counts[i] = sum
	}
}

// check compares the ranks of the test keys of our range with what is known.
func (s *sorter) check(it int32) {
	for i, k := range s.total[len(s.begin):] {
		at := k - s.low
		if k <= 0 || at < 0 || !s.owns(k) {
			continue
		}
		have := s.lesser
		if at > 0 {
			have = s.counts[at-1]
		}
		if have == s.class.rank[i]+s.change(i, it) {
			s.passed++
		} else {
			s.wrong++
		}
	}
}

// owns reports whether a value lies in our range.
func (s *sorter) owns(k int32) bool {
	at := k - s.low
	less := s.lesser
	if at > 0 {
		less = s.counts[at-1]
	}
	return s.counts[at] > less // the test key itself is there
}

// verify sorts the keys by their ranks, and checks that they ascend, within
// each rank and across.
func (s *sorter) verify(ctx context.Context) error {
	sorted := make([]int32, len(s.got))
	for _, k := range s.got {
		s.counts[k-s.low]--
		sorted[s.counts[k-s.low]-s.lesser] = k
	}
	before, err := s.boundary(ctx, sorted)
	if err != nil {
		return err
	}
	for _, k := range sorted {
		if k < before {
			s.wrong++
		}
		before = k
	}
	return nil
}

// boundary tells the next rank our last key, and returns the last of the rank
// before: -1, less than any, if that has none.
func (s *sorter) boundary(ctx context.Context, sorted []int32) (int32, error) {
	before := []int32{-1}
	last := []int32{-1}
	if n := len(sorted); n > 0 {
		last[0] = sorted[n-1]
	}
	me := s.g.Rank()
	if me < s.g.Size()-1 {
		if err := s.g.Send(ctx, mpi.Of(last), me+1, 0); err != nil {
			return 0, err
		}
	}
	if me > 0 {
		if _, err := s.g.Recv(ctx, mpi.Of(before), me-1, 0); err != nil {
			return 0, err
		}
	}
	return before[0], nil
}

// run is the whole benchmark. All ranks return the same verdict.
func (s *sorter) run(ctx context.Context) (took time.Duration, ok bool, err error) {
	if err := s.rank(ctx, 1); err != nil {
		return 0, false, err
	}
	s.passed = 0
	s.wrong = 0
	if err := s.g.Barrier(ctx); err != nil {
		return 0, false, err
	}
	start := s.p.Now()
	for it := int32(1); it <= iterations; it++ {
		if err := s.rank(ctx, it); err != nil {
			return 0, false, err
		}
	}
	took = s.p.Now() - start
	if err := s.verify(ctx); err != nil {
		return 0, false, err
	}
	verdict := []int32{int32(s.passed), int32(s.wrong), int32(len(s.got))}
	if err := mpi.AllReduce(ctx, s.g, verdict, mpi.Sum); err != nil {
		return 0, false, err
	}
	return took, verdict[0] == tests*iterations && verdict[1] == 0 && verdict[2] == 1<<s.logKeys, nil
}
