package hostbarrier

import (
	"context"
	"runtime"
	"sync"
	"time"

	"weft/failure"
	"weft/internal/counters"
	"weft/internal/driver"
	"weft/internal/mem"
	"weft/internal/sys"
)

// A Bell is where goroutines of the processes of a host wait for memory that all of them map to change: they poll, and
// then sleep on a futex. Any number of goroutines may use it.
type Bell struct {
	Node    *driver.Node
	Wait    driver.Waiting
	Memory  []byte // BellSize bytes or more, zero at first, mapped by all processes
	Sharers int    // the processes

	cpus int // that they can use

	mu      sync.Mutex
	cancels context.Context // whose end wakes the sleeping goroutines
	forget  func() bool     // ends that
	closed  bool            // Close has been called
}

// Where things are in the memory of a bell.
const (
	atSeq      = 0 // futex: changes when sleeping goroutines must look again
	atSleepers = 8 // how many goroutines sleep on it

	BellSize = 16
)

// NewBell returns this process's part of a bell.
func NewBell(n *driver.Node, w driver.Waiting, memory []byte, sharers int) *Bell {
	return &Bell{Node: n, Wait: w, Memory: memory, Sharers: sharers, cpus: int(sys.CPUs())}
}

// Ring wakes the sleeping goroutines, if there are any. The caller has changed memory without a fence: waiting until
// the other processors see the change would take as long as what it is for. A goroutine that goes to sleep at this
// moment can therefore miss it; it looks again after the time soon.
func (b *Bell) Ring() {
	if mem.Load64(b.Memory, atSleepers) > 0 {
		b.Rouse()
	}
}

// Rouse wakes all goroutines that sleep, or are about to.
func (b *Bell) Rouse() {
	mem.Add64(b.Memory, atSeq, 1)
	sys.FutexWake(mem.Word32(b.Memory, atSeq))
}

// Await waits until ready returns true, which a rank brings about before it rings. If the rank has gone, or its program
// has returned, and so it cannot, the error is its PeerError.
func (b *Bell) Await(ctx context.Context, ready func() bool, rank int) error {
	if b.poll(true, ready) {
		return nil
	}
	ctx = driver.Endless(ctx)
	if b.Node.Hosted() {
		return b.awaitHosted(ctx, ready, rank)
	}
	b.watch(ctx)
	nap := b.Node.Asleep(counters.HostBarrier, 0, "")
	defer b.Node.Awake(nap)
	return b.sleep(ctx, ready, func() error { return b.lost(rank) })
}

// lost returns why a rank cannot be waited for any more, or nil.
func (b *Bell) lost(rank int) error {
	if b.Node.Closing() {
		return failure.ErrClosed
	}
	if p := b.Node.Peer(rank); p != nil {
		return p.Left()
	}
	return nil
}

// awaitHosted is Await in a simulation, where no goroutine has to be woken: the simulator evaluates the condition.
func (b *Bell) awaitHosted(ctx context.Context, ready func() bool, rank int) error {
	err := b.Node.AwaitHosted(ctx, func() bool { return ready() || b.lost(rank) != nil })
	switch {
	case ready():
		return nil
	case err != nil:
		return err
	}
	return b.lost(rank)
}

// A sleeping goroutine looks again after the time soon, because a change at the moment when it went to sleep may not
// have woken it (see Ring). From then on it looks every recheck whether all members that it waits for are alive.
const (
	soon    = 50 * time.Microsecond
	recheck = 100 * time.Millisecond
)

// sleep sleeps until ready returns true. If lost returns an error, and what the rank did last has not made it ready,
// that is the error.
func (b *Bell) sleep(ctx context.Context, ready func() bool, lost func() error) error {
	word := mem.Word32(b.Memory, atSeq)
	mem.Add64(b.Memory, atSleepers, 1)
	defer mem.Add64(b.Memory, atSleepers, ^uint64(0))
	for d := soon; ; d = recheck {
		seen := uint32(mem.Load64(b.Memory, atSeq))
		if ready() {
			return nil
		}
		if err := lost(); err != nil {
			if ready() {
				return nil
			}
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		sys.FutexWait(word, seen, d)
	}
}

// watch has the end of ctx wake the sleeping goroutines. That stays registered after the wait, because programs wait
// again and again with the same context. If another context takes its place, the sleeping goroutine notices its end
// within the time recheck.
func (b *Bell) watch(ctx context.Context) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.cancels == ctx || b.closed {
		return
	}
	b.unwatch()
	if b.cancels = ctx; ctx.Done() != nil {
		b.forget = context.AfterFunc(ctx, b.cancelled)
	}
}

// unwatch ends what watch has begun. The lock is held.
func (b *Bell) unwatch() {
	if b.forget != nil {
		b.forget()
		b.forget = nil
	}
}

func (b *Bell) cancelled() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.closed {
		b.Rouse()
	}
}

// Close says that the end of a context needs not wake goroutines any more: the memory may soon have another use.
func (b *Bell) Close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	b.unwatch()
}

// looks is how often a goroutine that polls looks at the memory before it looks at the clock.
const looks = 64

// poll looks at the memory until cond holds, and reports whether it does; it gives up when the time for polling is
// over. Few says that all processes that must act may be running on the other processors: then yielding this one to
// another process would only take longer.
func (b *Bell) poll(few bool, cond func() bool) bool {
	w := b.Wait
	if cond() {
		return true
	}
	if w.Yields > 0 && b.Sharers <= 2*b.cpus && few {
		for range looks {
			sys.Pause()
			if cond() {
				return true
			}
		}
	}
	for range w.Yields {
		if w.InProcess {
			runtime.Gosched()
		} else {
			sys.Yield()
		}
		if cond() {
			return true
		}
	}
	if w.Budget == 0 {
		return false
	}
	var end, now time.Time
	defer func() {
		if !end.IsZero() {
			b.Node.Waited(counters.HostBarrier, w.Budget-end.Sub(now), 0)
		}
	}()
	for {
		for range looks {
			if cond() {
				return true
			}
			sys.Pause()
		}
		b.Node.Assist()
		if now = time.Now(); end.IsZero() {
			end = now.Add(w.Budget)
		}
		if now.After(end) {
			return false
		}
	}
}
