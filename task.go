package weft

import "context"

// A Task is a goroutine that Proc.Go has started.
type Task struct {
	p    *Proc
	done chan struct{}
}

// Go runs f in a goroutine of its own. On a real cluster it is the same as a go
// statement. In a simulation it is how a rank starts a goroutine that may use weft:
// the goroutines of a rank run one at a time, each until it waits or enters a call of
// weft, and the seed decides which is next. One that a go statement has started must
// not use weft there: it panics if it does.
//
// The goroutines of a rank may share variables and wait for each other as Go programs
// do, by channels, mutexes and wait groups. In a simulation that is slow, a tenth of a
// millisecond each time, since the simulator must find out that a goroutine is blocked
// in Go rather than busy. Task.Wait and Signal cost nothing there. What several goroutines do
// that have been set free at one time, before the next call of weft of each, is not
// ordered by the seed, nor which of them gets a mutex; so it is among those that push to
// one mailbox at a time, which weft itself orders by one.
func (p *Proc) Go(f func()) *Task {
	t := &Task{p: p, done: make(chan struct{})}
	p.node.Go(func() {
		defer close(t.done)
		f()
	})
	return t
}

// Wait returns when the goroutine has ended, or with the error of ctx, in a WaitError. Any number of
// goroutines may call it.
func (t *Task) Wait(ctx context.Context) error {
	if t.p.node.Hosted() {
		return waited(t.p.node.AwaitHosted(ctx, t.ended), "end of a task", "")
	}
	select {
	case <-t.done:
		return nil
	case <-ctx.Done():
		return waited(ctx.Err(), "end of a task", "")
	}
}

func (t *Task) ended() bool {
	select {
	case <-t.done:
		return true
	default:
		return false
	}
}
