package weft

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"testing"
	"time"
)

// networks that a mailbox must work over.
func TestMailbox(t *testing.T) {
	networks(t, 4, func(ctx context.Context, p *Proc) error {
		const each = 200
		if p.Rank() != 0 {
			s, err := p.Sender(ctx, 0, "in")
			if err != nil {
				return err
			}
			for i := range each {
				b := bytes.Repeat([]byte{byte(p.Rank())}, i*i%9000+8)
				binary.LittleEndian.PutUint64(b, uint64(i))
				if err := s.PushTagged(ctx, uint64(i), b); err != nil {
					return err
				}
			}
			return nil
		}
		m, err := p.Mailbox(ctx, "in", &MailboxConfig{Rings: []int{32 << 10, 16 << 10}, Table: map[int]int{3: 1}})
		if err != nil {
			return err
		}
		defer m.Close()
		var next [4]int
		for range 3 * each {
			d, err := m.Next(ctx)
			if err != nil {
				return err
			}
			i := next[d.From]
			next[d.From]++
			if d.Tag != uint64(i) || len(d.Data) != i*i%9000+8 || binary.LittleEndian.Uint64(d.Data) != uint64(i) {
				return fmt.Errorf("rank %d, message %d: tag %d, %d bytes", d.From, i, d.Tag, len(d.Data))
			}
			for _, c := range d.Data[8:] {
				if c != byte(d.From) {
					return fmt.Errorf("rank %d, message %d: a byte of rank %d", d.From, i, c)
				}
			}
			d.Release()
		}
		return nil
	})
}

func TestMailboxRefusals(t *testing.T) {
	networks(t, 3, func(ctx context.Context, p *Proc) error {
		if p.Rank() == 0 {
			m, err := p.Mailbox(ctx, "in", &MailboxConfig{Rings: []int{1 << 10}, Table: map[int]int{2: NoRing}})
			if err != nil {
				return err
			}
			if _, err := p.Mailbox(ctx, "in", nil); !errors.Is(err, ErrInUse) {
				return fmt.Errorf("a second of the name: %v", err)
			}
			if err := m.SetRing(1, 7); !errors.Is(err, ErrNoEntry) {
				return fmt.Errorf("a ring that is not there: %v", err)
			}
			if err := m.SetRing(3, 0); !errors.Is(err, ErrRank) {
				return fmt.Errorf("a rank that is not there: %v", err)
			}
			if _, err := m.NewRing(64); !errors.Is(err, ErrNoRoom) {
				return fmt.Errorf("no memory: %v", err)
			}
			for good := 0; good < 2; {
				d, err := m.Next(ctx)
				if err != nil {
					return err
				}
				if string(d.Data) == "good" {
					good++
				} else if string(d.Data) != "late" {
					return fmt.Errorf("got %q", d.Data)
				}
				d.Release()
			}
			return m.Close()
		}
		s, err := p.Sender(ctx, 0, "in")
		if err != nil {
			return err
		}
		var e *MailboxError
		check := func(err, want error, n int) error {
			if !errors.Is(err, want) || !errors.As(err, &e) || e.Rank != 0 || e.Len != n {
				return fmt.Errorf("%d bytes: %v, not %v", n, err, want)
			}
			return nil
		}
		bad := []error{check(s.To(5).Push(ctx, make([]byte, 100)), ErrNoEntry, 100)}
		if p.Rank() == 2 {
			bad = append(bad, check(s.Push(ctx, []byte("good")), ErrNoEntry, 4))
			bad = append(bad, s.To(0).Push(ctx, []byte("good")))
		} else {
			bad = append(bad, check(s.Push(ctx, make([]byte, 1<<10+1)), ErrTooLong, 1<<10+1))
			bad = append(bad, check(s.To(0).With(PerMessage).Push(ctx, make([]byte, 100)), ErrShared, 100))
			bad = append(bad, s.Push(ctx, []byte("good")))
		}
		if err := errors.Join(bad...); err != nil {
			return err
		}
		for { // until it is closed
			if err := s.Push(ctx, []byte("late")); err != nil {
				if !errors.Is(err, ErrClosed) && !errors.Is(err, ErrNoRegion) && !errors.Is(err, ErrNoEntry) && !errors.Is(err, ErrPeer) {
					return err
				}
				return nil
			}
		}
	})
}

// A full mailbox holds its senders up, and loses nothing; who gives up has sent
// nothing, or may not know.
func TestFullMailbox(t *testing.T) {
	for _, full := range []Full{Nack, Stall} {
		networks(t, 2, func(ctx context.Context, p *Proc) error {
			const n, second = 100, 1 << 32
			port, err := p.Open(ctx, 1, nil)
			if err != nil {
				return err
			}
			if p.Rank() == 1 {
				s, err := p.Sender(ctx, 0, "in")
				if err != nil {
					return err
				}
				short, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
				defer cancel()
				sent := 0
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
			m, err := p.Mailbox(ctx, "in", &MailboxConfig{Rings: []int{4 << 10}, Full: full})
			if err != nil {
				return err
			}
			defer m.Close()
			var held []Delivery
			seen := 0
			if full == Nack { // with Stall the message cannot overtake
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
