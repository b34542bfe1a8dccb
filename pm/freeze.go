package pm

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"weft"
	"weft/extend"
)

// A State is the saved state of a context: the states of its ports. It can be written to a file by
// MarshalBinary. The zero State is the state of a context that has just been opened. Locked memory
// is not part of it. A State may be used by one goroutine at a time.
type State struct{ parts []extend.State }

// Held counts the messages in the state, and their bytes.
func (s *State) Held() (h extend.Held) {
	for i := range s.parts {
		p := s.parts[i].Held()
		h.Sent += p.Sent
		h.Received += p.Received
		h.SentBytes += p.SentBytes
		h.ReceivedBytes += p.ReceivedBytes
	}
	return h
}

// MarshalBinary returns the state as bytes.
func (s *State) MarshalBinary() ([]byte, error) {
	b := []byte{byte(len(s.parts))}
	for i := range s.parts {
		part, err := s.parts[i].MarshalBinary()
		if err != nil {
			return nil, err
		}
		b = binary.LittleEndian.AppendUint64(b, uint64(len(part)))
		b = append(b, part...)
	}
	return b, nil
}

// UnmarshalBinary reads what MarshalBinary has returned. If b is damaged the error is a
// weft.SavedError.
func (s *State) UnmarshalBinary(b []byte) error {
	short := &weft.SavedError{Channel: -1, Why: "it is too short or too long"}
	if len(b) == 0 {
		return short
	}
	parts := make([]extend.State, b[0])
	b = b[1:]
	for i := range parts {
		if len(b) < 8 {
			return short
		}
		n := binary.LittleEndian.Uint64(b)
		if b = b[8:]; n > uint64(len(b)) {
			return short
		}
		if err := parts[i].UnmarshalBinary(b[:n]); err != nil {
			return err
		}
		b = b[n:]
	}
	if len(b) > 0 {
		return short
	}
	s.parts = parts
	return nil
}

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
	for _, l := range x.parts {
		if err := l.more.Freeze(ctx); err != nil {
			return err
		}
	}
	return nil
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
func (x *Context) Thaw() error {
	var first error
	for _, l := range x.parts {
		if err := l.more.Thaw(); err != nil && first == nil {
			first = err
		}
	}
	return first
}

// Save stores the state of a context that is frozen at all nodes in s, whose memory it reuses
// (pmSaveContext).
func (x *Context) Save(s *State) error {
	if len(s.parts) != len(x.parts) {
		s.parts = make([]extend.State, len(x.parts))
	}
	for i, l := range x.parts {
		if err := l.more.Save(&s.parts[i]); err != nil {
			return err
		}
	}
	return nil
}

// Restore makes s the state of a context that is frozen at all nodes (pmRestoreContext). All nodes
// restore states that they saved at the same time. If s is damaged, or the state of another
// context, the error is a weft.SavedError, and the context keeps the state that it had.
func (x *Context) Restore(s *State) error {
	had := new(State)
	if len(x.parts) > 1 {
		if err := x.Save(had); err != nil {
			return err
		}
	}
	return x.restore(s, had)
}

// restore is Restore. If a part cannot be restored, it restores the state had, which has just been
// saved.
func (x *Context) restore(s, had *State) error {
	if len(s.parts) != 0 && len(s.parts) != len(x.parts) {
		why := fmt.Sprintf("it has %d parts, and the context %d", len(s.parts), len(x.parts))
		return &weft.SavedError{Channel: x.parts[0].channel, Why: why}
	}
	for i, l := range x.parts {
		var part *extend.State
		if len(s.parts) > 0 {
			part = &s.parts[i]
		}
		if err := l.more.Restore(part); err != nil {
			for j := range i {
				err = errors.Join(err, x.parts[j].more.Restore(&had.parts[j]))
			}
			return err
		}
	}
	return nil
}

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
	p := x.parts[0].proc
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
	step(&t.Restore, func() error { return x.restore(next, old) })
	t.Restored = err == nil
	step(&t.Wait, func() error { return b.Wait(ctx) })
	step(&t.Thaw, x.Thaw)
	return t, err
}
