package weft

import (
	"context"

	"weft/failure"
	"weft/internal/driver"
)

// A Task is a goroutine that Proc.Go has started.
type Task struct {
	p    *Proc
	done chan struct{}
}

// Go runs f in a goroutine of its own. On real hosts it is the same as a go statement. In a
// simulation it starts a goroutine that may use weft: the goroutines of a rank run one at a
// time, each until it waits or enters a call of weft, and the seed decides which one is next.
// A goroutine that a go statement has started must not use weft in a simulation: its calls
// panic.
//
// The goroutines of a rank may share variables, and wait for each other by channels, mutexes
// and wait groups, as in any Go program. In a simulation each such wait costs about a tenth of
// a millisecond of real time, because the simulator must find out that the goroutine is
// blocked in Go. Task.Wait has no such cost, nor has Signal of package extend. If several goroutines are released at
// one moment, their order until each one's next call of weft does not depend on the seed, nor
// does the order in which they get a mutex. The same holds for goroutines that push to one
// mailbox at the same time.
func (p *Proc) Go(f func()) *Task {
	t := &Task{p: p, done: make(chan struct{})}
	p.node.Go(func() {
		defer close(t.done)
		f()
	})
	return t
}

// Wait waits until the goroutine has ended. If ctx ends first it returns a WaitError. Any number of
// goroutines may call it.
func (t *Task) Wait(ctx context.Context) error {
	ctx = driver.Endless(ctx)
	if t.p.node.Hosted() {
		return failure.Waited(t.p.node.AwaitHosted(ctx, t.Done), "end of a task", "")
	}
	select {
	case <-t.done:
		return nil
	case <-ctx.Done():
		return failure.Waited(ctx.Err(), "end of a task", "")
	}
}

// Done reports whether the goroutine has ended. Any goroutine may call it.
func (t *Task) Done() bool {
	select {
	case <-t.done:
		return true
	default:
		return false
	}
}
