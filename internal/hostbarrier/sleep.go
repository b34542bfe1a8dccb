package hostbarrier

import (
	"context"
	"time"

	"weft/failure"
	"weft/internal/counters"
	"weft/internal/waitgraph"
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
	b.note(phase, b.Node.Now())
	defer b.note(0, 0)
	b.bell.watch(ctx)
	nap := b.Node.Asleep(counters.HostBarrier, phase, b.Name)
	defer b.Node.Awake(nap)
	err := b.bell.sleep(ctx, func() bool { return cond(b, phase) }, func() error { return b.lost(phase) })
	if failure.GivenUp(err) {
		return b.explain(phase, err)
	}
	return err
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

// note notes since when a goroutine has slept for a phase; phase 0 means that it does not any more.
func (b *Barrier) note(phase uint64, since time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.asleep = phase
	b.since = since
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
