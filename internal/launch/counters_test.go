//go:build linux

package launch_test

import (
	"context"
	"os"
	"os/exec"
	"testing"

	"weft"
	"weft/internal/counters/directory"
	"weft/internal/launch"
	"weft/internal/waittest"
)

// counted sends messages round until its context ends or a rank is gone.
func counted(ctx context.Context, p *weft.Proc) error {
	port, err := p.OpenPort(1, nil)
	if err != nil {
		return err
	}
	next := (p.Rank() + 1) % p.Size()
	before := (p.Rank() + p.Size() - 1) % p.Size()
	for {
		if err := port.Send(ctx, next, make([]byte, 100)); err != nil {
			break
		}
		m, err := port.RecvFrom(ctx, before)
		if err != nil {
			break
		}
		m.Release()
	}
	<-ctx.Done()
	return nil //nolint:nilerr // the end of the job ends the exchange
}

// pages waits until the pages of one job satisfy a condition.
func pages(t *testing.T, what string, cond func(ranks []directory.Rank) bool) []directory.Rank {
	t.Helper()
	var seen []directory.Rank
	if waittest.Poll(func() bool {
		dirs := directory.Jobs()
		if len(dirs) != 1 {
			return false
		}
		ranks, err := directory.Read(dirs[0])
		seen = ranks
		return err == nil && cond(ranks)
	}) {
		return seen
	}
	for _, dir := range directory.Jobs() {
		ranks, err := directory.Read(dir)
		for _, r := range ranks {
			t.Logf("%+v", r.Snapshot)
		}
		t.Log(err)
	}
	t.Fatalf("%s: the pages do not say so", what)
	return nil
}

// gone waits until nothing is left below a directory.
func gone(t *testing.T, root string) {
	t.Helper()
	var entries []os.DirEntry
	if !waittest.Poll(func() bool {
		entries, _ = os.ReadDir(root)
		return len(entries) == 0
	}) {
		t.Errorf("%v is left", entries)
	}
}

// TestPagesOfARunningJob: others see what the ranks of a job count, on each transport, also when a
// rank is stopped, or has been killed and others go on. When the job has ended nothing is left.
func TestPagesOfARunningJob(t *testing.T) {
	for _, transport := range []string{"shm", "udp", "tcp"} {
		t.Run(transport, func(t *testing.T) {
			root := t.TempDir()
			t.Setenv(directory.Env, root)
			j, _, report := job(t, 3, "counted")
			j.Transport = transport
			j.Survive = true
			j.Liveness = -1
			r, err := launch.Start(t.Context(), j, nil)
			if err != nil {
				t.Fatal(err)
			}
			all := pages(t, "messages go round", func(ranks []directory.Rank) bool {
				for _, k := range ranks {
					if k.Sent.Messages < 100 || k.Received.Messages < 100 || len(k.Peers) < 2 {
						return false
					}
				}
				return len(ranks) == 3
			})
			for i, k := range all {
				checkPage(t, k, i, transport, r.PID(i))
			}
			if !r.Stop(1) {
				t.Fatal("rank 1 cannot be stopped")
			}
			pages(t, "rank 2 sleeps until rank 1 sends", func(ranks []directory.Rank) bool {
				return len(ranks) == 3 && ranks[1].Alive && len(ranks[2].Waiting) == 1 &&
					ranks[2].Waiting[0].Operation == "receive" && ranks[2].Waiting[0].Peer == 1
			})
			r.Kill(1)
			pages(t, "rank 1 has died, and the others know", func(ranks []directory.Rank) bool {
				return len(ranks) == 3 && !ranks[1].Alive && ranks[1].Sent.Messages >= 100 && ranks[0].Alive &&
					len(ranks[2].Errors) > 0 && ranks[2].Errors[0].Peer == 1 && ranks[2].Errors[0].Count > 0
			})
			r.Kill(0)
			r.Kill(2)
			if result := r.Wait(); result.Rank != 1 {
				t.Errorf("%+v: %s", result, report)
			}
			gone(t, root)
		})
	}
}

// checkPage checks what the page of a rank says.
func checkPage(t *testing.T, r directory.Rank, rank int, transport string, pid int) {
	t.Helper()
	if r.Rank != rank || r.Size != 3 || r.PID != pid || !r.Alive || r.Program == "" || r.Host == "" ||
		r.Started.IsZero() {
		t.Errorf("%+v", r.Snapshot)
	}
	for _, p := range r.Peers {
		switch {
		case p.Rank == rank:
			continue
		case p.Transport != transport || p.State != "connected" || p.MTU == 0:
			t.Errorf("rank %d: %+v", rank, p)
		case p.Rank == (rank+1)%3 && p.Sent.Bytes+64*100 < 100*p.Sent.Messages: // some may not have left
			t.Errorf("rank %d: %+v", rank, p)
		case p.Rank == (rank+2)%3 && p.Received.Bytes+64*100 < 100*p.Received.Messages:
			t.Errorf("rank %d: %+v", rank, p)
		case transport == "udp" && p.Rank == (rank+1)%3 && (p.RTT == 0 || p.Window == 0 || len(p.RoundTrips) == 0):
			t.Errorf("rank %d: %+v", rank, p)
		}
	}
	for _, w := range r.Waits {
		if w.Operation == "receive" && w.Count > 0 {
			return
		}
	}
	t.Errorf("rank %d has not waited: %+v", rank, r.Waits)
}

// TestKilledLauncherLeavesNoPages: when the launcher is killed its guard removes what the ranks, which
// die with it, have left.
func TestKilledLauncherLeavesNoPages(t *testing.T) {
	root := t.TempDir()
	t.Setenv(directory.Env, root)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), envMode+"=launcher", envDir+"="+t.TempDir(), "LAUNCH_TEST_RANKS=counted")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	pages(t, "messages go round", func(ranks []directory.Rank) bool {
		return len(ranks) > 1 && ranks[0].Received.Messages > 10
	})
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	gone(t, root)
}
