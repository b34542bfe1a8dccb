package weft

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"

	"weft/internal/explore"
)

// No data path allocates, whatever the transport. Both ranks run on one
// goroutine, which is enough: what the other rank must do for an operation, its
// own service does. Guards and sleeping have paths of their own; exploration has all pairs.
func TestNoAllocation(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	const asleep = -1 // always; otherwise it polls first
	configs := []Config{
		{Transport: "shm"}, {Transport: "shm", Spin: asleep}, {Transport: "udp", Guard: GuardEncrypt},
		{Transport: "tcp", Guard: GuardEncrypt, Spin: asleep},
		{Transport: "udp"}, {Transport: "udp", Spin: asleep}, {Transport: "udp", Guard: GuardEncrypt, Spin: asleep},
		{Transport: "tcp", Guard: GuardEncrypt},
	}
	for _, c := range configs[:explore.Choose(4, len(configs))] {
		t.Run(fmt.Sprintf("%s %s %v", c.Transport, c.Guard, c.Spin), func(t *testing.T) { testNoAllocation(t, &c) })
	}
}

func testNoAllocation(t *testing.T, cfg *Config) {
	ctx := t.Context() // without a bound for all operations together
	procs := joinAll(t, 2, cfg)
	var q [2]*Port
	var w [2]*Region
	for i, p := range procs {
		var err error
		if q[i], w[i], err = pair(ctx, p, 1<<16, nil); err != nil {
			t.Fatal(err)
		}
	}
	far, err := w[0].At(ctx, 1)
	if err != nil {
		t.Fatal(err)
	}
	var locks, central [2]*Lock
	var sems [2]*Semaphore
	var tree, auto [2]*Barrier
	for i, p := range procs {
		locks[i] = p.Lock("L", nil)
		central[i] = p.Lock("C", &LockConfig{Algorithm: "central"})
		sems[i] = p.Semaphore("S", 1, nil)
		tree[i] = p.Barrier("T", &BarrierConfig{Algorithm: "tree"})
		auto[i] = p.Barrier("A", nil)
	}
	both := func(b [2]*Barrier) error {
		ph, err := b[0].Arrive(ctx)
		if err != nil {
			return err
		}
		if err := b[1].Wait(ctx); err != nil {
			return err
		}
		return ph.Wait(ctx)
	}
	made := make(chan error)
	go func() { made <- auto[0].Wait(ctx) }()
	if err := errors.Join(auto[1].Wait(ctx), <-made); err != nil {
		t.Fatal(err)
	}
	mails, err := procs[1].OpenMailbox("mails", nil)
	if err != nil {
		t.Fatal(err)
	}
	sender, err := procs[0].AttachMailbox(ctx, 1, "mails")
	if err != nil {
		t.Fatal(err)
	}
	ipush := func(b []byte) func() error {
		return func() error {
			if err := sender.Push(ctx, b); err != nil {
				return err
			}
			d, err := mails.Next(ctx)
			if err == nil {
				d.Release()
			}
			return err
		}
	}
	short := make([]byte, 100)
	long := make([]byte, 20000)
	word := make([]byte, 8)
	in := make([]byte, 32<<10)
	for _, c := range []struct {
		name string
		f    func() error
	}{
		{"send and receive into", func() error {
			if err := q[0].Send(ctx, 1, short); err != nil {
				return err
			}
			_, _, err := q[1].RecvInto(ctx, in)
			return err
		}},
		{"several packets", func() error {
			if err := q[0].Send(ctx, 1, long); err != nil {
				return err
			}
			_, err := q[1].RecvIntoFrom(ctx, 0, in)
			return err
		}},
		{"in place", func() error {
			d, err := q[0].Reserve(ctx, 1, 100)
			if err != nil {
				return err
			}
			if err := d.Commit(ctx); err != nil {
				return err
			}
			m, err := q[1].Recv(ctx)
			if err == nil {
				m.Release()
			}
			return err
		}},
		{"try", func() error {
			if err := q[0].TrySend(1, short); err != nil {
				return err
			}
			for {
				m, err := q[1].TryRecv()
				if err == nil {
					m.Release()
				}
				if err != ErrWouldBlock || ctx.Err() != nil {
					return err
				}
			}
		}},
		{"ipush of a word", ipush(word)},
		{"ipush", ipush(short)},
		{"ipush of several packets", ipush(long)},
		{"push", func() error { return far.Push(ctx, 0, long) }},
		{"pull", func() error { return far.Pull(ctx, in, 0) }},
		{"put and flush", func() error {
			if err := far.Put(8, word); err != nil {
				return err
			}
			return far.Flush(ctx)
		}},
		{"updates", func() error {
			if err := far.Update(8, UpdateXor, word); err != nil {
				return err
			}
			op, err := far.StartUpdate(0, UpdateAddFloat, long[:len(long)&^7])
			if err != nil {
				return err
			}
			defer op.Free()
			return errors.Join(op.Wait(ctx), far.Flush(ctx))
		}},
		{"fetch-add", func() error {
			_, err := far.FetchAdd(ctx, 0, 1)
			return err
		}},
		{"lock again", func() error {
			if _, err := locks[0].Lock(ctx); err != nil {
				return err
			}
			return locks[0].Unlock()
		}},
		{"lock in turn", func() error { return inTurn(ctx, locks) }},
		{"central lock in turn", func() error { return inTurn(ctx, central) }},
		{"semaphore", func() error {
			if err := sems[0].Acquire(ctx, 1); err != nil {
				return err
			}
			return sems[1].Release(1)
		}},
		{"barrier over messages", func() error { return both(tree) }},
		{"barrier", func() error { return both(auto) }},
		{"started push", func() error {
			op, err := far.StartPush(0, short)
			if err != nil {
				return err
			}
			defer op.Free()
			return op.Wait(ctx)
		}},
	} {
		doesNotAllocate(t, c.name, c.f)
	}
}

// inTurn takes a lock at both ranks, one after the other.
func inTurn(ctx context.Context, locks [2]*Lock) error {
	for _, l := range locks {
		if _, err := l.Lock(ctx); err != nil {
			return err
		}
		if err := l.Unlock(); err != nil {
			return err
		}
	}
	return nil
}

// doesNotAllocate fails the test if f allocates, once buffers have grown and rings are claimed.
func doesNotAllocate(t *testing.T, name string, f func() error) {
	t.Helper()
	for range 300 {
		if err := f(); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	// Others of the runtime may allocate meanwhile, so the least counts.
	least := 1.0
	for try := 0; try < 3 && least > 0; try++ {
		least = min(least, testing.AllocsPerRun(100, func() {
			if err := f(); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}))
	}
	if least > 0 {
		t.Errorf("%s: %v allocations", name, least)
	}
}

// A long message allocates nothing either, once its receiver has a buffer.
func TestNoAllocationOfLongMessages(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	ctx := within(t)
	procs := joinAll(t, 2, &Config{Transport: "shm"})
	var q [2]*Port
	for i, p := range procs {
		var err error
		if q[i], err = p.OpenPort(1, nil); err != nil {
			t.Fatal(err)
		}
	}
	src := pattern(300000, 1)
	dst := make([]byte, 300000)
	ask := make(chan bool)
	done := make(chan error)
	defer close(ask)
	go func() {
		for range ask {
			_, _, err := q[1].RecvInto(ctx, dst)
			done <- err
		}
	}()
	round := func() {
		ask <- true
		if err := q[0].Send(ctx, 1, src); err != nil {
			t.Fatal(err)
		}
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	}
	for range 50 {
		round()
	}
	if n := testing.AllocsPerRun(100, round); n > 0 {
		t.Errorf("%v allocations", n)
	}
	if !bytes.Equal(src, dst) {
		t.Error("it is not what was sent")
	}
}

// Nor does a barrier whose members sleep.
func TestNoAllocationOfSleepers(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	for _, algorithm := range []BarrierAlgorithm{BarrierAuto, BarrierTree} {
		ctx := within(t)
		var b [2]*Barrier
		for i, p := range joinAll(t, 2, &Config{Transport: "shm", Spin: -1}) {
			b[i] = p.Barrier("B", &BarrierConfig{Algorithm: algorithm})
		}
		const rounds = 50 + 1 + 200
		done := make(chan error)
		go func() {
			var err error
			for i := 0; i < rounds && err == nil; i++ {
				err = b[1].Wait(ctx)
			}
			done <- err
		}()
		round := func() {
			if err := b[0].Wait(ctx); err != nil {
				t.Fatal(err)
			}
		}
		for range 50 {
			round()
		}
		if n := testing.AllocsPerRun(200, round); n > 0 {
			t.Errorf("%s: %v allocations", algorithm, n)
		}
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}
