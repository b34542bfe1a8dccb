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
		bad := []error{check(s.WithRing(5).Push(ctx, make([]byte, 100)), ErrNoEntry, 100)}
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

// A sender that is frequent gets a ring of its own while the job runs; nothing is lost
// on the way.
func TestAutoRings(t *testing.T) {
	networks(t, 3, func(ctx context.Context, p *Proc) error {
		const each = 4 * lookAfter
		p.amt = &amtRings{auto: true}
		turn := p.Barrier("turn", nil)
		if p.Rank() != 0 {
			s, err := p.AttachMailbox(ctx, 0, "in")
			if err != nil {
				return err
			}
			for who := 1; who < 3; who++ {
				for i := 0; i < each && who == p.Rank(); i++ {
					if err := s.PushTagged(ctx, uint64(i), make([]byte, 100)); err != nil {
						return err
					}
				}
				if err := turn.Wait(ctx); err != nil {
					return err
				}
			}
			return nil
		}
		m, err := p.OpenMailbox("in", nil)
		if err != nil {
			return err
		}
		defer m.Close()
		for who := 1; who < 3; who++ {
			for i := range each {
				d, err := m.Next(ctx)
				if err != nil {
					return err
				}
				if d.From != who || d.Tag != uint64(i) {
					return fmt.Errorf("message %d of rank %d, not %d of %d", d.Tag, d.From, i, who)
				}
				d.Release()
			}
			if m.RingOf(who) == 0 || m.RingOf(0) != 0 {
				return fmt.Errorf("rank %d has ring %d, rank 0 has ring %d", who, m.RingOf(who), m.RingOf(0))
			}
			if err := turn.Wait(ctx); err != nil {
				return err
			}
		}
		return nil
	})
}

// Rings are made, given, taken and moved while messages come, and none is lost.
func TestRingsChange(t *testing.T) {
	real(t, 3, func(ctx context.Context, p *Proc) error {
		const each = 800
		letter := func(i int) []byte { return bytes.Repeat([]byte{byte(i)}, 41+i%1900) }
		if p.Rank() != 0 {
			s, err := p.AttachMailbox(ctx, 0, "in")
			if err != nil {
				return err
			}
			for i := range each {
				if err := s.PushTagged(ctx, uint64(i), letter(i)); err != nil {
					return err
				}
			}
			return nil
		}
		m, err := p.OpenMailbox("in", &MailboxConfig{Rings: []int{4 << 10}, Spare: 16 << 10})
		if err != nil {
			return err
		}
		defer m.Close()
		changes := make(chan error, 1)
		done := make(chan bool)
		go func() { changes <- change(ctx, m, done) }()
		var next [3]int
		for range 2 * each {
			d, err := m.Next(ctx)
			if err != nil {
				return err
			}
			i := next[d.From]
			next[d.From]++
			if d.Tag != uint64(i) || !bytes.Equal(d.Data, letter(i)) {
				return fmt.Errorf("rank %d: message %d, not %d", d.From, d.Tag, i)
			}
			d.Release()
		}
		close(done)
		return <-changes
	})
}

// change splits a ring among two senders and joins them again.
func change(ctx context.Context, m *Mailbox, done <-chan bool) error {
	for n := 0; ; n++ {
		select {
		case <-done:
			return nil
		default:
		}
		ring, err := m.NewRing(2048 + 64*(n%20))
		if err != nil {
			return err
		}
		steps := []error{
			m.SetRing(1+n%2, ring), m.ResizeRing(ctx, 0, 4096+64*(n%30)), m.ResizeRing(ctx, ring, 2048+64*(n%50)),
			m.SetRing(1+n%2, 0), m.ResizeRing(ctx, ring, 0),
		}
		if err := errors.Join(steps...); err != nil {
			return err
		}
		if rings, _ := m.MemoryBytes(); rings != 4096+64*(n%30) {
			return fmt.Errorf("%d bytes in rings: %+v", rings, m.Rings())
		}
	}
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
