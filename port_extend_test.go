package weft_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"
	"testing"

	"weft"
	"weft/extend"
)

// TestTurns: two programs take turns on a port over every transport, and what one has in the buffers when its turn ends
// is there when it comes again.
func TestTurns(t *testing.T) {
	weft.Everywhere(t, 3, func(ctx context.Context, p *weft.Proc) error {
		q, err := p.OpenPort(1, &weft.PortConfig{RecvBuffer: 64 << 10, SendBuffer: 64 << 10})
		if err != nil {
			return err
		}
		x := extend.Of(q)
		b := p.Barrier("turns", nil)
		var states [2]extend.State
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
				} else if err != weft.ErrWouldBlock {
					return err
				}
				if i%3 > 0 {
					continue
				}
				if _, err := next(q, now, &received[now]); err != nil && err != weft.ErrWouldBlock {
					return err
				}
			}
			if err := turns(ctx, x, b, &states[now], &states[1-now]); err != nil {
				return err
			}
		}
		for now := range 2 { // the rest, behind which comes a message of 3 bytes
			for to, last := 0, 0; to < 3 || last < 3 || x.TryFlush() != nil; {
				if to < 3 {
					if err := q.TrySend(to, []byte{byte(now), sent[now][to], 1}); err == nil {
						to++
					} else if err != weft.ErrWouldBlock {
						return err
					}
				}
				n, err := next(q, now, &received[now])
				if err != nil && err != weft.ErrWouldBlock {
					return err
				}
				if n == 3 {
					last++
				}
			}
			if err := turns(ctx, x, b, &states[now], &states[1-now]); err != nil {
				return err
			}
			if h := states[now].Held(); h != (extend.Held{}) {
				return fmt.Errorf("program %d has left %+v", now, h)
			}
		}
		return nil
	})
}

// turns gives another program its turn.
func turns(ctx context.Context, x *extend.Port, b *weft.Barrier, old, next *extend.State) error {
	if err := x.Freeze(ctx); err != nil {
		return err
	}
	if err := b.Wait(ctx); err != nil {
		return err
	}
	if err := errors.Join(x.Save(old), x.Restore(next)); err != nil {
		return err
	}
	if err := b.Wait(ctx); err != nil {
		return err
	}
	return x.Thaw()
}

// next receives the next message of a program, if it has come, and returns its length.
func next(q *weft.Port, program int, received *[3]byte) (int, error) {
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
	weft.Everywhere(t, 2, func(ctx context.Context, p *weft.Proc) error {
		q, err := p.OpenPort(1, nil)
		if err != nil {
			return err
		}
		x := extend.Of(q)
		if p.Rank() == 1 {
			return p.Barrier("end", nil).Wait(ctx)
		}
		var s extend.State
		if err := errors.Join(x.Thaw(), x.Save(&s), x.Restore(nil)); !errors.Is(err, weft.ErrNotFrozen) {
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
		if err := x.Freeze(ctx); err != nil {
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
			q.Flush(ctx), x.TryRoom(1, 1),
		} {
			var f *weft.FrozenError
			if !errors.As(err, &f) || f.Channel != 1 || !errors.Is(err, weft.ErrFrozen) {
				return fmt.Errorf("call %d: %v", i, err)
			}
		}
		if err := x.Save(&s); err != nil {
			return err
		}
		if h := s.Held(); h != (extend.Held{Received: 1, ReceivedBytes: 9}) {
			return fmt.Errorf("%+v", h)
		}
		if err := refused(x, &s); err != nil {
			return err
		}
		if err := errors.Join(x.Restore(nil), x.Restore(s.Clone()), x.Thaw()); err != nil {
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
func refused(x *extend.Port, s *extend.State) error {
	b, err := s.MarshalBinary()
	if err != nil {
		return err
	}
	var again extend.State
	if err := again.UnmarshalBinary(b); err != nil || again.Held() != s.Held() {
		return fmt.Errorf("%+v, %v", again.Held(), err)
	}
	for i := range b {
		b[i] ^= 1
		if err := again.UnmarshalBinary(b); !errors.Is(err, weft.ErrSaved) {
			return fmt.Errorf("byte %d is wrong: %v", i, err)
		}
		b[i] ^= 1
		if err := again.UnmarshalBinary(b[:i]); !errors.Is(err, weft.ErrSaved) {
			return fmt.Errorf("%d bytes: %v", i, err)
		}
	}
	for _, at := range []int{12, 20, 24, 28} { // where the state names its job, rank, size and channel
		other := slices.Clone(b)
		other[at]++
		end := len(other) - 4
		sum := crc32.Checksum(other[:end], crc32.MakeTable(crc32.Castagnoli))
		binary.LittleEndian.PutUint32(other[end:], sum)
		var e *weft.SavedError
		err := again.UnmarshalBinary(other)
		if err == nil {
			err = x.Restore(&again)
		}
		if !errors.As(err, &e) || at != 24 && e.Channel != 1 {
			return fmt.Errorf("byte %d is of another port: %v", at, err)
		}
	}
	return nil
}

// TestTries: calls that do not wait say when they cannot, and what they have been told of room is true.
func TestTries(t *testing.T) {
	weft.Everywhere(t, 2, func(ctx context.Context, p *weft.Proc) error {
		q, err := p.OpenPort(1, &weft.PortConfig{RecvBuffer: 64 << 10, SendBuffer: 64 << 10})
		if err != nil {
			return err
		}
		x := extend.Of(q)
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
			if more, err = x.TrySendMore(1, make([]byte, 1000), 1000); err != nil {
				return fmt.Errorf("message %d: %w", sent, err)
			}
		}
		for err == nil { // what is under way may give room back
			if err = q.TrySend(1, make([]byte, 1000)); err == nil {
				sent++
			}
		}
		if err != weft.ErrWouldBlock || sent < 30 {
			return fmt.Errorf("%d messages, %w", sent, err)
		}
		d, err := q.TryReserve(1, 20)
		for err == nil && sent < 1000 {
			if err = d.Commit(ctx); err == nil {
				sent++
				d, err = q.TryReserve(1, 20)
			}
		}
		if err != weft.ErrWouldBlock || x.TryFlush() != weft.ErrWouldBlock {
			return fmt.Errorf("a draft: %w", err)
		}
		if err := b.Wait(ctx); err != nil {
			return err
		}
		for {
			if d, err = q.TryReserve(1, 100); err != weft.ErrWouldBlock {
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
			if err := x.TryFlush(); err != weft.ErrWouldBlock {
				return errors.Join(err, b.Wait(ctx))
			}
		}
	})
}

// receiveAll receives when the port is full, until a short message comes. What fits the caller's memory is copied.
func receiveAll(ctx context.Context, p *weft.Proc, q *weft.Port, b *weft.Barrier) error {
	x := extend.Of(q)
	s := extend.NewSignal(p)
	x.Notify(s)
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
		m, err := x.TryRecvCopy(buf)
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

// TestSendParts: a head and a body arrive as one message, whatever their lengths and where they lie.
func TestSendParts(t *testing.T) {
	lengths := [][2]int{{0, 0}, {20, 0}, {20, 8}, {20, 16}, {32, 8}, {3, 100}, {32, 8 << 10}, {32, 32<<10 - 32}}
	all := make([]byte, 32<<10)
	for i := range all {
		all[i] = byte(i * 11 >> 2)
	}
	weft.Everywhere(t, 2, func(ctx context.Context, p *weft.Proc) error {
		q, err := p.OpenPort(1, nil)
		if err != nil {
			return err
		}
		if p.Rank() == 0 {
			return sendParts(q, all, lengths)
		}
		for _, n := range lengths {
			m, err := q.Recv(ctx)
			if err != nil || !bytes.Equal(m.Data, all[:n[0]+n[1]]) {
				return fmt.Errorf("%d bytes, want %d: %w", len(m.Data), n, err)
			}
			m.Release()
		}
		return nil
	})
}

func sendParts(q *weft.Port, all []byte, lengths [][2]int) error {
	x := extend.Of(q)
	for _, n := range lengths {
		if err := x.TrySendParts(1, all[:n[0]:n[0]], all[n[0]:n[0]+n[1]]); err != nil {
			return err
		}
	}
	if err := x.TrySendParts(1, all[:37], nil); !errors.Is(err, weft.ErrTooLong) {
		return fmt.Errorf("a head of 37 bytes: %w", err)
	}
	if err := x.TrySendParts(1, all[:32], all[:32<<10-31]); !errors.Is(err, weft.ErrTooLong) {
		return fmt.Errorf("more than 32 KiB: %w", err)
	}
	return nil
}
