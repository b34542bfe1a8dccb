package weft

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"weft/internal/explore"
)

// A crowd is a rank with three ports, and goroutines on each: two send, by turns by
// copying and in place, and three receive, with contexts that end. One more opens and
// closes a port of its own, with a receive that is cancelled. Every message comes
// once, and the ranks' goroutines take turns in an order that the seed decides.
type crowd struct {
	each  int
	order []uint32 // of what rank 0 receives

	mu   sync.Mutex // for real goroutines
	errs []error
	got  map[[3]uint32]bool // of rank 0: port, sender's goroutine, number
}

const (
	crowdPorts   = 3
	crowdSenders = 2
)

func (c *crowd) fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil {
		c.errs = append(c.errs, err)
	}
}

func (c *crowd) run(ctx context.Context, p *Proc) error {
	next := (p.Rank() + 1) % p.Size()
	var tasks []*Task
	for ch := range crowdPorts {
		q, err := p.OpenPort(ch, &PortConfig{SendBuffer: 64 << 10, RecvBuffer: 64 << 10})
		if err != nil {
			return err
		}
		for s := range crowdSenders {
			tasks = append(tasks, p.Go(func() { c.fail(c.send(ctx, q, next, s)) }))
		}
		left := crowdSenders * c.each
		done, cancel := context.WithCancel(ctx)
		defer cancel()
		for range 3 {
			tasks = append(tasks, p.Go(func() { c.fail(c.receive(done, p, q, ch, &left, cancel)) }))
		}
	}
	tasks = append(tasks, p.Go(func() { c.fail(c.reopen(ctx, p)) }))
	for _, t := range tasks {
		if err := t.Wait(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (c *crowd) send(ctx context.Context, q *Port, to, sender int) error {
	for i := range c.each {
		b := make([]byte, 8+(i*977)%3000)
		d, err := q.Reserve(ctx, to, len(b))
		if err != nil {
			return err
		}
		if i%2 == 0 {
			b = d.Data
			clear(b)
		}
		binary.LittleEndian.PutUint32(b, uint32(sender))
		binary.LittleEndian.PutUint32(b[4:], uint32(i))
		if i%2 == 0 {
			err = d.Commit(ctx)
		} else {
			d.Discard()
			err = q.Send(ctx, to, b)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// receive takes messages until none is left, each time with a context that it ends
// itself now and then.
func (c *crowd) receive(ctx context.Context, p *Proc, q *Port, ch int, left *int, cancel func()) error {
	for round := 0; ; round++ {
		short, end := context.WithCancel(ctx)
		if round%3 == 0 {
			p.Go(func() {
				_ = p.Sleep(ctx, 2*time.Microsecond)
				end()
			})
		}
		m, err := q.Recv(short)
		end()
		switch {
		case ctx.Err() != nil:
			return nil //nolint:nilerr // the test is over
		case errors.Is(err, context.Canceled), errors.Is(err, ErrPeer): // a rank may have returned
			continue
		case err != nil:
			return err
		}
		c.mu.Lock()
		if p.Rank() == 0 {
			sender := binary.LittleEndian.Uint32(m.Data)
			i := binary.LittleEndian.Uint32(m.Data[4:])
			c.order = append(c.order, sender<<16|i)
			k := [3]uint32{uint32(ch), sender, i}
			if c.got[k] {
				err = fmt.Errorf("port %d: message %d of goroutine %d came twice", k[0], i, sender)
			}
			c.got[k] = true
		}
		*left--
		if *left == 0 {
			cancel()
		}
		c.mu.Unlock()
		m.Release()
		if err != nil {
			return err
		}
	}
}

func (c *crowd) reopen(ctx context.Context, p *Proc) error {
	for range c.each {
		q, err := p.OpenPort(crowdPorts, nil)
		if err != nil {
			return err
		}
		short, cancel := context.WithCancel(ctx)
		defer cancel()
		var got error
		t := p.Go(func() { _, got = q.Recv(short) })
		if err := p.Sleep(ctx, time.Microsecond); err != nil {
			return err
		}
		cancel()
		if err := t.Wait(ctx); err != nil {
			return err
		}
		if !errors.Is(got, context.Canceled) && !errors.Is(got, ErrPeer) { // all others may have returned
			return fmt.Errorf("a receive that was cancelled: %w", got)
		}
		if err := q.Close(); err != nil {
			return err
		}
	}
	return nil
}

func (c *crowd) check(t *testing.T) {
	t.Helper()
	if err := errors.Join(c.errs...); err != nil {
		t.Fatal(err)
	}
	if want := crowdPorts * crowdSenders * c.each; len(c.order) != want {
		t.Fatalf("rank 0 has received %d messages of %d", len(c.order), want)
	}
}

// TestCrowdInSimulator: many goroutines on several ports of one node, with cancels,
// Reserve and Commit, and Close. The same seed does the same, and seeds differ.
func TestCrowdInSimulator(t *testing.T) {
	seeds := uint64(explore.Choose(12, 60))
	orders := map[string]bool{}
	run := func(seed uint64) (*Simulation, string) {
		c := &crowd{each: 12, got: map[[3]uint32]bool{}}
		s, err := Simulate(within(t), Cluster{Ranks: 3, Loss: float64(seed%3) / 50, Seed: seed}, c.run)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		c.check(t)
		return s, fmt.Sprint(c.order)
	}
	for seed := range seeds {
		a, order := run(seed)
		orders[order] = true
		if seed%10 == 0 {
			if b, again := run(seed); a.Hash != b.Hash || a.Events != b.Events || again != order {
				t.Errorf("seed %d: %+v, then %+v", seed, a, b)
			}
		}
	}
	if len(orders) < int(seeds)*9/10 {
		t.Errorf("%d seeds have had %d orders", seeds, len(orders))
	}
}

// TestCrowd is the same on real goroutines.
func TestCrowd(t *testing.T) {
	c := &crowd{each: 12, got: map[[3]uint32]bool{}}
	if err := Local(within(t), 3, c.run); err != nil {
		t.Fatal(err)
	}
	c.check(t)
}
