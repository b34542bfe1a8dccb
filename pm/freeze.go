package pm

import (
	"context"
	"time"

	"weft"
	"weft/extend"
)

// A State is the saved state of a context: that of its port. It can be written to a file by MarshalBinary. The zero
// State is the state of a context that has just been opened. Locked memory is not part of it.
type State = extend.State

// Freeze stops the context, and returns when nothing of this node is in the network; see
// extend.Port.Freeze. Until Thaw, sending and receiving fail with an error that matches
// weft.ErrFrozen. Freeze first waits for writes and reads that are under way. A context with a send
// buffer that has not been sent, or a message that has not been given back, is not frozen: the
// error is a BusyError.
func (x *Context) Freeze(ctx context.Context) error {
	switch {
	case x.sending:
		return &BusyError{"Freeze", "the buffer of GetSendBuffer is sent by Send"}
	case x.held > 0:
		return &BusyError{"Freeze", "the message of Receive is given back by ReleaseReceiveBuffer"}
	}
	x.sure = -1 // the port will be frozen
	if err := x.writes.wait(ctx); err != nil {
		return err
	}
	if err := x.reads.wait(ctx); err != nil {
		return err
	}
	return x.more.Freeze(ctx)
}

// wait waits for all transfers that are under way. WriteDone and ReadDone report the failed ones.
func (t *transfers) wait(ctx context.Context) error {
	if ctx == nil {
		ctx = context.Background()
	}
	for i := range t.ops {
		t.end(ctx, i)
	}
	t.ops = t.ops[:0]
	t.handles = t.handles[:0]
	return ctx.Err()
}

// Thaw ends the freeze: the context sends and receives again.
func (x *Context) Thaw() error { return x.more.Thaw() }

// Save stores the state of a context that is frozen at all nodes in s, whose memory it reuses
// (pmSaveContext).
func (x *Context) Save(s *State) error { return x.more.Save(s) }

// Restore makes s the state of a context that is frozen at all nodes (pmRestoreContext). All nodes
// restore states that they saved at the same time. If s is damaged, or the state of another
// context, the error is a weft.SavedError, and the context keeps the state that it had.
func (x *Context) Restore(s *State) error { return x.more.Restore(s) }

// SwitchStats tells how long the steps of a Switch took at this node, and how far it got.
type SwitchStats struct {
	Flush   time.Duration // in Freeze
	Wait    time.Duration // at both barriers
	Save    time.Duration
	Restore time.Duration
	Thaw    time.Duration

	Restored bool // the context has the state next
}

// Total returns the sum of the steps.
func (t SwitchStats) Total() time.Duration { return t.Flush + t.Wait + t.Save + t.Restore + t.Thaw }

// Switch is network preemption, the switch of SCore-D's gang scheduler. All nodes call it: it
// freezes the context, waits at the barrier b of all nodes, saves the state into old, restores
// next, waits again, and thaws the context.
//
// If a node dies meanwhile, the other nodes get an error and the context stays frozen, with the
// state next if Restored is true, and otherwise with the state that it had. The other nodes then
// agree, by a barrier of their own, whether they thaw the context or switch again.
func (x *Context) Switch(ctx context.Context, b *weft.Barrier, old, next *State) (t SwitchStats, err error) {
	p := x.proc
	at := p.Now()
	step := func(part *time.Duration, f func() error) {
		if err != nil {
			return
		}
		err = f()
		now := p.Now()
		*part += now - at
		at = now
	}
	step(&t.Flush, func() error { return x.Freeze(ctx) })
	step(&t.Wait, func() error { return b.Wait(ctx) })
	step(&t.Save, func() error { return x.Save(old) })
	step(&t.Restore, func() error { return x.Restore(next) })
	t.Restored = err == nil
	step(&t.Wait, func() error { return b.Wait(ctx) })
	step(&t.Thaw, x.Thaw)
	return t, err
}
