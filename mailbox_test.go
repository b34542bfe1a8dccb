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
	everywhere(t, 4, func(ctx context.Context, p *Proc) error {
		const each = 200
		if p.Rank() != 0 {
			s, err := p.AttachMailbox(ctx, 0, "in")
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
		m, err := p.OpenMailbox("in", &MailboxConfig{Rings: []int{32 << 10, 16 << 10}, Table: map[int]int{3: 1}})
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
			m, err := p.OpenMailbox("in", &MailboxConfig{Rings: []int{1 << 10}, Table: map[int]int{2: NoRing}})
			if err != nil {
				return err
			}
			if _, err := p.OpenMailbox("in", nil); !errors.Is(err, ErrInUse) {
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
		s, err := p.AttachMailbox(ctx, 0, "in")
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
		var bad []error
		for _, none := range []int{5, -3, 1<<16 - 1, 1 << 40} {
			bad = append(bad, check(s.WithRing(none).Push(ctx, make([]byte, 100)), ErrNoEntry, 100))
		}
		if p.Rank() == 2 {
			bad = append(bad, check(s.Push(ctx, []byte("good")), ErrNoEntry, 4))
			bad = append(bad, s.WithRing(0).Push(ctx, []byte("good")))
		} else {
			bad = append(bad, check(s.Push(ctx, make([]byte, 1<<10+1)), ErrTooLong, 1<<10+1))
			bad = append(bad, check(s.WithRing(0).WithStatus(StatusPerMessage).Push(ctx, make([]byte, 100)), ErrShared, 100))
			bad = append(bad, s.Push(ctx, []byte("good")))
		}
		if err := errors.Join(bad...); err != nil {
			return err
		}
		for { // until it is closed
			if err := s.Push(ctx, []byte("late")); err != nil {
				if !errors.Is(err, ErrClosed) && !errors.Is(err, ErrNoRegion) && !errors.Is(err, ErrNoEntry) &&
					!errors.Is(err, ErrPeer) {
					return err
				}
				return nil
			}
		}
	})
}

// Several goroutines read one mailbox: each message goes to one of them. A wait ends
// with its context, and nothing is lost by that.
func TestManyReaders(t *testing.T) {
	real(t, 3, func(ctx context.Context, p *Proc) error {
		const each = 500
		if p.Rank() != 0 {
			s, err := p.AttachMailbox(ctx, 0, "in")
			for i := 0; i < each && err == nil; i++ {
				err = s.PushTagged(ctx, uint64(p.Rank()*each+i), make([]byte, i))
			}
			return err
		}
		m, err := p.OpenMailbox("in", nil)
		if err != nil {
			return err
		}
		defer m.Close()
		tags := make(chan uint64, 2*each)
		reading, done := context.WithCancel(ctx)
		defer done()
		for range 4 {
			go func() {
				for {
					short, cancel := context.WithTimeout(reading, time.Millisecond)
					d, err := m.Next(short)
					cancel()
					if err == nil {
						tags <- d.Tag
						d.Release()
					} else if !errors.Is(err, context.DeadlineExceeded) {
						return
					}
				}
			}()
		}
		seen := map[uint64]bool{}
		for range 2 * each {
			select {
			case tag := <-tags:
				if seen[tag] {
					return fmt.Errorf("message %d has come twice", tag)
				}
				seen[tag] = true
			case <-ctx.Done():
				return fmt.Errorf("%d of %d messages have come: %w", len(seen), 2*each, ctx.Err())
			}
		}
		return nil
	})
}

// With a status for each packet the receiver sees the beginning of a message before its
// end is there, and every packet says where it belongs.
func TestNextPacket(t *testing.T) {
	networks(t, 2, func(ctx context.Context, p *Proc) error {
		const size = 200000
		if p.Rank() == 1 {
			s, err := p.AttachMailbox(ctx, 0, "in")
			if err != nil {
				return err
			}
			return s.WithStatus(StatusPerPacket).PushTagged(ctx, 7, bytes.Repeat([]byte("x"), size))
		}
		m, err := p.OpenMailbox("in", &MailboxConfig{Rings: []int{size}})
		if err != nil {
			return err
		}
		defer m.Close()
		packets := 0
		for got := 0; got < size; packets++ {
			d, err := m.NextPacket(ctx)
			if err != nil {
				return err
			}
			if d.From != 1 || d.Tag != 7 || d.Off != got || d.Total != size {
				return fmt.Errorf("after %d bytes: %d on, of %d, tag %d", got, d.Off, d.Total, d.Tag)
			}
			got += len(d.Data)
			d.Release()
		}
		if packets < 2 {
			return fmt.Errorf("it came in %d packets", packets)
		}
		return nil
	})
}
