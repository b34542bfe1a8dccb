package weft

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
)

// ring passes a token round: message by message, and by PUSH.
func ring(laps int) func(ctx context.Context, p *Proc) error {
	return func(ctx context.Context, p *Proc) error {
		q, err := p.OpenPort(1, nil)
		if err != nil {
			return err
		}
		w, err := p.OpenRegion(ctx, "w", 8, nil)
		if err != nil {
			return err
		}
		next := (p.Rank() + 1) % p.Size()
		r, err := p.AttachRegion(ctx, next, "w")
		if err != nil {
			return err
		}
		for lap := range uint64(laps) {
			if p.Rank() == 0 {
				if err := q.Send(ctx, next, nil); err != nil {
					return err
				}
			}
			m, err := q.Recv(ctx)
			if err != nil {
				return err
			}
			m.Release()
			if p.Rank() > 0 {
				if err := q.Send(ctx, next, nil); err != nil {
					return err
				}
			}
			b := binary.LittleEndian.AppendUint64(nil, lap+1)
			if err := r.Push(ctx, 0, b); err != nil {
				return err
			}
			if v, err := w.Await(ctx, 0, lap); err != nil || v <= lap {
				return fmt.Errorf("lap %d: the word is %d, %v", lap, v, err)
			}
		}
		return nil
	}
}

// TestSimulationRepeats: the same seed does the same, another one does not.
func TestSimulationRepeats(t *testing.T) {
	run := func(seed uint64) *Simulation {
		s, err := Simulate(within(t), Cluster{Ranks: 12, Topology: "torus:3x4", Loss: 0.05, Seed: seed}, ring(20))
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	a := run(1)
	b := run(1)
	c := run(2)
	if a.Hash != b.Hash || a.Time != b.Time || a.Events != b.Events {
		t.Errorf("seed 1: %+v, then %+v", a, b)
	}
	if a.Hash == c.Hash {
		t.Errorf("seeds 1 and 2 did the same: %+v", a)
	}
	if a.Lost == 0 || a.Resent == 0 || a.Messages != 12*20 {
		t.Errorf("%+v", a)
	}
}

// TestSimulatedTime: a message takes what its links take, a sleep its time, and
// a deadline of a context passes in virtual time.
func TestSimulatedTime(t *testing.T) {
	var took, slept, waited time.Duration
	_, err := Simulate(t.Context(), Cluster{Ranks: 2, Link: "1Gbps,10us"}, func(ctx context.Context, p *Proc) error {
		q, err := p.OpenPort(1, nil)
		if err != nil {
			return err
		}
		if p.Rank() == 1 {
			m, err := q.Recv(ctx)
			if err != nil {
				return err
			}
			defer m.Release()
			if err := q.Send(ctx, 0, m.Data); err != nil {
				return err
			}
			return p.Sleep(ctx, 2*time.Hour) // else rank 0 would be told that it has returned
		}
		if _, err := p.Connect(ctx, 1); err != nil {
			return err
		}
		began := p.Now()
		if err := q.Send(ctx, 1, make([]byte, 1000)); err != nil {
			return err
		}
		m, err := q.Recv(ctx)
		if err != nil {
			return err
		}
		m.Release()
		took = p.Now() - began
		began = p.Now()
		if err := p.Sleep(ctx, time.Hour); err != nil {
			return err
		}
		slept = p.Now() - began
		ctx, cancel := context.WithTimeout(ctx, 20*time.Minute)
		defer cancel()
		began = p.Now()
		if _, err = q.Recv(ctx); !errors.Is(err, context.DeadlineExceeded) {
			return fmt.Errorf("a receive that nobody answers: %v", err)
		}
		waited = p.Now() - began
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	// Two wires each way, 1,084 bytes at 1 Gbit/s in packets, and 10 us.
	const oneWay = 10*time.Microsecond + 2*1084*8*time.Nanosecond
	if took != 2*oneWay {
		t.Errorf("a round trip took %v, want %v", took, 2*oneWay)
	}
	if slept != time.Hour || waited.Round(time.Second) != 20*time.Minute {
		t.Errorf("slept %v, waited %v", slept, waited)
	}
}

// TestStuck: ranks that wait for each other are found out, and told what for.
func TestStuck(t *testing.T) {
	_, err := Simulate(within(t), Cluster{Ranks: 3}, func(ctx context.Context, p *Proc) error {
		q, err := p.OpenPort(4, nil)
		if err != nil {
			return err
		}
		_, err = q.RecvFrom(context.Background(), (p.Rank()+1)%3)
		return err
	})
	if !errors.Is(err, ErrStuck) ||
		!strings.Contains(err.Error(), "rank 1: channel 4: a receive waits for a message from rank 2") {
		t.Errorf("got %v", err)
	}
}

// TestSimulatedFailure: the error of a rank ends the others.
func TestSimulatedFailure(t *testing.T) {
	broken := errors.New("broken")
	_, err := Simulate(within(t), Cluster{Ranks: 3}, func(ctx context.Context, p *Proc) error {
		q, err := p.OpenPort(1, nil)
		if err != nil {
			return err
		}
		if p.Rank() == 1 {
			return broken
		}
		_, err = q.RecvFrom(ctx, 2-p.Rank())
		return err
	})
	if !errors.Is(err, broken) || !strings.Contains(err.Error(), "rank 1") {
		t.Errorf("got %v", err)
	}
}

func TestClusterOptions(t *testing.T) {
	for _, c := range []Cluster{
		{}, {Ranks: -1}, {Ranks: 4, Topology: "torus:3x3"}, {Ranks: 4, Link: "fast"}, {Ranks: 4, MTU: 10},
		{Ranks: 4, Loss: 1},
	} {
		_, err := Simulate(t.Context(), c, ring(1))
		var field *ConfigError
		if !errors.As(err, &field) && !errors.Is(err, ErrOption) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// TestSimulatedHosts: ranks of a simulated host map each other's memory, meet in it,
// and put messages into each other's mailboxes; the others of them do so by packets.
// The same seed does the same.
func TestSimulatedHosts(t *testing.T) {
	for _, c := range []struct {
		perHost int
		barrier string
	}{{0, "dissemination"}, {1, "dissemination"}, {2, "two-level"}, {3, "two-level"}, {5, "shared"}} {
		run := func() *Simulation {
			s, err := Simulate(within(t), Cluster{Ranks: 5, PerHost: c.perHost, Loss: 0.02},
				func(ctx context.Context, p *Proc) error {
					return onHosts(ctx, p, c.perHost, c.barrier)
				})
			if err != nil {
				t.Fatalf("%d on a host: %v", c.perHost, err)
			}
			return s
		}
		a := run()
		b := run()
		if a.Hash != b.Hash || a.Events != b.Events {
			t.Errorf("%d on a host: %+v, then %+v", c.perHost, a, b)
		}
	}
}

func onHosts(ctx context.Context, p *Proc, perHost int, algorithm string) error {
	b := p.Barrier("b", nil)
	if why, err := b.Why(ctx); err != nil || !strings.HasPrefix(why, algorithm) {
		return fmt.Errorf("the barrier is %q, %w", why, err)
	}
	w, err := p.OpenRegion(ctx, "w", 8*p.Size(), nil)
	if err != nil {
		return err
	}
	m, err := p.OpenMailbox("m", nil)
	if err != nil {
		return err
	}
	for phase := range uint64(20) {
		for rank := range p.Size() {
			r, err := p.AttachRegion(ctx, rank, "w")
			if err != nil {
				return err
			}
			s, err := p.AttachMailbox(ctx, rank, "m")
			if err != nil {
				return err
			}
			mates := perHost > 1 && rank/perHost == p.Rank()/perHost && (rank/perHost+1)*perHost <= p.Size()+perHost-2
			if mates && rank != p.Rank() && (!r.Direct() || !s.Direct()) ||
				!mates && rank != p.Rank() && (r.Direct() || s.Direct()) {
				return fmt.Errorf("to rank %d: region direct %v, mailbox direct %v", rank, r.Direct(), s.Direct())
			}
			if err := r.Push(ctx, 8*p.Rank(), binary.LittleEndian.AppendUint64(nil, phase+1)); err != nil {
				return err
			}
			if err := s.Push(ctx, []byte{byte(phase)}); err != nil {
				return err
			}
		}
		for range p.Size() {
			d, err := m.Next(ctx)
			if err != nil || d.Data[0] != byte(phase) {
				return fmt.Errorf("phase %d: %v, %w", phase, d.Data, err)
			}
			d.Release()
		}
		if err := b.Wait(ctx); err != nil {
			return err
		}
		for rank := range p.Size() {
			if v := w.Load(8 * rank); v != phase+1 {
				return fmt.Errorf("phase %d is over, and the word of rank %d is %d", phase, rank, v)
			}
		}
		if err := b.Wait(ctx); err != nil {
			return err
		}
	}
	return nil
}
