package weft

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"
)

// A full mailbox holds its senders up, and loses nothing. A sender that gives up has sent
// nothing, or may not know.
func TestFullMailbox(t *testing.T) {
	for _, full := range []FullPolicy{RefuseWhenFull, StallWhenFull} {
		networks(t, 2, func(ctx context.Context, p *Proc) error {
			const (
				n      = 100
				second = 1 << 32
			)
			port, err := p.OpenPort(1, nil)
			if err != nil {
				return err
			}
			if p.Rank() == 1 {
				return overfill(ctx, p, port, n, second)
			}
			m, err := p.OpenMailbox("in", &MailboxConfig{Rings: []int{4 << 10}, Full: full})
			if err != nil {
				return err
			}
			defer m.Close()
			var held []Delivery
			seen := 0
			if full == RefuseWhenFull { // with StallWhenFull the message cannot overtake
				msg, err := port.Recv(ctx)
				if err != nil {
					return err
				}
				msg.Release()
			}
			for last := uint64(0); last != second+n-1; {
				d, err := m.Next(ctx)
				if err != nil {
					return err
				}
				if d.Tag <= last && seen > 0 {
					return fmt.Errorf("%d after %d", d.Tag, last)
				}
				last = d.Tag
				seen++
				held = append(held, d)
				if len(held) == 3 { // out of order
					held[1].Release()
					held[0].Release()
					held[2].Release()
					held = held[:0]
				}
			}
			if seen < n+4 {
				return fmt.Errorf("%d messages", seen)
			}
			return nil
		})
	}
}

// overfill pushes messages into the mailbox of rank 0 until it gives up, since the mailbox is full; says
// so through the port; and pushes n messages more, whose tags begin at second.
func overfill(ctx context.Context, p *Proc, port *Port, n, second int) error {
	s, err := p.AttachMailbox(ctx, 0, "in")
	if err != nil {
		return err
	}
	sent := 0
	for ; err == nil && sent < 4; sent++ { // there is room for them
		err = s.PushTagged(ctx, uint64(sent), make([]byte, 500))
	}
	short, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
	defer cancel()
	for ; err == nil; sent++ {
		err = s.PushTagged(short, uint64(sent), make([]byte, 500))
	}
	if !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	if err := port.Send(ctx, 0, []byte{byte(sent)}); err != nil {
		return err
	}
	for i := range n {
		if err := s.PushTagged(ctx, uint64(second+i), make([]byte, 500)); err != nil {
			return err
		}
	}
	return nil
}

// A mailbox that stalls holds up everything that its sender has to say to this rank; one
// that refuses only what is for it. (Head-of-line blocking, [Kitamura06].)
func TestHeadOfLineBlocking(t *testing.T) {
	for _, c := range []struct {
		full      FullPolicy
		overtakes bool
	}{{RefuseWhenFull, true}, {StallWhenFull, false}} {
		_, err := Simulate(within(t), Cluster{Ranks: 2}, func(ctx context.Context, p *Proc) error {
			port, err := p.OpenPort(1, nil)
			if err != nil {
				return err
			}
			const n = 20
			if p.Rank() == 1 {
				s, err := p.AttachMailbox(ctx, 0, "in")
				if err != nil {
					return err
				}
				var ops []*Op
				for range n {
					o, err := s.StartPushTagged(0, make([]byte, 1000))
					if err != nil {
						return err
					}
					ops = append(ops, o)
				}
				if err := port.Send(ctx, 0, []byte("behind")); err != nil {
					return err
				}
				for _, o := range ops {
					if err := o.Wait(ctx); err != nil {
						return err
					}
				}
				return nil
			}
			m, err := p.OpenMailbox("in", &MailboxConfig{Rings: []int{4096}, Full: c.full})
			if err != nil {
				return err
			}
			if err := p.Sleep(ctx, 50*time.Millisecond); err != nil { // the ring is full long before
				return err
			}
			msg, err := port.TryRecv()
			if overtook := err == nil; overtook != c.overtakes || err != nil && err != ErrWouldBlock {
				return fmt.Errorf("policy %d: the message behind has arrived: %v, %v", c.full, overtook, err)
			}
			msg.Release()
			for range n {
				d, err := m.Next(ctx)
				if err != nil {
					return err
				}
				d.Release()
			}
			if c.overtakes {
				return nil
			}
			msg, err = port.Recv(ctx)
			msg.Release()
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
