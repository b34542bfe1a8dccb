package weft

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"
)

// Rings are made, given and taken while messages come, and none is lost.
func TestRingsChange(t *testing.T) {
	real(t, 3, func(ctx context.Context, p *Proc) error {
		const each = 200
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
		go func() { changes <- change(m, done) }()
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

// change gives each of two senders a ring of its own, and joins them again, round after round.
func change(m *Mailbox, done <-chan bool) error {
	var rings [2]int
	for i := range rings {
		var err error
		if rings[i], err = m.NewRing(2048 + 64*i); err != nil {
			return err
		}
	}
	if bytes, _ := m.MemoryBytes(); bytes != 4096+2*2048+64 {
		return fmt.Errorf("%d bytes in rings: %+v", bytes, m.Rings())
	}
	for n := 0; ; n++ {
		select {
		case <-done:
			return nil
		default:
		}
		if err := errors.Join(m.SetRing(1+n%2, rings[n%2]), m.SetRing(1+n%2, 0)); err != nil {
			return err
		}
	}
}
