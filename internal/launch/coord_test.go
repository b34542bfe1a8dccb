//go:build linux

package launch_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"

	"weft"
	"weft/internal/launch"
	"weft/internal/waitgraph"
)

// heir lets rank 1 take a lock and be killed, or stop, while the others wait for
// it. The next holder is told, under a new epoch; what rank 1 had written
// stays, and it can write no more.
func heir(ctx context.Context, p *weft.Proc, how string) error {
	cfg := &weft.LockConfig{}
	if how == "central" {
		cfg.Algorithm = weft.LockAlgorithm(how)
	}
	l := p.Lock("estate", cfg)
	alive := []int{0, 2, 3}
	if p.Rank() == 0 {
		if _, err := p.OpenRegion(ctx, "house", 16, &weft.RegionConfig{Lock: "estate"}); err != nil {
			return err
		}
	}
	house, err := p.AttachRegion(ctx, 0, "house")
	if err != nil {
		return err
	}
	if p.Rank() == 1 {
		return testator(ctx, p, l, house, alive, how)
	}
	if err := p.Barrier("it is mine", nil).Wait(ctx); err != nil {
		return err
	}
	note(p.Rank(), "met", 1)
	g, err := l.Lock(ctx)
	if err != nil {
		return err
	}
	b := make([]byte, 16)
	if err := house.Under(g).Pull(ctx, b, 0); err != nil {
		return err
	}
	before := binary.LittleEndian.Uint64(b)
	heirs := binary.LittleEndian.Uint64(b[8:])
	if g.Epoch <= before || g.HolderDied != (heirs == 0) {
		return fmt.Errorf("%+v after epoch %d, with %d heirs before", g, before, heirs)
	}
	binary.LittleEndian.PutUint64(b, g.Epoch)
	binary.LittleEndian.PutUint64(b[8:], heirs+1)
	if err := house.Under(g).Push(ctx, 0, b); err != nil {
		return err
	}
	fmt.Printf("rank %d inherits\n", p.Rank())
	if err := l.Unlock(); err != nil {
		return err
	}
	err = p.Barrier("all have inherited", &weft.BarrierConfig{Members: alive}).Wait(ctx)
	note(p.Rank(), "noticed", 1)
	if err == nil && how == "stop" && p.Rank() == 0 { // the house must be there when rank 1 is back
		awaitNote(1, "back")
	}
	return err
}

// testator takes the lock, writes its epoch into the house, and is killed or stopped with the lock in its hands.
func testator(ctx context.Context, p *weft.Proc, l *weft.Lock, house *weft.Remote, alive []int, how string) error {
	g, err := l.Lock(ctx)
	if err != nil {
		return err
	}
	if err := house.Under(g).Push(ctx, 0, binary.LittleEndian.AppendUint64(nil, g.Epoch)); err != nil {
		return err
	}
	if err := p.Barrier("it is mine", nil).Wait(ctx); err != nil {
		return err
	}
	for _, rank := range alive { // else its death could break the barrier
		awaitNote(rank, "met")
	}
	if how != "stop" {
		return syscall.Kill(os.Getpid(), syscall.SIGKILL)
	}
	again := make(chan os.Signal, 1)
	signal.Notify(again, syscall.SIGCONT)
	syscall.Kill(os.Getpid(), syscall.SIGSTOP)
	<-again
	// Long after: it is not dead, and believes that the lock is its own.
	err = house.Under(g).Push(ctx, 0, make([]byte, 8))
	fmt.Printf("rank 1 is back: %v\n", err != nil)
	note(p.Rank(), "back", 1)
	return nil
}

// bereaved lets rank 1 be killed in the middle of barriers. All others are told
// which rank has died, and go on with a smaller group.
func bereaved(ctx context.Context, p *weft.Proc, algorithm string) error {
	b := p.Barrier("b", &weft.BarrierConfig{Algorithm: weft.BarrierAlgorithm(algorithm)})
	for i := range 50 {
		if err := b.Wait(ctx); err != nil {
			return err
		}
		if i == 30 && p.Rank() == 1 {
			return syscall.Kill(os.Getpid(), syscall.SIGKILL)
		}
		if i > 30 {
			break
		}
	}
	return errors.New("nobody was told")
}

func mourn(ctx context.Context, p *weft.Proc, algorithm string) error {
	err := bereaved(ctx, p, algorithm)
	var broken *weft.BrokenError
	if !errors.As(err, &broken) || broken.Rank != 1 || !errors.Is(err, weft.ErrPeer) {
		return fmt.Errorf("%s: %w", algorithm, err)
	}
	alive := []int{0, 2, 3}
	rest := p.Barrier("the rest", &weft.BarrierConfig{Members: alive})
	for range 20 {
		if err := rest.Wait(ctx); err != nil {
			return err
		}
	}
	fmt.Printf("rank %d goes on: %v\n", p.Rank(), err)
	return nil
}

// TestHolderIsKilled: the lock of a rank that is killed, or falls silent, goes on.
func TestHolderIsKilled(t *testing.T) {
	for _, how := range []string{"kill", "central", "stop"} {
		for _, transport := range []string{"shm", "udp", "tcp"} {
			t.Run(how+" over "+transport, func(t *testing.T) {
				t.Parallel() // with jobs that wait for silence
				j, out, report := job(t, 4, "heir "+how)
				j.Transport = transport
				j.Survive = true
				j.Liveness = -1
				if how == "stop" {
					j.Liveness = silence
					go func() { // wake it up when the others have inherited
						pid := pidOf(t, j, 1)
						for _, rank := range []int{0, 2, 3} {
							waitFor(t, func() bool { return noted(j, rank, "noticed") })
						}
						syscall.Kill(pid, syscall.SIGCONT)
					}()
				}
				run(t, j, nil)
				if n := strings.Count(out.String(), "inherits"); n != 3 {
					t.Errorf("%d have inherited:\n%s%s", n, out, report)
				}
				if how == "stop" && !strings.Contains(out.String(), "rank 1 is back: true") {
					t.Errorf("the stale holder could write:\n%s", out)
				}
			})
		}
	}
}

// TestMemberIsKilled: a barrier ends with an error that names the member that is gone, and the
// others go on.
func TestMemberIsKilled(t *testing.T) {
	for _, c := range [][2]string{
		{"auto", "shm"}, {"tree", "shm"}, {"central", "udp"}, {"dissemination", "udp"}, {"modified", "tcp"},
	} {
		t.Run(c[0]+" over "+c[1], func(t *testing.T) {
			j, out, report := job(t, 4, "mourn "+c[0])
			j.Transport = c[1]
			j.Survive = true
			run(t, j, nil)
			if n := strings.Count(out.String(), "goes on"); n != 3 {
				t.Errorf("%d go on:\n%s%s", n, out, report)
			}
		})
	}
}

// barrier goes through a barrier and says what it is like.
func barrier(ctx context.Context, p *weft.Proc, algorithm string) error {
	b := p.Barrier("b", &weft.BarrierConfig{Algorithm: weft.BarrierAlgorithm(algorithm)})
	for range 50 {
		if err := b.Wait(ctx); err != nil {
			return err
		}
	}
	why, err := b.Why(ctx)
	fmt.Printf("rank %d: %s\n", p.Rank(), why)
	return err
}

// TestBarrierOverHosts: the members of a barrier choose alike, however they are spread
// over hosts: also where some are alone on theirs, and so have no shared memory.
func TestBarrierOverHosts(t *testing.T) {
	for _, c := range []struct {
		ranks, hosts            int
		transport, asked, chose string
	}{
		{3, 2, "", "", "two-level"},
		{4, 3, "", "", "two-level"},
		{4, 2, "", "", "two-level"},
		{3, 3, "", "", "dissemination"},
		{3, 2, "udp", "", "dissemination"},
		{3, 2, "", "two-level", "two-level"},
		{3, 1, "", "", "shared"},
	} {
		t.Run(fmt.Sprintf("%d on %d %s %s", c.ranks, c.hosts, c.transport, c.asked), func(t *testing.T) {
			j, out, report := job(t, c.ranks, "barrier "+c.asked)
			j.Pretend = c.hosts
			j.Transport = c.transport
			if r := run(t, j, nil); r.Status != 0 {
				t.Errorf("status %d", r.Status)
			}
			if n := strings.Count(out.String(), ": "+c.chose+": "); n != c.ranks {
				t.Errorf("%d of %d have chosen %s:\n%s%s", n, c.ranks, c.chose, out, report)
			}
		})
	}
}

// deadlock lets ranks 0 and 1 wait for a lock of each other, and rank 2 for both.
func deadlock(ctx context.Context, p *weft.Proc) error {
	locks := []*weft.Lock{p.Lock("a", nil), p.Lock("b", nil)}
	met := p.Barrier("both have one", nil)
	if p.Rank() < 2 {
		if _, err := locks[p.Rank()].Lock(ctx); err != nil {
			return err
		}
	}
	if err := met.Wait(ctx); err != nil {
		return err
	}
	note(p.Rank(), "pid", os.Getpid())
	if p.Rank() < 2 {
		_, err := locks[1-p.Rank()].Lock(ctx)
		return err
	}
	return met.Wait(ctx)
}

// TestDeadlockIsNamed asks a running job, as weft ps does, and by SIGQUIT.
func TestDeadlockIsNamed(t *testing.T) {
	j, _, report := job(t, 3, "deadlock")
	signals := make(chan os.Signal, 1)
	done := make(chan struct{})
	go func() {
		defer close(done)
		launch.Run(t.Context(), j, signals)
	}()
	var g *waitgraph.Graph
	waitFor(t, func() bool {
		jobs, err := launch.Jobs(os.Getpid())
		if err != nil || len(jobs) == 0 {
			return false
		}
		g = waitgraph.New(jobs[0].Ranks)
		return len(g.Deadlocks) == 2
	})
	const want = `waits for lock "b" held by 1, which waits for lock "a" held by 0`
	if !strings.Contains(g.Deadlocks[0], want) || !strings.Contains(g.Deadlocks[1], `barrier "both have one", phase 2`) {
		t.Errorf("%q", g.Deadlocks)
	}
	signals <- syscall.SIGQUIT // which also ends the ranks, with their stacks
	<-done
	if !strings.Contains(report.String(), want) {
		t.Errorf("SIGQUIT: %s", report)
	}
}
