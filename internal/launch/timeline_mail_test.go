//go:build linux

package launch_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"weft"
	"weft/internal/launch"
	"weft/internal/timeline/traceevent"
)

// mailLaps is how many messages two ranks push into each other's mailbox.
const mailLaps = 60

// mailRank pushes messages into the mailbox of the other rank and takes its own: some lie in their
// record, some in the ring, some wait for room, and each rank has a message for itself.
func mailRank(ctx context.Context, p *weft.Proc) error {
	m, err := p.OpenMailbox("in", &weft.MailboxConfig{Rings: []int{32 << 10}, Records: 16})
	if err != nil {
		return err
	}
	var to [2]*weft.Sender
	for rank := range to {
		if to[rank], err = p.AttachMailbox(ctx, rank, "in"); err != nil {
			return err
		}
	}
	taken := make(chan error, 1)
	go func() { taken <- takeMail(ctx, m, mailLaps+1) }()
	if err := to[p.Rank()].Push(ctx, []byte("to myself")); err != nil {
		return err
	}
	for lap := range mailLaps {
		if err := to[1-p.Rank()].PushTagged(ctx, uint64(lap), make([]byte, lap%3*8000)); err != nil {
			return fmt.Errorf("message %d: %w", lap, err)
		}
	}
	if err := <-taken; err != nil {
		return err
	}
	return p.Barrier("end", nil).Wait(ctx)
}

// takeMail takes messages, with TryNext where one has arrived and else with Next.
func takeMail(ctx context.Context, m *weft.Mailbox, n int) error {
	for range n {
		d, err := m.TryNext()
		if errors.Is(err, weft.ErrWouldBlock) {
			d, err = m.Next(ctx)
		}
		if err != nil {
			return err
		}
		d.Release()
	}
	return nil
}

// TestTimelineOfMailboxes: of real ranks, too, every message that a mailbox has handed over has one
// arrow, from its push, through mapped memory and in packets.
func TestTimelineOfMailboxes(t *testing.T) {
	for _, transport := range []string{"shm", "tcp"} {
		t.Run(transport, func(t *testing.T) {
			trace, _ := runTimeline(t, func(j *launch.Job) {
				j.Transport = transport
				j.Env[0] = envMode + "=timeline mail"
			})
			checkMail(t, trace)
		})
	}
}

// checkMail fails unless every push has one arrow, to the delivery of its message.
func checkMail(t *testing.T, trace *traceevent.Trace) {
	t.Helper()
	n := names(trace)
	arrows := trace.Arrows
	if n["deliver"] != 2*(mailLaps+1) || len(arrows) != n["deliver"] {
		t.Errorf("%d messages are delivered, with %d arrows", n["deliver"], len(arrows))
	}
	toItself := 0
	for _, a := range arrows {
		if a.From.Name != "ipush" || a.To.Name != "deliver" {
			t.Fatalf("from %+v to %+v", a.From, a.To)
		}
		if a.From.Process == a.To.Process {
			toItself++
		}
	}
	if toItself != 2 {
		t.Errorf("%d arrows lead from a rank to itself", toItself)
	}
}
