package weft

import (
	"context"
	"errors"
	"fmt"
	"testing"
)

// TestTurns: two programs take turns on a port over every transport, and what one has in the buffers when its turn ends
// is there when it comes again.
func TestTurns(t *testing.T) {
	everywhere(t, 3, func(ctx context.Context, p *Proc) error {
		q, err := p.OpenPort(1, &PortConfig{RecvBuffer: 64 << 10, SendBuffer: 64 << 10})
		if err != nil {
			return err
		}
		b := p.Barrier("turns", nil)
		var states [2]PortState
		var sent, received [2][3]byte
		for turn := range 20 {
			now := turn % 2
			for i := range 40 {
				to := i % 3
				m := make([]byte, 100+i*100)
				m[0] = byte(now)
				m[1] = sent[now][to]
				if err := q.TrySend(to, m); err == nil {
					sent[now][to]++
				} else if err != ErrWouldBlock {
					return err
				}
				if i%3 > 0 {
					continue
				}
				if _, err := next(q, now, &received[now]); err != nil && err != ErrWouldBlock {
					return err
				}
			}
			if err := turns(ctx, q, b, &states[now], &states[1-now]); err != nil {
				return err
			}
		}
		for now := range 2 { // the rest, behind which comes a message of 3 bytes
			for to, last := 0, 0; to < 3 || last < 3 || q.TryFlush() != nil; {
				if to < 3 {
					if err := q.TrySend(to, []byte{byte(now), sent[now][to], 1}); err == nil {
						to++
					} else if err != ErrWouldBlock {
						return err
					}
				}
				n, err := next(q, now, &received[now])
				if err != nil && err != ErrWouldBlock {
					return err
				}
				if n == 3 {
					last++
				}
			}
			if err := turns(ctx, q, b, &states[now], &states[1-now]); err != nil {
				return err
			}
			if h := states[now].Held(); h != (Held{}) {
				return fmt.Errorf("program %d has left %+v", now, h)
			}
		}
		return nil
	})
}

// turns gives another program its turn.
func turns(ctx context.Context, q *Port, b *Barrier, old, next *PortState) error {
	if err := q.Freeze(ctx); err != nil {
		return err
	}
	if err := b.Wait(ctx); err != nil {
		return err
	}
	if err := errors.Join(q.Save(old), q.Restore(next)); err != nil {
		return err
	}
	if err := b.Wait(ctx); err != nil {
		return err
	}
	return q.Thaw()
}

// next receives the next message of a program, if it has come, and returns its length.
func next(q *Port, program int, received *[3]byte) (int, error) {
	m, err := q.TryRecv()
	if err != nil {
		return 0, err
	}
	defer m.Release()
	if m.Data[0] != byte(program) || m.Data[1] != received[m.From] {
		return 0, fmt.Errorf("program %d: message %d of program %d from rank %d, want %d", program, m.Data[1], m.Data[0],
			m.From, received[m.From])
	}
	received[m.From]++
	return len(m.Data), nil
}

// TestFrozen: what is called on a frozen port fails and has no effect; and a state that is damaged, or of something
// else, is refused.
func TestFrozen(t *testing.T) {
	networks(t, 2, func(ctx context.Context, p *Proc) error {
		q, err := p.OpenPort(1, nil)
		if err != nil {
			return err
		}
		if p.Rank() == 1 {
			return p.Barrier("end", nil).Wait(ctx)
		}
		var s PortState
		if err := errors.Join(q.Thaw(), q.Save(&s), q.Restore(nil)); !errors.Is(err, ErrNotFrozen) {
			return err
		}
		if err := q.Send(ctx, 0, []byte("to myself")); err != nil {
			return err
		}
		if err := q.Await(ctx); err != nil {
			return err
		}
		draft, err := q.Reserve(ctx, 1, 10)
		if err != nil {
			return err
		}
		if err := q.Freeze(ctx); err != nil {
			return err
		}
		_, errRecv := q.Recv(ctx)
		_, errTry := q.TryRecv()
		_, errReserve := q.Reserve(ctx, 1, 5)
		_, errTryReserve := q.TryReserve(1, 5)
		_, _, errInto := q.RecvInto(ctx, make([]byte, 100))
		for i, err := range []error{
			q.Send(ctx, 1, nil), q.TrySend(1, nil), q.Send(ctx, 1, make([]byte, 100_000)), draft.Commit(ctx), errRecv, errTry,
			errReserve, errTryReserve, errInto,
			q.Flush(ctx), q.TryRoom(1, 1),
		} {
			var f *FrozenError
			if !errors.As(err, &f) || f.Channel != 1 || !errors.Is(err, ErrFrozen) {
				return fmt.Errorf("call %d: %v", i, err)
			}
		}
		if err := q.Save(&s); err != nil {
			return err
		}
		if h := s.Held(); h != (Held{Received: 1, ReceivedBytes: 9}) {
			return fmt.Errorf("%+v", h)
		}
		if err := refused(q, &s); err != nil {
			return err
		}
		if err := errors.Join(q.Restore(nil), q.Restore(s.Clone()), q.Thaw()); err != nil {
			return err
		}
		m, err := q.RecvFrom(ctx, 0)
		if err != nil || string(m.Data) != "to myself" {
			return fmt.Errorf("%q, %v", m.Data, err)
		}
		m.Release()
		return p.Barrier("end", nil).Wait(ctx)
	})
}

// refused checks that only a state that is whole, and of this very port, is restored.
func refused(q *Port, s *PortState) error {
	b, err := s.MarshalBinary()
	if err != nil {
		return err
	}
	var again PortState
	if err := again.UnmarshalBinary(b); err != nil || again.Held() != s.Held() {
		return fmt.Errorf("%+v, %v", again.Held(), err)
	}
	for i := range b {
		b[i] ^= 1
		if err := again.UnmarshalBinary(b); !errors.Is(err, ErrSaved) {
			return fmt.Errorf("byte %d is wrong: %v", i, err)
		}
		b[i] ^= 1
		if err := again.UnmarshalBinary(b[:i]); !errors.Is(err, ErrSaved) {
			return fmt.Errorf("%d bytes: %v", i, err)
		}
	}
	for _, change := range []func(of *identity){
		func(of *identity) { of.job++ }, func(of *identity) { of.rank++ }, func(of *identity) { of.size++ },
		func(of *identity) { of.channel++ },
	} {
		other := s.Clone()
		change(&other.of)
		var e *SavedError
		if err := q.Restore(other); !errors.As(err, &e) || e.Channel != 1 {
			return fmt.Errorf("%v: %v", other.of, err)
		}
	}
	return nil
}

// TestTries: calls that do not wait say when they cannot, and what they have been told of room is true.
func TestTries(t *testing.T) {
	networks(t, 2, func(ctx context.Context, p *Proc) error {
		q, err := p.OpenPort(1, &PortConfig{RecvBuffer: 64 << 10, SendBuffer: 64 << 10})
		if err != nil {
			return err
		}
		b := p.Barrier("full", nil)
		sent := 0
		if p.Rank() == 1 {
			return receiveAll(ctx, p, q, b)
		}
		for ; sent < 65; sent++ { // of which the receive buffer takes 64: nothing gives room back from then on
			if err := q.Send(ctx, 1, make([]byte, 1000)); err != nil {
				return err
			}
		}
		for more := true; more; sent++ {
			if more, err = q.TrySendMore(1, make([]byte, 1000), 1000); err != nil {
				return fmt.Errorf("message %d: %w", sent, err)
			}
		}
		for err == nil { // what is under way may give room back
			if err = q.TrySend(1, make([]byte, 1000)); err == nil {
				sent++
			}
		}
		if err != ErrWouldBlock || sent < 30 {
			return fmt.Errorf("%d messages, %w", sent, err)
		}
		d, err := q.TryReserve(1, 20)
		for err == nil && sent < 1000 {
			if err = d.Commit(ctx); err == nil {
				sent++
				d, err = q.TryReserve(1, 20)
			}
		}
		if err != ErrWouldBlock || q.TryFlush() != ErrWouldBlock {
			return fmt.Errorf("a draft: %w", err)
		}
		if err := b.Wait(ctx); err != nil {
			return err
		}
		for {
			if d, err = q.TryReserve(1, 100); err != ErrWouldBlock {
				break
			}
		}
		if err != nil {
			return err
		}
		d.Data = d.Data[:10] // shorter
		if err := d.Commit(ctx); err != nil {
			return err
		}
		for {
			if err := q.TryFlush(); err != ErrWouldBlock {
				return errors.Join(err, b.Wait(ctx))
			}
		}
	})
}

// receiveAll receives when the port is full, until a short message comes. What fits the caller's memory is copied.
func receiveAll(ctx context.Context, p *Proc, q *Port, b *Barrier) error {
	s := p.Signal()
	q.Notify(s)
	if err := s.Wait(ctx); err != nil { // something has come
		return err
	}
	if err := b.Wait(ctx); err != nil {
		return err
	}
	buf := make([]byte, 10)
	for {
		if err := q.Await(ctx); err != nil {
			return err
		}
		m, err := q.TryRecvCopy(buf)
		if err != nil {
			return err
		}
		short := len(m.Data) == 10
		if short != (&m.Data[0] == &buf[0]) {
			return fmt.Errorf("a message of %d bytes", len(m.Data))
		}
		m.Release()
		if short {
			return b.Wait(ctx)
		}
	}
}

// TestTryRecvHearsOfDeaths: a rank that polls is told of the death of another one, too, and receives what follows.
func TestTryRecvHearsOfDeaths(t *testing.T) {
	t.Parallel()
	faults := []Fault{{Kind: Crash, Ranks: []int{1}, After: Operations{1, 2}}}
	underFaults(t, 3, faults, shortSilence, func(ctx context.Context, p *Proc) error {
		q, err := p.OpenPort(1, nil)
		if err != nil {
			return err
		}
		if p.Rank() > 0 {
			if p.Rank() == 2 {
				if _, err := q.RecvFrom(ctx, 0); err != nil {
					return err
				}
			}
			for range 3 { // rank 1 does not come so far
				if err := q.Send(ctx, 0, []byte{byte(p.Rank())}); err != nil {
					return err
				}
			}
			return q.Flush(ctx)
		}
		for news, after := false, 0; after < 3; {
			m, err := q.TryRecv()
			switch {
			case err == ErrWouldBlock:
				if err := q.Await(ctx); err != nil {
					return err
				}
			case errors.Is(err, ErrPeer) && !news:
				news = true
				if err := q.Send(ctx, 2, nil); err != nil {
					return err
				}
			case err != nil:
				return err
			default:
				if m.From == 2 {
					after++
				}
				m.Release()
			}
		}
		return nil
	})
}
