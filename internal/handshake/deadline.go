package handshake

import (
	"net"
	"sync"
	"time"
)

// quarters is how many pieces of its time a process that waits must live through. A
// clock alone would say that the peer was late where this process was stopped itself.
const quarters = 4

// After calls late when this process has lived through d, unless stop is called before.
// Late must not wait for whoever calls stop.
func After(d time.Duration, late func()) (stop func()) {
	var mu sync.Mutex
	left, quarter := quarters, max(d/quarters, 1)
	var timer *time.Timer
	mu.Lock()
	defer mu.Unlock()
	timer = time.AfterFunc(quarter, func() {
		mu.Lock()
		defer mu.Unlock()
		switch left--; {
		case left > 0:
			timer.Reset(quarter)
		case left == 0:
			late()
		}
	})
	return func() {
		mu.Lock()
		defer mu.Unlock()
		left = 0
		timer.Stop()
	}
}

// longAgo is a deadline that has passed.
var longAgo = time.Unix(1, 0)

// Within makes reading and writing fail when this process has lived through d, unless
// stop is called before, which takes the deadline back.
func Within(c net.Conn, d time.Duration) (stop func()) {
	end := After(d, func() { c.SetDeadline(longAgo) })
	return func() {
		end()
		c.SetDeadline(time.Time{})
	}
}
