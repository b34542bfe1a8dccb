package fm_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"

	"weft"
	"weft/fm"
	"weft/internal/waittest"
	"weft/job"
)

// TestMain makes this test's executable what package job starts.
func TestMain(m *testing.M) {
	job.Main(map[string]func(context.Context, *weft.Proc) error{"everything": everything, "mortal": mortal})
	os.Exit(m.Run())
}

var transports = []weft.Transport{"shm", "udp", "tcp"}

// everything sends messages of several lengths many times, and counts what that allocates at either rank.
func everything(ctx context.Context, p *weft.Proc) error {
	if err := early(ctx, p); err != nil {
		return err
	}
	taken := 0
	in := make([]byte, 1<<17)
	e, err := fm.Open(ctx, p, 7, []fm.Handler{{Name: "take", Func: func(m *fm.Message) error {
		head := m.Length / 3
		if _, err := m.Receive(in[:head]); err != nil {
			return err
		}
		if _, err := m.Receive(in[head:m.Length]); err != nil {
			return err
		}
		taken++
		return nil
	}}}, nil)
	if err != nil {
		return err
	}
	defer e.Close()
	const rounds = 200
	out := make([]byte, 1<<17)
	for _, size := range []int{8, 2000, 8000, 100000} {
		least := ^uint64(0)
		for range 4 {
			if err := e.Barrier(ctx); err != nil {
				return err
			}
			var before, after runtime.MemStats
			taken = 0
			runtime.ReadMemStats(&before)
			for round := range rounds {
				if p.Rank() == 0 {
					s, err := e.BeginMessageWait(ctx, 1, size, 0)
					if err != nil {
						return err
					}
					if err := errors.Join(s.SendPiece(ctx, out[:size/2]), s.SendPiece(ctx, out[size/2:size]),
						s.EndMessage(ctx)); err != nil {
						return err
					}
				} else if err := e.Until(ctx, func() bool { return taken > round }); err != nil {
					return err
				}
			}
			runtime.ReadMemStats(&after)
			least = min(least, after.Mallocs-before.Mallocs)
		}
		if least > rounds/10 {
			return fmt.Errorf("%d messages of %d bytes: %d allocations", rounds, size, least)
		}
	}
	if err := e.Barrier(ctx); err != nil {
		return err
	}
	if s := e.Stats(); s.Strange > 0 {
		return fmt.Errorf("%+v", s)
	}
	return nil
}

// Messages go over every transport between processes, and allocate nothing.
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

// mortal is a rank of a job of which rank 2 is killed in the middle of a message to rank 0, and of one from rank 1.
func mortal(ctx context.Context, p *weft.Proc) error {
	taken := 0
	var end error
	e, err := fm.Open(ctx, p, 7, []fm.Handler{{Name: "take", Func: func(m *fm.Message) error {
		_, err := m.Receive(make([]byte, m.Length))
		if m.From == 2 {
			end = err
		} else if m.From == 1-p.Rank() {
			taken++
		}
		return err
	}}}, nil)
	if err != nil {
		return err
	}
	var gone *weft.PeerError
	switch p.Rank() {
	case 0:
		if err := e.Until(ctx, func() bool { return end != nil }); !errors.As(err, &gone) && end == nil {
			return err
		}
		if !errors.As(end, &gone) {
			return fmt.Errorf("the handler of a message from rank 2 was not told: %w", end)
		}
	case 1:
		s, err := e.BeginMessageWait(ctx, 2, fm.MaxMessage, 0)
		for err == nil {
			err = s.SendPiece(ctx, make([]byte, 1<<16))
		}
		if !errors.As(err, &gone) {
			return err
		}
	case 2:
		s, err := e.BeginMessageWait(ctx, 0, 1<<20, 0)
		if err == nil {
			err = s.SendPiece(ctx, make([]byte, 1<<15))
		}
		fmt.Println("is in the middle")
		return errors.Join(err, e.Until(ctx, func() bool { return false }))
	}
	if gone.Rank != 2 || gone.Clean {
		return fmt.Errorf("not told of the death of rank 2: %w", gone)
	}
	for range 200 { // all credits of the survivors are there
		if err := settle(func() error { return send(ctx, e, 1-p.Rank(), 0, make([]byte, 10000), 3000) }); err != nil {
			return err
		}
	}
	if err := settle(func() error { return e.Until(ctx, func() bool { return taken == 200 }) }); err != nil {
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

// A rank that is killed in the middle of messages from and to it is an error at both other ends; the others go on.
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
			if err := j.Await(ctx, 2, "is in the middle"); err != nil {
				t.Fatal(err)
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
