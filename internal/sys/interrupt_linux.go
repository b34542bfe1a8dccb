package sys

import "sync/atomic"

// An Interrupt calls a function when a descriptor becomes readable, once for
// each time that it is armed and each of its descriptors. While it is not armed the
// descriptors are not watched, so that an arrival costs the kernel no wake-up, nor the search
// for a sleeper. The Go netpoller would watch them always.
type Interrupt struct {
	fds    []int
	waiter *Waiter
	stop   atomic.Bool
	done   chan struct{}
}

// NewInterrupt watches descriptors, unarmed.
func NewInterrupt(fire func(), fds ...int) (*Interrupt, error) {
	w, err := NewWaiter()
	if err != nil {
		return nil, err
	}
	x := &Interrupt{fds: fds, waiter: w, done: make(chan struct{})}
	go func() {
		defer close(x.done)
		// When Wait returns, the watch has ended. So an Arm during fire begins a
		// new one.
		for !x.stop.Load() {
			if w.Wait(-1) && !x.stop.Load() {
				fire()
			}
		}
	}()
	return x, nil
}

// Arm makes the next arrival call the function. An arrival that has not been read yet calls it at
// once.
func (x *Interrupt) Arm() {
	for _, fd := range x.fds {
		x.waiter.Watch(fd)
	}
}

// Close ends the watch.
func (x *Interrupt) Close() {
	x.stop.Store(true)
	x.waiter.Wake()
	<-x.done
	x.waiter.Close()
}
