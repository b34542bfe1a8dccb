package weft

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"
)

// underFaults runs the same job with the same faults twice: both runs are the same.
func underFaults(t *testing.T, ranks int, faults []Fault, run func(ctx context.Context, p *Proc) error) {
	c := Cluster{Ranks: ranks, Liveness: 200 * time.Millisecond, Faults: faults}
	a, err := Simulate(t.Context(), c, run)
	if err != nil {
		t.Fatal(err)
	}
	b, err := Simulate(t.Context(), c, run)
	if err != nil || a.Hash != b.Hash {
		t.Errorf("the second time: %v; %+v, then %+v", err, a, b)
	}
}

// TestCrashFault: a rank that crashes between two operations is found out by the
// others; its own calls end, and its result does not count.
func TestCrashFault(t *testing.T) {
	var crashed atomic.Int32
	faults := []Fault{{Kind: Crash, Ranks: []int{2}, After: Operations{2, 4}}}
	underFaults(t, 3, faults, func(ctx context.Context, p *Proc) error {
		q, err := p.OpenPort(1, nil)
		if err != nil {
			return err
		}
		if p.Rank() == 2 {
			for i := range 10 {
				if err := q.Send(ctx, 0, []byte{byte(i)}); err != nil {
					if i != 3 || !errors.Is(err, ErrClosed) {
						t.Errorf("send %d of the rank that crashes: %v", i, err)
					}
					if _, err := q.Recv(ctx); !errors.Is(err, ErrClosed) {
						t.Errorf("its receive: %v", err)
					}
					if ctx.Err() == nil {
						t.Error("its context has not ended")
					}
					crashed.Add(1)
					return err
				}
				if err := q.Flush(ctx); err != nil {
					return err
				}
			}
			return errors.New("it has not crashed")
		}
		if p.Rank() == 0 {
			for i := range 3 {
				m, err := q.RecvFrom(ctx, 2)
				if err != nil || int(m.Data[0]) != i {
					return fmt.Errorf("message %d: %v, %w", i, m.Data, err)
				}
				m.Release()
			}
		}
		var dead *PeerError
		if _, err := q.RecvFrom(ctx, 2); !errors.As(err, &dead) || dead.Rank != 2 {
			return fmt.Errorf("a receive from the dead: %w", err)
		}
		return nil
	})
	if crashed.Load() != 2 {
		t.Errorf("it has crashed %d times of 2", crashed.Load())
	}
}

// TestPassingFaults: a pause, a partition and a delay that end in time do no harm.
func TestPassingFaults(t *testing.T) {
	const lasts = 60 * time.Millisecond
	for _, f := range []Fault{
		{Kind: Pause, Ranks: []int{1}, After: Operations{0, 20}, For: lasts},
		{Kind: Pause, Ranks: []int{1}, After: Operations{1, 20}, For: lasts},
		{Kind: Partition, Ranks: []int{1}, After: Operations{0, 20}, For: lasts},
		{Kind: Slow, Ranks: []int{0}, After: Operations{0, 20}, For: lasts, Delay: 10 * time.Millisecond},
	} {
		t.Run(f.Kind.String(), func(t *testing.T) {
			underFaults(t, 3, []Fault{f}, func(ctx context.Context, p *Proc) error {
				q, err := p.OpenPort(1, nil)
				if err != nil {
					return err
				}
				began := p.Now()
				for i := range 50 {
					if err := q.Send(ctx, (p.Rank()+1)%3, []byte{byte(i)}); err != nil {
						return err
					}
					m, err := q.Recv(ctx)
					if err != nil || int(m.Data[0]) != i {
						return fmt.Errorf("message %d: %v, %w", i, m.Data, err)
					}
					m.Release()
				}
				if took := p.Now() - began; took < f.Delay || f.Kind != Slow && took < lasts*9/10 {
					return fmt.Errorf("it has taken %v: no fault has happened", took)
				}
				return nil
			})
		})
	}
}

// TestPartition: the sides of a partition that lasts count as dead to each other, and
// each goes on for itself.
func TestPartition(t *testing.T) {
	faults := []Fault{{Kind: Partition, Ranks: []int{0, 1}, After: Operations{0, 5}}}
	underFaults(t, 4, faults, func(ctx context.Context, p *Proc) error {
		q, err := p.OpenPort(1, nil)
		if err != nil {
			return err
		}
		side := p.Rank() ^ 1
		other := p.Rank() ^ 2
		var dead *PeerError
		for i := 0; dead == nil; i++ {
			err := q.Send(ctx, other, []byte{byte(i)})
			if err == nil {
				var m Message
				if m, err = q.RecvFrom(ctx, other); err == nil {
					m.Release()
				}
			}
			if err != nil && !errors.As(err, &dead) {
				return err
			}
		}
		if err := q.Send(ctx, side, nil); err != nil {
			return err
		}
		_, err = q.RecvFrom(ctx, side)
		return err
	})
}

func TestFaultsThatCannotBe(t *testing.T) {
	for _, f := range []Fault{
		{}, {Kind: 99, Ranks: []int{0}}, {Kind: Crash}, {Kind: Crash, Ranks: []int{2}}, {Kind: Pause, Ranks: []int{0}},
		{Kind: Slow, Ranks: []int{0}}, {Kind: Crash, Ranks: []int{0}, At: -1},
		{Kind: Crash, Ranks: []int{0}, After: Operations{2, 1}},
	} {
		if _, err := Simulate(t.Context(), Cluster{Ranks: 2, Faults: []Fault{f}}, nil); err == nil {
			t.Errorf("%+v is accepted by Simulate", f)
		}
	}
}

// TestSameEnd: Local and Simulate return the same for the same end: the error of the
// rank that failed first, and nil when none has, also when the context has ended.
func TestSameEnd(t *testing.T) {
	broken := errors.New("broken")
	for name, c := range map[string]struct {
		run  func(ctx context.Context, p *Proc, stop func()) error
		want error
	}{
		"nil after the context": {func(ctx context.Context, p *Proc, stop func()) error {
			stop()
			return nil
		}, nil},
		"nil after the deadline": {func(ctx context.Context, p *Proc, stop func()) error {
			q, err := p.OpenPort(1, nil)
			if err != nil {
				return err
			}
			// or the other has returned
			if _, err = q.Recv(ctx); !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, ErrPeer) {
				return fmt.Errorf("got %w", err)
			}
			return nil
		}, nil},
		"the context's error": {func(ctx context.Context, p *Proc, stop func()) error {
			stop()
			return p.Sleep(ctx, time.Hour)
		}, context.Canceled},
		"an error": {func(ctx context.Context, p *Proc, stop func()) error {
			if p.Rank() == 1 {
				return broken
			}
			return p.Sleep(ctx, time.Hour)
		}, broken},
	} {
		for _, where := range []string{"local", "sim"} {
			ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
			run := func(ctx context.Context, p *Proc) error { return c.run(ctx, p, cancel) }
			var err error
			if where == "local" {
				err = Local(ctx, 2, run)
			} else {
				_, err = Simulate(ctx, Cluster{Ranks: 2}, run)
			}
			cancel()
			if !errors.Is(err, c.want) || (err == nil) != (c.want == nil) {
				t.Errorf("%s, %s: %v, want %v", name, where, err, c.want)
			}
		}
	}
}
