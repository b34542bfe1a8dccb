//go:build linux

package launch_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"

	"weft"
	"weft/match"
)

// survivor lets rank 0 receive by source and tag from rank 1, which is killed after
// three messages, and then from rank 2.
func survivor(ctx context.Context, p *weft.Proc) error {
	if p.Rank() > 0 {
		s, err := p.AttachMailbox(ctx, 0, "in")
		if err != nil {
			return err
		}
		if p.Rank() == 2 {
			awaitNote(0, "told")
			return s.PushTagged(ctx, 0, []byte("still here"))
		}
		for tag := range uint64(3) {
			if err := s.PushTagged(ctx, tag, letter(1, int(tag))); err != nil {
				return err
			}
		}
		return syscall.Kill(os.Getpid(), syscall.SIGKILL)
	}
	box, err := p.OpenMailbox("in", nil)
	if err != nil {
		return err
	}
	defer box.Close()
	m := match.New(p, box, nil)
	died := func(err error) error {
		var gone *weft.PeerError
		if !errors.As(err, &gone) || gone.Rank != 1 || gone.Clean {
			return fmt.Errorf("not the death of rank 1: %w", err)
		}
		return nil
	}
	started, err := m.Start(1, 9, match.Exact)
	if err != nil {
		return err
	}
	for i := range 3 {
		d, err := m.Recv(ctx, 1, 0, match.AnyTag)
		if err != nil {
			return err
		}
		if err := checkLetter(&d, i); err != nil {
			return err
		}
		d.Release()
	}
	_, err = m.Recv(ctx, 1, 0, match.AnyTag)
	if err := died(err); err != nil {
		return err
	}
	_, err = started.Wait(ctx)
	if err := died(err); err != nil {
		return err
	}
	_, err = m.TryRecv(1, 0, match.AnyTag)
	if err := died(err); err != nil {
		return err
	}
	_, err = m.Recv(ctx, match.Any, 0, match.AnyTag)
	if err := died(err); err != nil {
		return err
	}
	note(0, "told", 1)
	d, err := m.Recv(ctx, match.Any, 0, match.AnyTag)
	if err != nil {
		return err
	}
	fmt.Printf("rank %d: %s\n", d.From, d.Data)
	d.Release()
	return nil
}

// TestReceivesFromTheDeadEnd: after what it had sent, and others are received from.
func TestReceivesFromTheDeadEnd(t *testing.T) {
	for _, transport := range []string{"shm", "udp", "tcp"} {
		t.Run(transport, func(t *testing.T) {
			j, out, report := job(t, 3, "match")
			j.Transport = transport
			j.Survive = true
			j.Liveness = -1
			if r := run(t, j, nil); r.Status != 0 || r.Rank != 1 || !strings.Contains(out.String(), "rank 2: still here") {
				t.Errorf("%+v: %s%s", r, out, report)
			}
		})
	}
}
