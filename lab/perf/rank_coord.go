package perf

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"weft"
)

// coordRank is one rank of a measurement of barriers or locks.
type coordRank struct {
	ctx  context.Context
	p    *weft.Proc
	spec Spec
	all  *weft.Barrier // between measurements
	board
}

// A board is memory at rank 0 into which all ranks write their figures, each into a row of words.
type board struct {
	region *weft.Region
	remote *weft.Remote
	row    int // bytes
}

// most is how many times a rank records.
const most = 4096

// coordinate is the part of one rank in a measurement of barriers or locks. The barrier "between", whose algorithm
// is always the same, keeps the ranks together between measurements, and is not measured.
func coordinate(ctx context.Context, p *weft.Proc, s Spec) error {
	c := &coordRank{ctx: ctx, p: p, spec: s, all: p.Barrier("between", &weft.BarrierConfig{Algorithm: "tree"})}
	c.row = 8 * most
	var err error
	if p.Rank() == 0 {
		if c.region, err = p.OpenRegion(ctx, "board", c.row*p.Size(), nil); err != nil {
			return err
		}
	}
	if c.remote, err = p.AttachRegion(ctx, 0, "board"); err != nil {
		return err
	}
	if s.Test == "barrier" {
		err = c.barrier()
	} else {
		err = c.lock()
	}
	if err != nil {
		return err
	}
	return c.all.Wait(ctx)
}

// gather collects a row of every rank at rank 0.
func (c *coordRank) gather(words []uint64) (rows [][]uint64, err error) {
	b := make([]byte, 0, c.row)
	for _, w := range words[:min(len(words), most)] {
		b = binary.LittleEndian.AppendUint64(b, w)
	}
	if err := c.all.Wait(c.ctx); err != nil { // the last ones have been read
		return nil, err
	}
	if err := c.remote.Push(c.ctx, c.row*c.p.Rank(), b[:cap(b)]); err != nil {
		return nil, err
	}
	if err := c.all.Wait(c.ctx); err != nil || c.p.Rank() > 0 {
		return nil, err
	}
	for rank := range c.p.Size() {
		row := make([]uint64, most)
		for i := range row {
			row[i] = c.region.Load(c.row*rank + 8*i)
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// sum returns, at rank 0, the sum of a count of every rank.
func (c *coordRank) sum(v uint64) (sum uint64, err error) {
	rows, err := c.gather([]uint64{v})
	for _, r := range rows {
		sum += r[0]
	}
	return sum, err
}

// wall reads the clock that all processes of a machine share.
func wall() uint64 { return uint64(time.Now().UnixNano()) }

// passes is the number of barriers that are measured.
func (s Spec) passes() int {
	n := 20000
	if s.Transport != "auto" && s.Transport != "shm" {
		n = 2000
	}
	return max(n/max(s.N, 1), 320)
}

// barrier measures a barrier: one by one, in groups, and when each rank goes on.
func (c *coordRank) barrier() error {
	b := c.p.Barrier("measured", &weft.BarrierConfig{Algorithm: weft.BarrierAlgorithm(c.spec.Algorithm)})
	wait := func() error { return b.Wait(c.ctx) }
	if c.spec.Algorithm == "rbcq1" {
		wait = func() error { _, err := b.Sync(c.ctx, 1); return err }
	}
	n := c.spec.passes()
	if err := repeat(n/10, wait); err != nil {
		return err
	}
	twice := func() error { return wait() } // timed halves what it measures
	singles, err := timed(n, 1, twice)
	if err != nil {
		return err
	}
	before := c.p.Stats().EventsSent
	groups, err := timed(n/group, group, twice)
	if err != nil {
		return err
	}
	sent := c.p.Stats().EventsSent - before
	gone := make([]uint64, min(n, most))
	for i := range gone {
		if err := wait(); err != nil {
			return err
		}
		gone[i] = wall()
	}
	messages, err := c.sum(sent)
	if err != nil {
		return err
	}
	rows, err := c.gather(gone)
	if err != nil || c.p.Rank() > 0 {
		return err
	}
	each := float64(messages) / float64(n/group*group)
	s := Sample{Ops: n, NS: twofold(singles), Groups: twofold(groups), Messages: each}
	for i := range gone {
		first := rows[0][i]
		last := rows[0][i]
		for _, r := range rows {
			first = min(first, r[i])
			last = max(last, r[i])
		}
		s.Skew = append(s.Skew, float64(last-first))
	}
	return emit(s)
}

// twofold undoes the halving of timed.
func twofold(ns []float64) []float64 {
	for i := range ns {
		ns[i] *= 2
	}
	return ns
}

// lock measures a lock of Spec.Algorithm: "queue" is the distributed one (PROTOCOL §9.2), "fair" the same with
// LockConfig.Fair, "central" the NCL of [Hayakawa98].
func (c *coordRank) lock() error {
	cfg := &weft.LockConfig{Algorithm: "queue"}
	switch c.spec.Algorithm {
	case "fair":
		cfg.Fair = true
	case "central":
		cfg.Algorithm = "central"
	}
	l := c.p.Lock("measured", cfg)
	switch c.spec.Op {
	case "reacquire":
		return c.reacquire(l)
	case "handover":
		return c.handOver(l)
	default:
		return c.contend(l)
	}
}

// pair takes and releases the lock once.
func (c *coordRank) pair(l *weft.Lock) error {
	if _, err := l.Lock(c.ctx); err != nil {
		return err
	}
	return l.Unlock()
}

// reacquire measures a lock that no other rank wants.
func (c *coordRank) reacquire(l *weft.Lock) error {
	if c.p.Rank() > 0 {
		return nil
	}
	if err := c.pair(l); err != nil {
		return err
	}
	n := 50000
	if c.spec.Algorithm != "queue" {
		n = 3000
	}
	before := c.p.Stats().EventsSent
	groups, err := timed(n/group, group, func() error { return c.pair(l) })
	if err != nil {
		return err
	}
	return emit(Sample{Ops: n, Groups: twofold(groups), Messages: float64(c.p.Stats().EventsSent-before) / float64(n)})
}

// handOver measures from the Unlock of one rank to the return of Lock at the next rank, which waits. Both read the
// same clock.
func (c *coordRank) handOver(l *weft.Lock) error {
	const rounds = 1000
	hold := 10 * time.Microsecond // until the next one waits
	if c.spec.Figure == "p99" {
		hold = 200 * time.Microsecond // also where its request takes longer
	}
	port, err := c.p.OpenPort(1, nil)
	if err != nil {
		return err
	}
	got := make([]uint64, 0, 2*rounds)
	gave := make([]uint64, 0, 2*rounds)
	if err := c.all.Wait(c.ctx); err != nil {
		return err
	}
	for range rounds {
		g, err := l.Lock(c.ctx)
		if err != nil {
			return err
		}
		got = append(got, g.Epoch, wall())
		for end := time.Now().Add(hold); time.Now().Before(end); {
			if _, err := port.TryRecv(); err != nil && !errors.Is(err, weft.ErrWouldBlock) {
				return err
			}
		}
		gave = append(gave, g.Epoch, wall())
		if err := l.Unlock(); err != nil {
			return err
		}
	}
	gots, err := c.gather(got)
	if err != nil {
		return err
	}
	gaves, err := c.gather(gave)
	if err != nil || c.p.Rank() > 0 {
		return err
	}
	given := map[uint64][2]uint64{} // by epoch: when, and by which rank
	for rank, row := range gaves {
		for i := 0; i+1 < len(row) && row[i] > 0; i += 2 {
			given[row[i]] = [2]uint64{row[i+1], uint64(rank)}
		}
	}
	var s Sample
	for rank, row := range gots {
		for i := 0; i+1 < len(row) && row[i] > 0; i += 2 {
			if g, ok := given[row[i]-1]; ok && g[1] != uint64(rank) && row[i+1] > g[0] {
				s.NS = append(s.NS, float64(row[i+1]-g[0]))
			}
		}
	}
	if len(s.NS) == 0 {
		return fmt.Errorf("the lock was never handed over")
	}
	s.Ops = len(s.NS)
	return emit(s)
}

// contend measures a lock that all ranks want all the time: the time of one acquisition by any of them.
func (c *coordRank) contend(l *weft.Lock) error {
	const total = 20000
	n := total / c.p.Size()
	if c.spec.Transport != "auto" && c.spec.Transport != "shm" {
		n /= 10
	}
	if err := c.all.Wait(c.ctx); err != nil {
		return err
	}
	before := c.p.Stats().EventsSent
	start := time.Now()
	for range n {
		if err := c.pair(l); err != nil {
			return err
		}
	}
	sent := c.p.Stats().EventsSent - before
	if err := c.all.Wait(c.ctx); err != nil {
		return err
	}
	took := time.Since(start)
	messages, err := c.sum(sent)
	if err != nil || c.p.Rank() > 0 {
		return err
	}
	ops := float64(n * c.p.Size())
	return emit(Sample{Ops: int(ops), Groups: []float64{float64(took) / ops}, Messages: float64(messages) / ops})
}
