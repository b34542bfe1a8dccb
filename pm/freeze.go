package pm

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"weft"
)

// A State is the saved state of a context: that of its port, or of each of its ports. It is a value that can be written down. The
// zero State is that of a context that has just been opened. Memory that is locked does not belong to it.
type State struct{ parts []weft.PortState }

// Held counts the messages that the state holds, and their bytes.
func (s *State) Held() (h weft.Held) {
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

// UnmarshalBinary reads what MarshalBinary has returned; what is damaged gets a weft.SavedError.
func (s *State) UnmarshalBinary(b []byte) error {
	short := &weft.SavedError{Channel: -1, Why: "it is cut short, or goes on behind its end"}
	if len(b) == 0 {
		return short
	}
	parts := make([]weft.PortState, b[0])
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

// Freeze stops the context, and returns when nothing of this node is in the network: see weft.Port.Freeze. Until Thaw sending and
// receiving fail with an error that matches weft.ErrFrozen. It first waits for writes and reads that are under way. A context with a
// send buffer that has not been sent, or a message that has not been given back, is not frozen: the error is a BusyError.
func (x *Context) Freeze(ctx context.Context) error {
	switch {
	case x.sending:
		return &BusyError{"Freeze", "the buffer of GetSendBuffer is sent by Send"}
	case x.receiving:
		return &BusyError{"Freeze", "the message of Receive is given back by ReleaseReceiveBuffer"}
	}
	x.sure = -1 // of room in what will be frozen
	if err := x.writes.wait(ctx); err != nil {
		return err
	}
	if err := x.reads.wait(ctx); err != nil {
		return err
	}
	for _, l := range x.parts {
		if err := l.port.Freeze(ctx); err != nil {
			return err
		}
	}
	return nil
}

// wait waits for all that is under way. Failures are told by the done-tests.
func (t *transfers) wait(ctx context.Context) error {
	for i, op := range t.ops {
		if err := op.Wait(ctx); err != nil && t.err == nil {
			t.err = unlocked(t.handles[i], err)
		}
		op.Free()
	}
	t.ops, t.handles = t.ops[:0], t.handles[:0]
	return ctx.Err()
}

// Thaw ends what Freeze has begun.
func (x *Context) Thaw() error {
	var first error
	for _, l := range x.parts {
		if err := l.port.Thaw(); err != nil && first == nil {
			first = err
		}
	}
	return first
}

// Save puts the state of a context that is frozen at all nodes into s, whose memory it uses: pmSaveContext.
func (x *Context) Save(s *State) error {
	if len(s.parts) != len(x.parts) {
		s.parts = make([]weft.PortState, len(x.parts))
	}
	for i, l := range x.parts {
		if err := l.port.Save(&s.parts[i]); err != nil {
			return err
		}
	}
	return nil
}

// Restore makes s the state of a context that is frozen at all nodes: pmRestoreContext. All nodes restore what they have saved at
// the same time. The error is a weft.SavedError for what is damaged, or is the state of another context; the context has what it
// had then.
func (x *Context) Restore(s *State) error {
	had := new(State)
	if len(x.parts) > 1 {
		if err := x.Save(had); err != nil {
			return err
		}
	}
	return x.restore(s, had)
}

// restore restores s, and if a part of it cannot be restored what has just been saved in had.
func (x *Context) restore(s, had *State) error {
	if len(s.parts) != 0 && len(s.parts) != len(x.parts) {
		return &weft.SavedError{Channel: x.parts[0].channel, Why: fmt.Sprintf("it has %d parts, and the context %d", len(s.parts), len(x.parts))}
	}
	for i, l := range x.parts {
		var part *weft.PortState
		if len(s.parts) > 0 {
			part = &s.parts[i]
		}
		if err := l.port.Restore(part); err != nil {
			for j := range i {
				err = errors.Join(err, x.parts[j].port.Restore(&had.parts[j]))
			}
			return err
		}
	}
	return nil
}

// A SwitchStats is what came of a Switch at this node: how long its parts took, and how far it came.
type SwitchStats struct {
	Flush   time.Duration // Freeze: until nothing of this node was in the network
	Wait    time.Duration // for the other nodes, both times
	Save    time.Duration
	Restore time.Duration
	Thaw    time.Duration

	Restored bool // the context has the next state
}

// Total returns their sum.
func (t SwitchStats) Total() time.Duration { return t.Flush + t.Wait + t.Save + t.Restore + t.Thaw }

// Switch is network preemption, the switch of SCore-D's gang scheduler: all nodes freeze the context, wait for each other at a barrier of
// all nodes, save it into old, restore next, wait again, and thaw it. If a node dies in between the error says so, and the
// context is left frozen, with the state that it had, or with that of next if Restored is true: the nodes that are left agree on
// what to do, by a barrier of their own, and thaw it, or go on.
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
