//go:build linux

package launch_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"

	"weft"
	"weft/extend"
	"weft/vmmc"
)

// neighbours lets three processes send to each other by vmmc, straight and redirected, with notifications.
func neighbours(ctx context.Context, p *weft.Proc) error {
	const n = 300_000
	e, err := vmmc.Open(p, 7, nil)
	if err != nil {
		return err
	}
	defer e.Close()
	told := extend.NewSignal(p)
	cfg := &vmmc.ExportConfig{Ranks: []int{(p.Rank() + 2) % 3},
		Notify: func(context.Context, vmmc.Notification) { told.Set() }}
	plain, err := e.Export(ctx, "plain", n, cfg)
	if err != nil {
		return err
	}
	in, err := e.Export(ctx, "in", n, &vmmc.ExportConfig{Redirections: 2})
	if err != nil {
		return err
	}
	buf := make([]byte, n)
	next := (p.Rank() + 1) % 3
	r, err := in.Redirect(weft.Any, 0, buf)
	if err != nil {
		return err
	}
	if _, err := e.Import(ctx, (p.Rank()+2)%3, "plain"); !errors.Is(err, weft.ErrForbidden) {
		return fmt.Errorf("not permitted: %w", err)
	}
	mine := bytes.Repeat([]byte{byte(p.Rank() + 1)}, n)
	for _, name := range []string{"plain", "in"} {
		i, err := e.Import(ctx, next, name)
		if err != nil {
			return err
		}
		if err := i.SendNotify(ctx, 0, mine); err != nil {
			return err
		}
		if err := i.Close(ctx); err != nil {
			return err
		}
	}
	if err := told.Wait(ctx); err != nil {
		return err
	}
	land, err := r.Wait(ctx)
	if err != nil {
		return err
	}
	want := bytes.Repeat([]byte{byte((p.Rank()+2)%3 + 1)}, n)
	if !bytes.Equal(plain.Bytes(), want) || !bytes.Equal(buf, want) || land.Direct != n {
		return fmt.Errorf("what has come is not what was sent: %+v", land)
	}
	if err := p.Barrier("end", nil).Wait(ctx); err != nil {
		return err
	}
	fmt.Println("all there")
	return nil
}

// bereft lets rank 0 wait for rank 1, which is killed while it sends, in every way that vmmc knows.
func bereft(ctx context.Context, p *weft.Proc) error {
	e, err := vmmc.Open(p, 7, nil)
	if err != nil {
		return err
	}
	defer e.Close()
	if p.Rank() == 1 {
		if _, err := e.Export(ctx, "plain", 1<<20, nil); err != nil {
			return err
		}
		in, err := e.Import(ctx, 0, "in")
		if err != nil {
			return err
		}
		b := make([]byte, 1<<20)
		if err := in.Send(ctx, 0, b); err != nil {
			return err
		}
		if _, err := in.StartSend(ctx, 0, b, false); err != nil {
			return err
		}
		return syscall.Kill(os.Getpid(), syscall.SIGKILL)
	}
	in, err := e.Export(ctx, "in", 1<<20, &vmmc.ExportConfig{Redirections: 2})
	if err != nil {
		return err
	}
	plain, err := e.Import(ctx, 1, "plain")
	if err != nil {
		return err
	}
	died := func(err error) error {
		var gone *weft.PeerError
		if !errors.As(err, &gone) || gone.Rank != 1 || gone.Clean {
			return fmt.Errorf("not the death of rank 1: %w", err)
		}
		return nil
	}
	for err == nil { // the transfer that was whole, perhaps the one that was not, then none
		var r *vmmc.Redirection
		if r, err = in.Redirect(1, 0, make([]byte, 1<<20)); err == nil {
			_, err = r.Wait(ctx)
		}
	}
	if err := died(err); err != nil {
		return err
	}
	for err = nil; err == nil; {
		err = plain.Send(ctx, 0, make([]byte, 5000))
	}
	if err := died(err); err != nil {
		return err
	}
	_, err = e.Import(ctx, 1, "other")
	if err := died(err); err != nil {
		return err
	}
	if err := in.Unexport(); err != nil {
		return err
	}
	fmt.Println("left alone")
	return nil
}

// TestSendsIntoMemory: between processes, on every transport.
func TestSendsIntoMemory(t *testing.T) {
	for _, transport := range []string{"shm", "udp", "tcp"} {
		t.Run(transport, func(t *testing.T) {
			j, out, report := job(t, 3, "vmmc")
			j.Transport = transport
			if r := run(t, j, nil); r.Status != 0 || strings.Count(out.String(), "all there") != 3 {
				t.Errorf("%+v: %s%s", r, out, report)
			}
		})
	}
}

// TestSenderKilled: redirections, sends and imports that need a process that is killed end with its death.
func TestSenderKilled(t *testing.T) {
	for _, transport := range []string{"shm", "udp", "tcp"} {
		t.Run(transport, func(t *testing.T) {
			j, out, report := job(t, 2, "vmmc-killed")
			j.Transport = transport
			j.Survive = true
			j.Liveness = -1
			if r := run(t, j, nil); r.Status != 0 || r.Rank != 1 || !strings.Contains(out.String(), "left alone") {
				t.Errorf("%+v: %s%s", r, out, report)
			}
		})
	}
}
