package weft

import (
	"context"
	"errors"
	"testing"
)

// TestSimulatedMail: the messages of a simulation are those of ports and of mailboxes.
func TestSimulatedMail(t *testing.T) {
	s, err := Simulate(within(t), Cluster{Ranks: 2}, func(ctx context.Context, p *Proc) error {
		q, err := p.OpenPort(1, nil)
		if err != nil {
			return err
		}
		if p.Rank() == 1 {
			m, err := p.OpenMailbox("m", &MailboxConfig{})
			for range 3 {
				d, next := m.Next(ctx)
				if next != nil {
					return errors.Join(err, next)
				}
				d.Release()
			}
			return q.Send(ctx, 0, nil)
		}
		to, err := p.AttachMailbox(ctx, 1, "m")
		for range 3 {
			err = errors.Join(err, to.Push(ctx, []byte("mail")))
		}
		return errors.Join(err, received(q.RecvInto(ctx, nil)))
	})
	if err != nil || s.Messages != 4 {
		t.Errorf("%d messages, not 4; %v", s.Messages, err)
	}
}

// received is the error of a RecvInto.
func received(_, _ int, err error) error { return err }
