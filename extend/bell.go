package extend

import (
	"context"
	"time"

	"weft"
	"weft/internal/hostbarrier"
	"weft/internal/inside"
)

// BellSize is how many bytes of memory a Bell needs.
const BellSize = hostbarrier.BellSize

// A Bell is where ranks of one host wait for memory to change that all of them map: they poll, and then sleep. It is
// for ranks that work on the memory of a region themselves (weft.Remote.Bytes). Any number of goroutines may use it.
type Bell struct{ b *hostbarrier.Bell }

// NewBell returns this rank's part of a bell in BellSize bytes of the memory that a number of ranks map, zero at first
// and aligned to 8.
func NewBell(p *weft.Proc, memory []byte, ranks int) *Bell {
	node := inside.OfProc(p).Node
	return &Bell{hostbarrier.NewBell(node, node.Waiting(), memory, ranks)}
}

// Ring wakes the goroutines of all ranks that sleep. It is called after each change that others may wait for, and costs
// a look at the memory if nobody sleeps.
func (b *Bell) Ring() { b.b.Ring() }

// Rouse is Ring for what changes at this rank only: no goroutine that is about to sleep misses it.
func (b *Bell) Rouse() { b.b.Rouse() }

// Wait waits until ready returns true, which a rank brings about before it rings. Ready is called again and again, and
// must not wait. If ctx ends first the error is that of ctx; if the rank has gone, or its program has returned, so that
// it cannot ring, it is its weft.PeerError.
func (b *Bell) Wait(ctx context.Context, ready func() bool, rank int) error {
	return b.b.Await(ctx, ready, rank)
}

// RoundTrip measures how long a word takes from this rank's processor to that of another rank and back: the shortest of
// many times, or 0 if the two do not run at the same time. Mine and theirs are 8 bytes of the memory, 0 at first and
// aligned to 8. The other rank calls it at about the same time, with the two exchanged; one of the ranks says first.
func (b *Bell) RoundTrip(mine, theirs []byte, first bool) time.Duration {
	return b.b.RoundTrip(mine, theirs, first)
}

// Vain is called after a look at the memory that has found nothing, by a goroutine that looks again and again: it lets
// run what may have to run first.
func (b *Bell) Vain() { b.b.Node.Vain() }

// Close ends this rank's use of the bell. No goroutine may wait any more.
func (b *Bell) Close() { b.b.Close() }
