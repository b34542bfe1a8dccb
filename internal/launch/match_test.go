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
	"weft/mpi"
)

// survivor lets rank 0 receive by source and tag from rank 1, which is killed after
// three messages, and then from rank 2.
func survivor(ctx context.Context, p *weft.Proc) error {
	c := mpi.World(p)
	if p.Rank() == 2 {
		awaitNote(0, "told")
		return c.Send(ctx, mpi.Of([]byte("still here")), 0, 0)
	}
	if p.Rank() == 1 {
		for tag := range 3 {
			if err := c.Ssend(ctx, mpi.Of([]int{tag}), 0, tag); err != nil {
				return err
			}
		}
		return syscall.Kill(os.Getpid(), syscall.SIGKILL)
	}
	died := func(err error) error {
		var gone *weft.PeerError
		if !errors.As(err, &gone) || gone.Rank != 1 || gone.Clean {
			return fmt.Errorf("not the death of rank 1: %w", err)
		}
		return nil
	}
	v := []int{-1}
	text := make([]byte, 100)
	started, err := c.StartRecv(mpi.Of(text), 1, 9)
	if err != nil {
		return err
	}
	for i := range 3 {
		if st, err := c.Recv(ctx, mpi.Of(v), 1, mpi.AnyTag); err != nil || v[0] != i || st.Tag != i {
			return fmt.Errorf("message %d: %d, %+v, %w", i, v, st, err)
		}
	}
	_, err = c.Recv(ctx, mpi.Of(v), 1, mpi.AnyTag)
	if err := died(err); err != nil {
		return err
	}
	_, err = started.Wait(ctx)
	if err := died(err); err != nil {
		return err
	}
	_, _, err = c.TryProbe(1, mpi.AnyTag)
	if err := died(err); err != nil {
		return err
	}
	_, err = c.Recv(ctx, mpi.Of(v), mpi.AnySource, mpi.AnyTag)
	if err := died(err); err != nil {
		return err
	}
	note(0, "told", 1)
	st, err := c.Recv(ctx, mpi.Of(text), mpi.AnySource, mpi.AnyTag)
	if err != nil {
		return err
	}
	fmt.Printf("rank %d: %s\n", st.Source, text[:st.Count])
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
