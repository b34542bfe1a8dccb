package hostbarrier

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"weft/failure"
	"weft/internal/driver"
	"weft/internal/engine/coord"
	"weft/internal/mem"
)

// Config describes a barrier to New.
type Config struct {
	Node    *driver.Node
	Wait    driver.Waiting
	Name    string
	ID      uint64 // what the name is in events and reports
	Members []int  // all members, or nil: all ranks of the job
	Local   []int  // the members on this host, in order
	Me      int    // this rank's index in Local
	Window  uint64 // how many phases may be open

	Meeting   *coord.Object // the barrier over messages in which the members have met
	TwoLevels bool          // there are members on other hosts
	Leaders   *coord.Object // the barrier of the leaders; nil at all other members

	Memory []byte // Size(len(Local)) bytes or more, zero at first, mapped by all members on this host
}

// A Barrier is this rank's part of a barrier. Any number of goroutines may use it.
type Barrier struct {
	Config
	bell *Bell

	latch   mem.Latch     // guards arrived and driven
	arrived uint64        // the last phase at which this rank has arrived
	driven  bool          // leader: drive runs
	done    atomic.Uint64 // the last phase that this rank knows to be over

	turn    chan struct{} // leader: held by the goroutine that takes part for the host
	entered uint64        // leader: the last phase of the leaders at which it has arrived

	mu     sync.Mutex
	asleep uint64        // the phase that a goroutine sleeps for, or 0
	since  time.Duration // when that goroutine went to sleep
	inside int           // goroutines that may write to the memory; until Close one more
	closed atomic.Bool   // Close has been called; mu is held when it is set
}

// Where things are in the memory, behind those of the bell. Each member's count lies in a cache line of its own, and
// only that member writes it.
const (
	atReleased = 16 // two levels: the last phase that is over everywhere; the leader writes it
	atBroken   = 24 // a member that is gone, plus 1; the first member on the host writes it
	atCounts   = 64
	stride     = 64
)

// Marks of the count of a member.
const (
	left    = 1 << 63 // the member has left
	letGo   = 1 << 62 // it does not use the memory any more
	letGone = left | letGo
)

// Size returns how many bytes of memory n members on one host need.
func Size(n int) int { return atCounts + stride*n }

// New returns this rank's part of a barrier.
func New(c Config) *Barrier {
	bell := NewBell(c.Node, c.Wait, c.Memory, len(c.Local))
	return &Barrier{Config: c, bell: bell, turn: make(chan struct{}, 1), inside: 1}
}

// count returns at which phase a member on this host has arrived last, and whether it has
// left.
func (b *Barrier) count(i int) (arrived uint64, gone bool) {
	v := mem.Load64(b.Memory, atCounts+stride*i)
	return v &^ letGone, v&left != 0
}

// released reports whether all of n members have let go of the memory.
func released(memory []byte, n int) bool {
	for i := range n {
		if mem.Load64(memory, atCounts+stride*i)&letGo == 0 {
			return false
		}
	}
	return true
}

// Arrive counts an arrival of this rank at its next phase, and returns the phase. It never
// waits. If this was the last arrival on the host it wakes the sleeping goroutines.
func (b *Barrier) Arrive() (phase uint64, err error) {
	b.latch.Lock()
	if b.Node.Closing() || b.closed.Load() {
		b.latch.Unlock()
		return 0, failure.ErrClosed
	}
	if b.arrived-b.done.Load() >= b.Window {
		for b.arrived > b.done.Load() && b.over(b.done.Load()+1) {
			b.done.Add(1)
		}
		if b.arrived-b.done.Load() >= b.Window {
			b.latch.Unlock()
			return 0, &failure.WindowError{Name: b.Name, Open: int(b.Window)}
		}
	}
	b.arrived++
	phase = b.arrived
	mem.Publish64(b.Memory, atCounts+stride*b.Me, phase)
	b.latch.Unlock()
	if mem.Load64(b.Memory, atSleepers) > 0 && b.here(phase) {
		b.bell.Rouse()
	}
	return phase, nil
}

// here reports whether all members on this host have arrived at a phase.
func (b *Barrier) here(phase uint64) bool {
	for i := range b.Local {
		if n, _ := b.count(i); n < phase {
			return false
		}
	}
	return true
}

// over reports whether a phase is over.
func (b *Barrier) over(phase uint64) bool {
	if b.TwoLevels {
		return mem.Load64(b.Memory, atReleased) >= phase
	}
	return b.here(phase)
}

// Await waits until a phase is over. It polls, or yields the processor if there are more
// ranks than processors, and then sleeps.
func (b *Barrier) Await(ctx context.Context, phase uint64) error {
	ctx = driver.Endless(ctx)
	if b.Node.Closing() || b.closed.Load() {
		return failure.ErrClosed
	}
	if phase <= b.done.Load() {
		return nil
	}
	if b.Leaders != nil && !b.isDriven() {
		return b.lead(ctx, phase)
	}
	if b.poll(phase, func() bool { return b.over(phase) }) {
		if b.closed.Load() {
			return failure.ErrClosed // what it has seen may be of another barrier
		}
		b.learn(phase)
		return nil
	}
	err := b.sleep(ctx, phase, (*Barrier).over)
	if err == nil {
		b.learn(phase)
	}
	return err
}

// learn notes that a phase is over.
func (b *Barrier) learn(phase uint64) {
	if b.done.Load() < phase {
		b.done.Store(phase)
	}
}

// lead is Await at the leader: it takes part in the barrier of the leaders for its host, and
// releases the members on its host.
func (b *Barrier) lead(ctx context.Context, phase uint64) error {
	if !b.enter() {
		return failure.ErrClosed
	}
	defer b.exit()
	for b.Node.Hosted() && len(b.turn) > 0 {
		if err := b.Node.AwaitHosted(ctx, func() bool { return len(b.turn) == 0 }); err != nil {
			return b.explain(phase, err)
		}
	}
	select {
	case b.turn <- struct{}{}:
		defer func() { <-b.turn }()
	case <-ctx.Done():
		return b.explain(phase, ctx.Err())
	}
	for next := b.done.Load() + 1; next <= phase; next++ {
		arrived := func() bool { return b.here(next) }
		var err error
		if !b.poll(next, arrived) {
			err = b.sleep(ctx, next, (*Barrier).here)
		}
		if err == nil && b.entered < next {
			b.entered = next
			_, err = b.Node.Coordinate(ctx, b.Leaders, coord.Arrive, 0)
		}
		if err == nil {
			_, err = b.Node.Coordinate(ctx, b.Leaders, coord.Await, next)
		}
		if err != nil {
			return b.explain(next, b.fail(err))
		}
		mem.Store64(b.Memory, atReleased, next)
		b.learn(next)
		b.bell.Ring()
	}
	return nil
}

// Drive has a goroutine take part for the host, as Await at the leader does, until all phases are over at which this
// rank has arrived. It follows an Arrive of a program that may compute before it waits: the others need not wait for
// that.
func (b *Barrier) Drive() {
	if b.Leaders == nil {
		return
	}
	b.latch.Lock()
	begins := !b.driven && b.done.Load() < b.arrived
	b.driven = b.driven || begins
	b.latch.Unlock()
	if begins {
		b.Node.Go(b.drive)
	}
}

func (b *Barrier) drive() {
	for phase, on := b.undone(true); on; phase, on = b.undone(true) {
		if b.lead(context.Background(), phase) != nil {
			b.undone(false) // a goroutine that waits finds out why
			return
		}
	}
}

// undone returns the last phase at which this rank has arrived, and whether drive goes on with it: if it is not over,
// and nothing has failed.
func (b *Barrier) undone(good bool) (phase uint64, on bool) {
	b.latch.Lock()
	defer b.latch.Unlock()
	b.driven = good && b.done.Load() < b.arrived
	return b.arrived, b.driven
}

func (b *Barrier) isDriven() bool {
	b.latch.Lock()
	defer b.latch.Unlock()
	return b.driven
}

// poll is that of the bell for a condition of a phase.
func (b *Barrier) poll(phase uint64, cond func() bool) bool {
	return cond() || b.bell.poll(b.missing(phase) < b.bell.cpus, cond)
}

// missing returns how many members on this host have not arrived at a phase.
func (b *Barrier) missing(phase uint64) (n int) {
	for i := range b.Local {
		if at, _ := b.count(i); at < phase {
			n++
		}
	}
	return n
}
