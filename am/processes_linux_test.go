package am_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"

	"weft"
	"weft/am"
	"weft/internal/waittest"
	"weft/job"
)

// TestMain makes this test's executable what package job starts.
func TestMain(m *testing.M) {
	job.Main(map[string]func(context.Context, *weft.Proc) error{"everything": everything, "mortal": mortal})
	os.Exit(m.Run())
}

var transports = []weft.Transport{"shm", "udp", "tcp"}

// everything does each operation many times, and counts what that allocates at either rank.
func everything(ctx context.Context, p *weft.Proc) error {
	served := 0
	answered := 0
	data := make([]byte, am.MaxXfer)
	e, err := am.Open(ctx, p, 7, []am.Handler{
		{Name: "serve", Func: func(c *am.Call) error { served++; return nil }},
		{Name: "reply", Func: func(c *am.Call) error { served++; return c.Reply(3, c.Words...) }},
		{Name: "xfer", Func: func(c *am.Call) error { served++; return c.ReplyXfer(1<<18, data, 3) }},
		{Name: "answered", Func: func(c *am.Call) error { answered++; return nil }},
	}, &am.Config{Segment: 1 << 20})
	if err != nil {
		return err
	}
	defer e.Close()
	const rounds = 100
	medium := make([]byte, am.MaxMedium)
	bulk := make([]byte, 1<<16)
	end := func() { answered++ }
	for _, op := range []struct {
		name string
		f    func() error
	}{
		{"request", func() error { return e.Request(ctx, 1, 0, 1, 2, 3, 4) }},
		{"medium", func() error { return e.RequestMedium(ctx, 1, 1, medium, 5) }},
		{"store", func() error { return e.Store(ctx, 1, 0, bulk, 0, 1) }},
		{"asynchronous store", func() error { return e.StoreAsync(ctx, 1, 0, bulk, 0, end, 1) }},
		{"get", func() error { return e.Get(ctx, 1, 0, 0, len(bulk), 3) }},
		{"reply with data", func() error { return e.Request(ctx, 1, 2) }},
	} {
		least := ^uint64(0)
		for range 4 {
			if err := e.Barrier(ctx); err != nil {
				return err
			}
			var before, after runtime.MemStats
			served = 0
			runtime.ReadMemStats(&before)
			if p.Rank() == 0 {
				for range rounds {
					if err := errors.Join(op.f(), e.Flush(ctx)); err != nil {
						return fmt.Errorf("%s: %w", op.name, err)
					}
				}
			} else if op.name != "get" {
				if err := e.Until(ctx, func() bool { return served == rounds }); err != nil {
					return err
				}
			}
			runtime.ReadMemStats(&after)
			least = min(least, after.Mallocs-before.Mallocs)
		}
		if least > rounds/10 {
			return fmt.Errorf("%d × %s: %d allocations", rounds, op.name, least)
		}
	}
	if err := e.Barrier(ctx); err != nil {
		return err
	}
	if s := e.Stats(); s.Late+s.Strange > 0 {
		return fmt.Errorf("%+v", s)
	}
	return nil
}

// Every operation works over every transport between processes, and allocates nothing.
func TestTransports(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	for _, transport := range transports {
		t.Run(string(transport), func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), waittest.Patience)
			defer cancel()
			j, err := job.Start(ctx, job.Config{Ranks: 2, Run: "everything", Transport: transport})
			if err != nil {
				t.Fatal(err)
			}
			defer j.Close()
			if err := j.Wait(ctx); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// mortal is a rank of a job whose rank 2 is killed while all send it stores.
func mortal(ctx context.Context, p *weft.Proc) error {
	served := 0
	e, err := am.Open(ctx, p, 7, []am.Handler{{Name: "serve", Func: func(c *am.Call) error { served++; return nil }}},
		&am.Config{Segment: 1 << 20})
	if err != nil {
		return err
	}
	fmt.Println("is open")
	bulk := make([]byte, 1<<16)
	for p.Rank() == 2 {
		if err := e.Until(ctx, func() bool { return false }); err != nil {
			return err
		}
	}
	var gone *weft.PeerError
	for gone == nil {
		if err := e.Store(ctx, 2, 0, bulk, 0); err != nil && !errors.As(err, &gone) {
			return err
		}
	}
	if gone.Rank != 2 || gone.Clean {
		return fmt.Errorf("not told of the death of rank 2: %w", gone)
	}
	for range 100 { // all credits of the survivors are there
		if err := e.Request(ctx, 1-p.Rank(), 0); err != nil {
			return err
		}
	}
	if err := settle(func() error { return e.Flush(ctx) }); err != nil {
		return err
	}
	if err := settle(func() error { return e.Until(ctx, func() bool { return served == 100 }) }); err != nil {
		return err
	}
	fmt.Println("went on")
	return nil
}

// settle calls f again until its error is not that rank 2 has died.
func settle(f func() error) error {
	for {
		var gone *weft.PeerError
		if err := f(); err == nil || !errors.As(err, &gone) || gone.Rank != 2 {
			return err
		}
	}
}

// A rank that is killed is an error to all that send to it; the others go on.
func TestRankIsKilled(t *testing.T) {
	for _, transport := range transports {
		t.Run(string(transport), func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), waittest.Patience)
			defer cancel()
			j, err := job.Start(ctx, job.Config{Ranks: 3, Run: "mortal", Transport: transport})
			if err != nil {
				t.Fatal(err)
			}
			defer j.Close()
			for rank := range 3 {
				if err := j.Await(ctx, rank, "is open"); err != nil {
					t.Fatal(err)
				}
			}
			j.Kill(2)
			for rank := range 2 {
				if err := j.Await(ctx, rank, "went on"); err != nil {
					t.Fatal(err)
				}
			}
			if err := j.Wait(ctx); err != nil && !strings.Contains(err.Error(), "rank 2") {
				t.Fatal(err)
			}
		})
	}
}
