package bootstrap_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"weft/failure"
	"weft/internal/bootstrap"
	"weft/internal/bootstrap/bootstraptest"
)

func TestOneProcess(t *testing.T) {
	bootstraptest.Run(t, func(t *testing.T, n int) ([]bootstrap.Source, func(int)) {
		return bootstrap.NewLocal(n), nil
	})
}

func TestLaunched(t *testing.T) {
	bootstraptest.Run(t, func(t *testing.T, n int) ([]bootstrap.Source, func(int)) {
		var jobs []bootstrap.Job
		id := bootstrap.NewID()
		secret := bootstrap.NewSecret()
		for i := range n {
			jobs = append(jobs, bootstrap.Job{Rank: i, Size: n, ID: id, Secret: secret, Host: "here", Local: n, Crowd: n})
		}
		s := bootstrap.NewServer(jobs)
		var sources []bootstrap.Source
		for i := range n {
			here, there := net.Pipe()
			go func() {
				_ = s.Serve(i, there) // ends with the connection
				s.Down(i, bootstrap.ErrExited.Error())
			}()
			l, err := bootstrap.Join(here)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { l.Close() })
			sources = append(sources, l)
		}
		return sources, func(rank int) { s.Down(rank, "signal: killed") }
	})
}

// gather starts a gathering and returns a function by which a member joins it.
func gather(t *testing.T, size int, notice func(string)) func(ctx context.Context,
	m bootstrap.Member) (*bootstrap.Launched, net.Conn, error) {
	g := bootstrap.NewGathering(bootstrap.Job{Size: size}, "a job", notice)
	t.Cleanup(g.Close)
	return func(ctx context.Context, m bootstrap.Member) (*bootstrap.Launched, net.Conn, error) {
		here, there := net.Pipe()
		go func() {
			v := &bootstrap.Visitor{Conn: there, At: "10.0.0.1"}
			if v.Hear() == nil {
				_ = g.Serve(v) // the rank is told
			}
		}()
		l, err := bootstrap.Enter(ctx, here, m)
		return l, here, err
	}
}

func TestGathered(t *testing.T) {
	bootstraptest.Run(t, func(t *testing.T, n int) ([]bootstrap.Source, func(int)) {
		join := gather(t, n, func(string) {})
		type joined struct {
			l   *bootstrap.Launched
			c   net.Conn
			err error
		}
		come := make(chan joined, n)
		for i := range n {
			go func() {
				l, c, err := join(t.Context(), bootstrap.Member{Rank: i, Size: n, Label: "a job", Host: "here", Machine: "this"})
				come <- joined{l, c, err}
			}()
		}
		sources := make([]bootstrap.Source, n)
		conns := make([]net.Conn, n)
		for range n {
			j := <-come
			if j.err != nil {
				t.Fatal(j.err)
			}
			sources[j.l.Job().Rank] = j.l
			conns[j.l.Job().Rank] = j.c
			t.Cleanup(func() { j.l.Close() })
		}
		return sources, func(rank int) { conns[rank].Close() }
	})
}

// A rank that does not fit is told why, and the others go on.
func TestGatheringRefuses(t *testing.T) { synctest.Test(t, testGatheringRefuses) }

func testGatheringRefuses(t *testing.T) {
	join := gather(t, 2, func(string) {})
	good := bootstrap.Member{Rank: 0, Size: 2, Label: "a job", Host: "here"}
	first := make(chan error, 1)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		_, _, err := join(ctx, good)
		first <- err
	}()
	synctest.Wait()
	for want, m := range map[string]bootstrap.Member{
		"it was told that the job has 2 ranks":      {Rank: 1, Size: 3, Label: "a job"},
		"rank 2: a job of 2 has 0 to 1":             {Rank: 2, Size: 2, Label: "a job"},
		"rank -1: a job of 2 has 0 to 1":            {Rank: -1, Size: 2, Label: "a job"},
		"it is of the job \"a job\", and this rank": {Rank: 1, Size: 2, Label: "another job"},
	} {
		var refused *failure.JoinRefusedError
		_, _, err := join(t.Context(), m)
		if !errors.As(err, &refused) || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v", m, err)
		}
		if refused != nil && refused.OtherJob != (m.Label != "a job") {
			t.Errorf("%+v: another job: %v", m, refused.OtherJob)
		}
	}
	twice := bootstrap.Member{Rank: 0, Size: 2, Label: "a job", Host: "there"}
	if _, _, err := join(t.Context(), twice); err == nil ||
		!strings.Contains(err.Error(), "rank 0 has joined already, from host") {
		t.Errorf("twice: %v", err)
	}
	cancel()
	if err := <-first; !errors.Is(err, context.Canceled) {
		t.Errorf("the first: %v", err)
	}
}

// After ten seconds a join tells the rank that serves, and the ranks that wait, which ranks are
// missing, and goes on.
func TestGatheringNamesTheMissing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		told := make(chan string, 10)
		join := gather(t, 5, func(text string) { told <- text })
		ctx, cancel := context.WithTimeout(t.Context(), 25*time.Second)
		defer cancel()
		began := time.Now()
		_, _, err := join(ctx, bootstrap.Member{Rank: 2, Size: 5, Label: "a job"})
		var missing *failure.MissingError
		if !errors.As(err, &missing) || len(missing.Ranks) != 4 || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v", err)
		}
		if got := <-told; got != "waiting for ranks 0, 1, 3, 4 of 5 to join" || time.Since(began) != 25*time.Second {
			t.Errorf("%q after %v", got, time.Since(began))
		}
	})
}

// A fence that lasts ten seconds knows which ranks have not come.
func TestFenceNamesTheMissing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		join := gather(t, 2, func(string) {})
		sources := make(chan *bootstrap.Launched, 2)
		for i := range 2 {
			go func() {
				l, _, err := join(t.Context(), bootstrap.Member{Rank: i, Size: 2, Label: "a job"})
				if err != nil {
					t.Error(err)
				}
				sources <- l
			}()
		}
		a := <-sources
		b := <-sources
		defer a.Close()
		defer b.Close()
		ctx, cancel := context.WithTimeout(t.Context(), 15*time.Second)
		defer cancel()
		err := a.Fence(ctx)
		var missing *failure.MissingError
		if !errors.As(err, &missing) || len(missing.Ranks) != 1 || missing.Ranks[0] != b.Job().Rank {
			t.Errorf("%v", err)
		}
	})
}
