package handshake

import (
	"net"
	"sync"
	"time"
)

// quarters is the number of pieces of a time limit, each of which has a timer of its own. A single
// timer would blame the peer if this process itself was stopped for most of the time.
const quarters = 4

// After calls late when d has passed while this process was running, unless stop is called first.
// late must not wait for the goroutine that calls stop.
func After(d time.Duration, late func()) (stop func()) {
	var mu sync.Mutex
	left := quarters
	quarter := max(d/quarters, 1)
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

// Within makes reads and writes of c fail when d has passed while this process was running, unless
// stop is called first, which removes the deadline.
func Within(c net.Conn, d time.Duration) (stop func()) {
	end := After(d, func() { c.SetDeadline(longAgo) })
	return func() {
		end()
		c.SetDeadline(time.Time{})
	}
}
