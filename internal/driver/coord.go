package driver

import (
	"context"

	"weft/failure"
	"weft/internal/engine/coord"
	"weft/internal/timeline"
)

// Object opens the lock, semaphore, condition or barrier of a name.
func (n *Node) Object(cfg coord.Config) (*coord.Object, error) {
	n.turn()
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.life.closing.Load() {
		return nil, failure.ErrClosed
	}
	now := n.now()
	o, err := n.eng.Coord.Open(now, cfg)
	if err == nil && n.timeline != nil {
		n.timeline.Name(o.ID, cfg.Name)
	}
	n.flush(n.clock())
	return o, err
}

// Retake takes a lock that this rank held last, if that needs no message.
func (n *Node) Retake(o *coord.Object) (epoch uint64, died, ok bool) {
	n.enter()
	if !n.life.closing.Load() {
		epoch, died, ok = o.Retake()
	}
	if ok && n.timeline != nil {
		n.noteMoment(timeline.Lock, o.ID, timeline.Nobody, 0)
	}
	n.mu.Unlock()
	return epoch, died, ok
}

// Free gives a lock back that this rank holds. It first receives what has arrived: a rank that
// has just asked for the lock would otherwise wait until this node looks again.
func (n *Node) Free(o *coord.Object) (ok bool) {
	n.enter()
	if !n.life.closing.Load() {
		now := n.clock()
		if n.cfg.Host == nil {
			var any bool
			if now, any = n.receive(now); any {
				n.react(now)
			}
		}
		var sent bool
		if ok, sent = o.Free(); sent {
			n.flush(now)
		} else if ok {
			n.carry(n.duty.Hurry())
		}
	}
	if ok && n.timeline != nil {
		n.noteMoment(timeline.Unlock, o.ID, timeline.Nobody, 0)
	}
	n.mu.Unlock()
	return ok
}

// Deserted returns which member of a barrier in memory will never have its part of it, or nil; see coord.Settle.
func (n *Node) Deserted(o *coord.Object) *failure.BrokenError {
	n.mu.Lock()
	defer n.mu.Unlock()
	return o.Deserted()
}

// An Outcome is what an operation of coordination has returned; see coord.Op.
type Outcome struct {
	OK, Died        bool
	Epoch, Phase, N uint64
}

// Coordinate runs an operation on an object to its end. If ctx ends first, the operation is
// cancelled.
func (n *Node) Coordinate(ctx context.Context, o *coord.Object, kind coord.Kind, arg uint64) (Outcome, error) {
	n.enter()
	if n.life.closing.Load() {
		n.mu.Unlock()
		return Outcome{}, failure.ErrClosed
	}
	c := n.cached.coordination
	if n.cached.coordination = nil; c == nil {
		c = NewCall()
	}
	op := &c.Sync
	op.Object = o
	op.Kind = kind
	op.N = arg
	c.is = coordination
	c.reset()
	began := n.mark()
	now := n.clock()
	n.eng.Coord.Start(now, op)
	n.flush(now)
	var err error
	if !op.Done {
		err = n.wait(ctx, c)
	}
	if err == nil {
		err = op.Err
	}
	if err != nil {
		err = n.explain(c, err)
	}
	r := Outcome{op.OK, op.Died, op.Epoch, op.Phase, op.N}
	if n.timeline != nil {
		n.noteCoordination(began, o, kind, r, err)
	}
	op.Err = nil
	n.cached.coordination = c
	n.mu.Unlock()
	return r, err
}
