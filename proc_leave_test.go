package weft

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
)

// A port closes at once, and what was accepted for sending arrives all the same.
func TestClosedPortLosesNothing(t *testing.T) {
	const count = 200
	everywhere(t, 2, func(ctx context.Context, p *Proc) error {
		news, err := p.OpenPort(1, nil)
		if err != nil {
			return err
		}
		if p.Rank() == 0 {
			q, err := p.OpenPort(2, nil)
			if err != nil {
				return err
			}
			for i := range count {
				if err := q.Send(ctx, 1, bytes.Repeat([]byte{byte(i)}, 1000)); err != nil {
					return err
				}
			}
			if err := q.Close(); err != nil {
				return err
			}
			if err := news.Send(ctx, 1, nil); err != nil {
				return err
			}
			m, err := news.Recv(ctx)
			m.Release()
			return err
		}
		if m, err := news.Recv(ctx); err != nil {
			return err
		} else {
			m.Release()
		}
		q, err := p.OpenPort(2, &PortConfig{RecvBuffer: 64 << 10})
		if err != nil {
			return err
		}
		for i := range count {
			m, err := q.Recv(ctx)
			if err != nil {
				return err
			}
			if len(m.Data) != 1000 || m.Data[0] != byte(i) {
				return fmt.Errorf("message %d: %d bytes of %d", i, len(m.Data), m.Data[0])
			}
			m.Release()
		}
		return news.Send(ctx, 0, nil)
	})
}

// What nobody accepts is told when the process leaves.
func TestUndelivered(t *testing.T) {
	_, err := Simulate(within(t), Cluster{Ranks: 2}, func(ctx context.Context, p *Proc) error {
		q, err := p.OpenPort(1, nil)
		if err != nil || p.Rank() == 1 {
			if err == nil {
				_, err = q.Recv(ctx) // until rank 0 has left
			}
			if errors.Is(err, ErrPeer) {
				return nil
			}
			return err
		}
		unheard, err := p.OpenPort(9, nil)
		if err != nil {
			return err
		}
		for range 3 {
			if err := unheard.Send(ctx, 1, []byte("hello")); err != nil {
				return err
			}
		}
		unheard.Close()
		err = p.Close()
		var lost *UndeliveredError
		if !errors.As(err, &lost) || !errors.Is(err, ErrUndelivered) || len(lost.Messages) != 1 ||
			lost.Messages[0] != (Undelivered{Rank: 1, Channel: 9, Messages: 3}) {
			return fmt.Errorf("closing: %v", err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A long message that has been started, and for which no goroutine waits, is received before its sender has left, or is
// told of: also if its receiver has accepted the announcement.
func TestStartedThenLeft(t *testing.T) {
	for _, received := range []bool{true, false} {
		_, err := Simulate(within(t), Cluster{Ranks: 2}, func(ctx context.Context, p *Proc) error {
			q, err := p.OpenPort(1, nil)
			if err != nil {
				return err
			}
			if p.Rank() == 1 {
				if err := p.Sleep(ctx, 100*time.Millisecond); err != nil || !received {
					return errors.Join(err, p.Sleep(ctx, 10*time.Second))
				}
				n, _, err := q.RecvInto(ctx, make([]byte, 1<<20))
				if err != nil || n != 1<<20 {
					return fmt.Errorf("received %d bytes, %v", n, err)
				}
				return nil
			}
			if _, err := q.StartSend(1, make([]byte, 1<<20)); err != nil {
				return err
			}
			if err := p.Sleep(ctx, 10*time.Millisecond); err != nil {
				return err
			}
			err = p.Close()
			var lost *UndeliveredError
			switch {
			case received && err == nil, !received && errors.As(err, &lost) && len(lost.Messages) == 1:
				return nil
			}
			return fmt.Errorf("closing: %v", err)
		})
		if err != nil {
			t.Errorf("received: %v: %v", received, err)
		}
	}
}

// Messages arrive while their sender computes: it does not call weft, nor does anybody
// wait for it.
func TestSenderComputes(t *testing.T) {
	for _, c := range []struct{ count, size int }{{16600, 64}, {40, 32 << 10}} {
		t.Run(fmt.Sprint(c.size), func(t *testing.T) {
			real(t, 2, func(ctx context.Context, p *Proc) error {
				q, err := p.OpenPort(1, &PortConfig{SendBuffer: 4 << 20, RecvBuffer: 64 << 10})
				if err != nil {
					return err
				}
				if p.Rank() == 0 {
					b := make([]byte, c.size)
					for range c.count {
						if err := q.Send(ctx, 1, b); err != nil {
							return err
						}
					}
					return nil // and nothing looks at packets any more but the service
				}
				for range c.count {
					m, err := q.Recv(ctx)
					if err != nil {
						return err
					}
					m.Release()
				}
				return nil
			})
		})
	}
}

// Pushes that were started go on while their initiator computes, more than may be
// under way at a time, and more than the mailbox has room for.
func TestStartedPushesGoOn(t *testing.T) {
	const count = 5000
	real(t, 2, func(ctx context.Context, p *Proc) error {
		if p.Rank() == 0 {
			s, err := p.AttachMailbox(ctx, 1, "in")
			if err != nil {
				return err
			}
			for i := range count {
				if _, err := s.StartPushTagged(uint64(i), make([]byte, 30)); err != nil {
					return err
				}
			}
			return nil
		}
		m, err := p.OpenMailbox("in", &MailboxConfig{Rings: []int{32 << 10}})
		if err != nil {
			return err
		}
		defer m.Close()
		for i := range count {
			d, err := m.Next(ctx)
			if err != nil {
				return err
			}
			if d.Tag != uint64(i) {
				return fmt.Errorf("message %d comes, and %d is due", d.Tag, i)
			}
			d.Release()
		}
		return nil
	})
}

// Memory that is given back twice, also through a copy, is given back once.
func TestReleaseTwice(t *testing.T) {
	networks(t, 2, func(ctx context.Context, p *Proc) error {
		q, err := p.OpenPort(1, nil)
		if err != nil {
			return err
		}
		for _, size := range []int{100, 40000} {
			if p.Rank() == 0 {
				for i := range 4 {
					d, err := q.Reserve(ctx, 1, size)
					if err != nil {
						return err
					}
					for j := range d.Data {
						d.Data[j] = byte(i)
					}
					again := d
					unsent := d
					if err := d.Commit(ctx); err != nil {
						return err
					}
					unsent.Discard()
					if err := again.Commit(ctx); err != nil {
						return err
					}
				}
				continue
			}
			recv := func() Message {
				m, e := q.RecvFrom(ctx, 0)
				err = errors.Join(err, e)
				return m
			}
			first := recv()
			stale := first
			first.Release()
			first.Release()
			second := recv() // where the first was
			stale.Release()
			third := recv()
			if err != nil {
				return err
			}
			for i, m := range []Message{second, third} {
				if len(m.Data) != size || !bytes.Equal(m.Data, bytes.Repeat([]byte{byte(i + 1)}, size)) {
					return fmt.Errorf("message %d of %d bytes is not as it was sent", i+1, size)
				}
			}
			second.Release()
			third.Release()
			last := recv()
			last.Release()
		}
		// an error says that nothing came, or that rank 0 has returned
		if _, err := q.TryRecv(); err == nil && p.Rank() == 1 {
			return errors.New("something was sent twice")
		}
		return q.Flush(ctx)
	})
}

// A receive that is given up while the program has the buffer on loan says that.
func TestAllOnLoan(t *testing.T) {
	networks(t, 2, func(ctx context.Context, p *Proc) error {
		news, err := p.OpenPort(1, nil)
		if err != nil {
			return err
		}
		q, err := p.OpenPort(2, &PortConfig{RecvBuffer: 64 << 10})
		if err != nil {
			return err
		}
		if p.Rank() == 0 {
			for range 3 {
				if err := q.Send(ctx, 1, make([]byte, 32<<10)); err != nil {
					return err
				}
			}
			return news.Send(ctx, 1, nil)
		}
		var kept []Message
		for range 2 {
			m, err := q.Recv(ctx)
			if err != nil {
				return err
			}
			kept = append(kept, m)
		}
		m, err := news.Recv(ctx)
		if err != nil {
			return err
		}
		m.Release()
		soon, cancel := context.WithTimeout(ctx, time.Millisecond)
		defer cancel()
		_, err = q.Recv(soon)
		var wait *WaitError
		if !errors.As(err, &wait) || !errors.Is(err, context.DeadlineExceeded) ||
			!strings.Contains(err.Error(), "65536 of the 65536 bytes") {
			return fmt.Errorf("receiving with all on loan: %v", err)
		}
		for _, m := range kept {
			m.Release()
		}
		m, err = q.Recv(ctx)
		m.Release()
		return err
	})
}
