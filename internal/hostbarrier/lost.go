package hostbarrier

import (
	"context"
	"errors"
	"fmt"

	"weft/failure"
	"weft/internal/engine/coord"
	"weft/internal/mem"
)

// lost returns an error if a phase cannot become over any more, because a member is gone.
func (b *Barrier) lost(phase uint64) error {
	if b.Node.Closing() || b.closed.Load() {
		return failure.ErrClosed
	}
	for i, rank := range b.Local {
		n, gone := b.count(i)
		leader := i == 0 && b.TwoLevels // needed until it has released the phase
		if n >= phase && !leader {
			continue
		}
		if cause := b.Node.Gone(rank); cause != nil {
			return b.broken(phase, rank, cause)
		}
		if gone {
			return b.broken(phase, rank, &failure.PeerError{Rank: rank, Cause: failure.ErrClosed, Clean: true})
		}
	}
	if v := mem.Load64(b.Memory, atBroken); v != 0 {
		return b.broken(phase, int(v-1), &failure.PeerError{Rank: int(v - 1), Cause: failure.ErrReported})
	}
	if d := b.Node.Deserted(b.Meeting); d != nil {
		return b.broken(phase, d.Rank, d.Err)
	}
	return nil
}

func (b *Barrier) broken(phase uint64, rank int, cause error) error {
	return &failure.BrokenError{Name: b.Name, Phase: phase, Rank: rank, Err: cause}
}

// fail tells the others that a member is gone: the members on this host, and the other
// leaders.
func (b *Barrier) fail(err error) error {
	var broken *failure.BrokenError
	switch {
	case !errors.As(err, &broken):
		return err
	case b.Node.Closing():
		return failure.ErrClosed // it is this rank that goes, and not the leader of which the error tells
	}
	mem.Store64(b.Memory, atBroken, uint64(broken.Rank)+1)
	b.bell.Rouse()
	_, _ = b.Node.Coordinate(context.Background(), b.Leaders, coord.Break, uint64(broken.Rank))
	return &failure.BrokenError{Name: b.Name, Phase: broken.Phase, Rank: broken.Rank, Err: broken.Err}
}

// explain says in the error of a wait what was waited for, and which members on this host
// have not arrived.
func (b *Barrier) explain(phase uint64, err error) error {
	var inner *failure.WaitError
	if errors.As(err, &inner) {
		err = inner.Err
	}
	w := &failure.WaitError{Doing: fmt.Sprintf("barrier %q, phase %d", b.Name, phase), Err: err}
	var gone *failure.PeerError
	if errors.As(err, &gone) {
		return w
	}
	if !failure.GivenUp(err) {
		return err
	}
	w.Knows = b.knows(phase)
	return w
}

// knows says which members on this host have not arrived at a phase.
func (b *Barrier) knows(phase uint64) string {
	var missing []int
	for i, rank := range b.Local {
		if n, _ := b.count(i); n < phase {
			missing = append(missing, rank)
		}
	}
	switch {
	case len(missing) > 0:
		return fmt.Sprintf("of this host, ranks %v have not arrived at phase %d", missing, phase)
	case b.TwoLevels:
		return "all on this host have arrived"
	}
	return ""
}

// Leave marks this rank's count: it will not arrive any more. The members that wait for it
// get an error.
func (b *Barrier) Leave() {
	if b.enter() {
		b.mark(left)
		b.bell.Rouse()
		b.exit()
	}
}

// mark publishes this rank's count with a mark.
func (b *Barrier) mark(mark uint64) {
	b.latch.Lock()
	mem.Store64(b.Memory, atCounts+stride*b.Me, b.arrived|mark)
	b.latch.Unlock()
}

// Close is Leave for the last time: the calls of this rank that wait return ErrClosed, and when the last of them has
// done so, this rank lets go of the memory.
func (b *Barrier) Close() {
	b.mu.Lock()
	closed := b.closed.Swap(true)
	b.mu.Unlock()
	b.bell.Close()
	if closed {
		return
	}
	if b.Me == 0 && b.isOpen() {
		mem.Store64(b.Memory, atBroken, uint64(b.Local[0])+1) // a member that has yet to find the memory does not come
	}
	b.mark(left)
	b.bell.Rouse()
	b.exit()
}

// isOpen reports whether a phase at which this rank has arrived is not over.
func (b *Barrier) isOpen() bool {
	b.latch.Lock()
	defer b.latch.Unlock()
	return b.arrived > 0 && !b.over(b.arrived)
}

// enter lets the calling goroutine write to the memory until exit, and reports whether it may.
func (b *Barrier) enter() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed.Load() {
		return false
	}
	b.inside++
	return true
}

// exit ends what enter has begun. The last goroutine lets go of the memory.
func (b *Barrier) exit() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.inside--; b.inside == 0 {
		b.mark(letGone)
	}
}
