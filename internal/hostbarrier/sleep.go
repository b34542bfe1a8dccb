package hostbarrier

import (
	"context"
	"time"

	"weft/failure"
	"weft/internal/counters"
	"weft/internal/mem"
	"weft/internal/sys"
	"weft/internal/waitgraph"
)

// A sleeping goroutine looks again after the time soon, because an arrival at the moment
// when it went to sleep may not have woken it (see Arrive). From then on it looks every
// recheck whether all members that it waits for are alive.
const (
	soon    = 50 * time.Microsecond
	recheck = 100 * time.Millisecond
)

// sleep sleeps until cond holds, or cannot become true any more. The arrival of all members
// on this host at a phase must make cond true.
func (b *Barrier) sleep(ctx context.Context, phase uint64, cond func(b *Barrier, phase uint64) bool) error {
	if !b.enter() {
		return failure.ErrClosed
	}
	defer b.exit()
	if b.Node.Hosted() {
		return b.sleepHosted(ctx, phase, cond)
	}
	b.note(ctx, phase, b.Node.Now())
	defer b.note(ctx, 0, 0)
	nap := b.Node.Asleep(counters.HostBarrier, phase, b.Name)
	defer b.Node.Awake(nap)
	word := mem.Word32(b.Memory, atSeq)
	mem.Add64(b.Memory, atSleepers, 1)
	defer mem.Add64(b.Memory, atSleepers, ^uint64(0))
	for d := soon; ; d = recheck {
		seen := uint32(mem.Load64(b.Memory, atSeq))
		if cond(b, phase) {
			return nil
		}
		if err := b.lost(phase); err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return b.explain(phase, err)
		}
		sys.FutexWait(word, seen, d)
	}
}

// sleepHosted is sleep in a simulation, where no goroutine has to be woken: the simulator
// evaluates the condition.
func (b *Barrier) sleepHosted(ctx context.Context, phase uint64, cond func(b *Barrier, phase uint64) bool) error {
	n := b.Node
	err := n.AwaitHosted(ctx, func() bool { return cond(b, phase) || n.Closing() || b.lost(phase) != nil })
	switch {
	case cond(b, phase):
		return nil
	case n.Closing() || b.closed.Load():
		return failure.ErrClosed
	case err != nil:
		return b.explain(phase, err)
	}
	return b.lost(phase)
}

// rouse wakes all sleeping goroutines on this host.
func (b *Barrier) rouse() {
	mem.Add64(b.Memory, atSeq, 1)
	sys.FutexWake(mem.Word32(b.Memory, atSeq))
}

// note notes since when a goroutine has slept for a phase; phase 0 means that it does not any
// more. The end of ctx wakes the sleeping goroutines. That stays registered after the wait,
// because programs wait again and again with the same context. If another context takes its
// place, the sleeping goroutine notices its end within the time recheck.
func (b *Barrier) note(ctx context.Context, phase uint64, since time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.asleep = phase
	b.since = since
	if b.cancels == ctx || b.closed.Load() {
		return
	}
	if b.forget != nil {
		b.forget()
		b.forget = nil
	}
	if b.cancels = ctx; ctx.Done() != nil {
		b.forget = context.AfterFunc(ctx, b.cancelled)
	}
}

func (b *Barrier) cancelled() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.closed.Load() {
		b.rouse()
	}
}

// Report adds what this rank knows of the barrier to a report.
func (b *Barrier) Report(r *waitgraph.Report) {
	t := waitgraph.Object{What: "barrier", Name: b.Name, ID: b.ID, Members: b.Members, Done: b.done.Load()}
	t.Arrived, _ = b.count(b.Me)
	for i := range r.Objects {
		if r.Objects[i].ID == t.ID && !r.Objects[i].Home { // the barrier over messages that introduced the members
			r.Objects[i] = t
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.asleep > 0 {
		r.Waits = append(r.Waits, waitgraph.Wait{
			For: "barrier", Name: b.Name, ID: t.ID, Phase: b.asleep, Rank: waitgraph.AnyRank,
			Seconds: (b.Node.Now() - b.since).Seconds(),
		})
	}
}
