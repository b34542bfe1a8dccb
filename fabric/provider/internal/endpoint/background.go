package endpoint

import "time"

// A thread that computes does not look for packets. Meanwhile a goroutine does: peers have their answers, timers run,
// and long messages go on. It looks whether the program has looked; while it does, which is as good, the goroutine
// looks seldom. It takes no more than few messages from the port, whose buffers bound what comes; the program takes the
// others.
const (
	seldom = 5 * time.Millisecond
	often  = time.Millisecond

	fewMessages = 256
)

// background runs the protocol while the program does not.
func (e *Endpoint) background() {
	defer close(e.idle)
	timer := time.NewTimer(seldom)
	defer timer.Stop()
	var before uint64
	for {
		select {
		case <-timer.C:
		case <-e.over:
			return
		}
		pause := seldom
		if looks := e.looks.Load(); looks == before && e.mu.TryLock() {
			how := protocol
			if e.unexpected() < fewMessages {
				how = everything
			}
			e.progress(how)
			e.mu.Unlock()
			pause = often
		} else {
			before = looks
		}
		timer.Reset(pause)
	}
}

// unexpected returns how many messages have been taken that no receive has asked for. The lock is held.
func (e *Endpoint) unexpected() (n int) {
	for _, q := range e.queues {
		n += q.Unexpected()
	}
	return n
}
