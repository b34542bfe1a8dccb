package weft

import (
	"context"
	"maps"
	"slices"
	"time"

	"weft/internal/waitgraph"
)

// A Signal is how goroutines of a rank wake each other: a channel of one token that is
// as good in a simulation, where the seed decides when a goroutine that waits for it
// goes on. Make it with Proc.Signal. Any goroutine may use it.
type Signal struct {
	p     *Proc
	token chan struct{}
}

// Signal returns a signal that is not set.
func (p *Proc) Signal() *Signal { return &Signal{p, make(chan struct{}, 1)} }

// Set sets the signal, if it is not set. It never waits.
func (s *Signal) Set() {
	select {
	case s.token <- struct{}{}:
	default:
	}
}

// C returns the channel of the token, to wait for with others in a select. In a simulation only Wait lets the
// world go on.
func (s *Signal) C() <-chan struct{} { return s.token }

// Reset takes the signal back, if it is set.
func (s *Signal) Reset() { s.take() }

// Wait returns when the signal has been set, and resets it, or with the error of ctx, in a WaitError.
// One of several that wait goes on.
func (s *Signal) Wait(ctx context.Context) error { return s.wait(ctx) }

// WaitFor is Wait for something that weft ps shows, in words such as "the answer of rank 3".
func (s *Signal) WaitFor(ctx context.Context, what string) error {
	w := &signalWait{what, s.p.Now()}
	s.p.mu.Lock()
	s.p.signals[w] = true
	s.p.mu.Unlock()
	defer func() {
		s.p.mu.Lock()
		defer s.p.mu.Unlock()
		delete(s.p.signals, w)
	}()
	return s.wait(ctx)
}

// A signalWait is a goroutine that waits for a signal.
type signalWait struct {
	what  string
	since time.Duration
}

// reportSignals adds the waits for signals to a report, the longest first.
func (p *Proc) reportSignals(rep *waitgraph.Report) {
	p.mu.Lock()
	waits := slices.Collect(maps.Keys(p.signals))
	p.mu.Unlock()
	slices.SortFunc(waits, func(a, b *signalWait) int { return int(a.since - b.since) })
	const most = 100
	for _, w := range waits[:min(len(waits), most)] {
		rep.Waits = append(rep.Waits, waitgraph.Wait{
			For: "signal", Name: w.what, Rank: waitgraph.Anyone, Seconds: (p.Now() - w.since).Seconds(),
		})
	}
}

func (s *Signal) wait(ctx context.Context) error {
	if s.p.node.Hosted() {
		for {
			if err := s.p.node.AwaitHosted(ctx, func() bool { return len(s.token) > 0 }); err != nil || s.take() {
				return waited(err, "signal", "")
			}
		}
	}
	select {
	case <-s.token:
		return nil
	case <-ctx.Done():
		return waited(ctx.Err(), "signal", "")
	}
}

// take resets the signal, and reports whether it was set.
func (s *Signal) take() bool {
	select {
	case <-s.token:
		return true
	default:
		return false
	}
}
