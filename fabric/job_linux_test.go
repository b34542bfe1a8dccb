package fabric

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"weft"
	"weft/internal/join"
	"weft/internal/waittest"
	"weft/job"
)

func TestMain(m *testing.M) {
	job.Main(map[string]func(context.Context, *weft.Proc) error{
		"ring": passRound, "wait": waitForEach, "many": sendMany, "path": sayPath,
		"counted": exchangeCounted,
	})
	os.Exit(m.Run())
}

// passRound sends messages of many sizes to the next rank and receives those of the one before, over regions and locks
// as well.
func passRound(ctx context.Context, p *weft.Proc) error {
	for _, d := range p.Peers() {
		if d.Rank != p.Rank() && d.Transport != weft.TransportFabric {
			return fmt.Errorf("rank %d is reached by %s", d.Rank, d.Transport)
		}
	}
	q, err := p.OpenPort(1, nil)
	if err != nil {
		return err
	}
	next := (p.Rank() + 1) % p.Size()
	before := (p.Rank() + p.Size() - 1) % p.Size()
	sent := make(chan error, 1)
	const messages = 150
	text := func(i, from int) []byte { return bytes.Repeat([]byte{byte(i + from)}, 1+i*i*3) }
	go func() {
		for i := range messages {
			if err := q.Send(ctx, next, text(i, p.Rank())); err != nil {
				sent <- err
				return
			}
		}
		sent <- nil
	}()
	for i := range messages {
		m, err := q.RecvFrom(ctx, before)
		if err != nil {
			return err
		}
		if !bytes.Equal(m.Data, text(i, before)) {
			return fmt.Errorf("message %d of rank %d is another", i, before)
		}
		m.Release()
	}
	if err := <-sent; err != nil {
		return err
	}
	return count(ctx, p)
}

// count makes all ranks add to a word of rank 0.
func count(ctx context.Context, p *weft.Proc) error {
	const each = 100
	var own *weft.Region
	if p.Rank() == 0 {
		r, err := p.OpenRegion(ctx, "sum", 1<<20, nil)
		if err != nil {
			return err
		}
		own = r
	}
	sum, err := p.AttachRegion(ctx, 0, "sum")
	if err != nil {
		return err
	}
	for range each {
		if _, err := sum.FetchAdd(ctx, 0, 1); err != nil {
			return err
		}
	}
	mine := bytes.Repeat([]byte{byte(p.Rank() + 1)}, 100000)
	at := 64 + p.Rank()*len(mine)
	if err := sum.Push(ctx, at, mine); err != nil {
		return err
	}
	back := make([]byte, len(mine))
	if err := sum.Pull(ctx, back, at); err != nil || !bytes.Equal(back, mine) {
		return fmt.Errorf("what was pushed is not what is pulled: %v", err)
	}
	if err := p.Barrier("end", nil).Wait(ctx); err != nil {
		return err
	}
	if own != nil && own.Load(0) != uint64(each*p.Size()) {
		return fmt.Errorf("the sum is %d", own.Load(0))
	}
	return nil
}

// waitForEach says that it is there, and waits for a message that never comes.
func waitForEach(ctx context.Context, p *weft.Proc) error {
	q, err := p.OpenPort(1, nil)
	if err != nil {
		return err
	}
	if err := p.Barrier("begin", nil).Wait(ctx); err != nil {
		return err
	}
	fmt.Println("all are there")
	_, err = q.RecvFrom(ctx, 1)
	var gone *weft.PeerError
	if !errors.As(err, &gone) || gone.Rank != 1 {
		return fmt.Errorf("waiting for rank 1: %w", err)
	}
	fmt.Println("gone:", gone)
	return nil
}

func start(t *testing.T, provider, program string) *job.Job {
	t.Helper()
	return startWith(t, provider, program)
}

// startWith starts a job whose ranks have more in their environment.
func startWith(t *testing.T, provider, program string, env ...string) *job.Job {
	t.Helper()
	return startRanks(t, 3, provider, program, env...)
}

func startRanks(t *testing.T, ranks int, provider, program string, env ...string) *job.Job {
	t.Helper()
	j, err := job.Start(t.Context(), job.Config{
		Ranks: ranks, Run: program, Transport: weft.TransportFabric, Env: append(env, join.EnvFabric+"="+provider),
		Liveness: waittest.Patience, // a handshake takes long where everything is emulated
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { j.Close() })
	return j
}

// Ranks of a job send messages, and reach each other's memory.
func TestJob(t *testing.T) {
	need(t)
	for _, provider := range providers[min(1, len(providers)-1):][:min(2, len(providers))] {
		t.Run(provider, func(t *testing.T) {
			if err := start(t, provider, "ring").Wait(t.Context()); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// The death of a rank ends what waits for it with a PeerError.
func TestJobSurvives(t *testing.T) {
	need(t)
	j := start(t, one, "wait")
	for rank := range 3 {
		if err := j.Await(t.Context(), rank, "all are there"); err != nil {
			for r := range 3 {
				t.Logf("rank %d: %s", r, j.Output(r))
			}
			t.Fatal(err)
		}
	}
	j.Kill(1)
	if err := j.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	if out := j.Output(2); !strings.Contains(out, "gone:") {
		t.Error(out)
	}
}
