package weft

import (
	"context"
	"fmt"
	"testing"

	"weft/internal/timeline/traceevent"
)

// mailStory is a short program that shows how a timeline tells of mailboxes: a message that lies in
// its record, one of several packets, one that waits for room, and one whose packets are
// delivered one by one.
func mailStory(ctx context.Context, p *Proc) error {
	if p.Rank() != 0 {
		return writeLetters(ctx, p)
	}
	m, err := p.OpenMailbox("letters", &MailboxConfig{Rings: []int{4 << 10}})
	if err != nil {
		return err
	}
	packets, err := p.OpenMailbox("packets", nil)
	if err != nil {
		return err
	}
	for range 3 {
		d, err := m.Next(ctx)
		if err != nil {
			return err
		}
		if err := p.Sleep(ctx, 50_000); err != nil { // until then there is no room for the last
			return err
		}
		d.Release()
	}
	for total, got := 1, 0; got < total; {
		d, err := packets.NextPacket(ctx)
		if err != nil {
			return err
		}
		total = d.Total
		got += len(d.Data)
		d.Release()
	}
	return p.Barrier("end", nil).Wait(ctx)
}

// writeLetters is what the sender of mailStory does.
func writeLetters(ctx context.Context, p *Proc) error {
	s, err := p.AttachMailbox(ctx, 0, "letters")
	if err != nil {
		return err
	}
	for _, n := range []int{5, 2500, 2000} {
		if err := s.Push(ctx, make([]byte, n)); err != nil {
			return err
		}
	}
	if s, err = p.AttachMailbox(ctx, 0, "packets"); err != nil {
		return err
	}
	o, err := s.WithStatus(StatusPerPacket).StartPushTagged(1, make([]byte, 2500))
	if err != nil {
		return err
	}
	if err := o.Wait(ctx); err != nil {
		return err
	}
	if v := o.Value(); v != 0 {
		return fmt.Errorf("a message to a mailbox has the value %d", v)
	}
	return p.Barrier("end", nil).Wait(ctx)
}

// mailRing lets each rank push so many messages into a mailbox of the next, and of the rank after
// it. The rings are small, so that some messages must wait.
func mailRing(laps int) func(ctx context.Context, p *Proc) error {
	return func(ctx context.Context, p *Proc) error {
		m, err := p.OpenMailbox("in", &MailboxConfig{Rings: []int{8 << 10}, Records: 16})
		if err != nil {
			return err
		}
		var to [2]*Sender
		for i := range to {
			if to[i], err = p.AttachMailbox(ctx, (p.Rank()+1+i)%p.Size(), "in"); err != nil {
				return err
			}
		}
		var pushed []*Op
		for lap := range laps {
			o, err := to[lap%2].StartPushTagged(uint64(lap), make([]byte, lap*lap*37%5000))
			if err != nil {
				return err
			}
			pushed = append(pushed, o)
		}
		for range laps {
			d, err := m.Next(ctx)
			if err != nil {
				return err
			}
			d.Release()
		}
		for _, o := range pushed {
			if err := o.Wait(ctx); err != nil {
				return err
			}
		}
		return p.Barrier("end", nil).Wait(ctx)
	}
}

// delivered counts the messages, or packets, that mailboxes have handed over.
func delivered(trace *traceevent.Trace) (n int) {
	for _, s := range trace.Slices {
		if s.Name == "deliver" {
			n++
		}
	}
	return n
}

// TestTimelineOfMailboxes: every message that a mailbox of a simulated job hands over has one arrow,
// from its push, also when packets are lost and where the mailbox is mapped.
func TestTimelineOfMailboxes(t *testing.T) {
	for _, c := range []Cluster{
		{Ranks: 6, Loss: 0.05, Seed: 3},
		{Ranks: 4, PerHost: 2, Seed: 4},
	} {
		t.Run(fmt.Sprintf("%d on a host", max(c.PerHost, 1)), func(t *testing.T) {
			const laps = 40
			trace, _ := simulatedTimeline(t, c, mailRing(laps))
			arrows := trace.Arrows
			if n := delivered(trace); n != c.Ranks*laps || len(arrows) != n {
				t.Errorf("%d messages are delivered, with %d arrows", n, len(arrows))
			}
			for _, a := range arrows {
				if a.From.Name != "ipush" || a.To.Name != "deliver" || a.Sent > a.Arrived || a.From.Process == a.To.Process {
					t.Fatalf("from %+v to %+v", a.From, a.To)
				}
			}
		})
	}
}
