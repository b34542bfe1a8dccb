package driver

import (
	"context"

	"weft/internal/engine/coord"
	"weft/internal/engine/link"
)

// Object returns what coordinates under a name: a lock, a semaphore, a condition
// or a barrier.
func (n *Node) Object(cfg coord.Config) (*coord.Object, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	now := n.now()
	n.tape.Object(now, &cfg)
	o, err := n.eng.Coord.Open(now, cfg)
	if err == nil {
		n.tape.Made(o)
	}
	n.flush(n.clock())
	return o, err
}

// An Outcome is what came of an operation of coordination.
type Outcome struct {
	OK, Died        bool
	Epoch, Phase, N uint64
}

// Coordinate runs an operation to its end, or until ctx is done: then it is
// given up.
func (n *Node) Coordinate(ctx context.Context, o *coord.Object, kind coord.Kind, arg uint64) (Outcome, error) {
	n.mu.Lock()
	if n.closed {
		n.mu.Unlock()
		return Outcome{}, link.ErrClosed
	}
	c := n.idle
	if n.idle = nil; c == nil {
		c = NewCall()
	}
	op := &c.Sync
	op.Object, op.Kind, op.N = o, kind, arg
	c.is = coordination
	c.reset()
	now := n.clock()
	if n.tape != nil {
		n.tape.Sync(now, op)
	}
	n.eng.Coord.Start(now, op)
	n.flush(now)
	var err error
	if !op.Done {
		err = n.wait(ctx, c)
	}
	if err == nil {
		err = op.Err
	}
	r := Outcome{op.OK, op.Died, op.Epoch, op.Phase, op.N}
	op.Err = nil
	n.idle = c
	n.mu.Unlock()
	return r, err
}
