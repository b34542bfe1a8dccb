package extend

import (
	"context"

	"weft"
	"weft/failure"
	"weft/internal/driver"
	"weft/internal/inside"
	"weft/internal/waitgraph"
)

// A Signal lets goroutines of a rank wake each other: it is set or not, as a channel of one token.
// It also works in a simulation, where the seed decides when a waiting goroutine goes on. Make
// it with NewSignal. Any number of goroutines may use it.
type Signal struct {
	in    inside.Proc
	token chan struct{}
}

// NewSignal returns a signal that is not set.
func NewSignal(p *weft.Proc) *Signal { return &Signal{inside.OfProc(p), make(chan struct{}, 1)} }

// Set sets the signal, if it is not set. It never waits.
func (s *Signal) Set() {
	select {
	case s.token <- struct{}{}:
	default:
	}
}

// C returns the channel of the token, for a select. In a simulation a goroutine must use Wait,
// because virtual time does not pass while it waits in a select.
func (s *Signal) C() <-chan struct{} { return s.token }

// Reset clears the signal, if it is set.
func (s *Signal) Reset() { s.take() }

// Wait waits until the signal is set, and clears it. If ctx ends first it returns a weft.WaitError. Of
// several goroutines that wait, one goes on.
func (s *Signal) Wait(ctx context.Context) error { return s.wait(ctx) }

// WaitFor is Wait, and weft ps shows the wait in the words of what, such as "the answer of rank 3".
func (s *Signal) WaitFor(ctx context.Context, what string) error {
	defer show(s.in, what)()
	return s.wait(ctx)
}

// ShowWait has weft ps show a wait in the words of what, until done is called.
func ShowWait(p *weft.Proc, what string) (done func()) { return show(inside.OfProc(p), what) }

// ShowReceives has weft ps show the receives that list returns in place of those on the channel of a port, on which a
// library waits for messages for all of them. List may be called by any goroutine at any time; it must not wait.
func ShowReceives(p *weft.Proc, channel int, list func() []Receive) {
	inside.OfProc(p).Waits.List(channel, func() (waits []waitgraph.Wait) {
		for _, r := range list() {
			waits = append(waits, waitgraph.Wait{For: "receive", Rank: r.From, Call: r.Call})
		}
		return waits
	})
}

// A Receive is one that waits: for a message of a rank of the job, or of weft.Any.
type Receive struct {
	From int
	Call string // what it waits for, in words
}

func show(in inside.Proc, what string) (done func()) {
	w := in.Waits.Begin("signal", what, in.Node.Now())
	return func() { in.Waits.End(w) }
}

func (s *Signal) wait(ctx context.Context) error {
	ctx = driver.Endless(ctx)
	if s.in.Node.Hosted() {
		for {
			err := s.in.Node.AwaitHosted(ctx, func() bool { return len(s.token) > 0 })
			if err != nil {
				return givenUp(err)
			}
			if s.take() {
				return nil
			}
		}
	}
	select {
	case <-s.token:
		return nil
	case <-ctx.Done():
		return givenUp(ctx.Err())
	}
}

// givenUp says in the error of a context what was waited for.
func givenUp(err error) error {
	if failure.GivenUp(err) {
		return &weft.WaitError{Doing: "signal", Err: err}
	}
	return err
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
