package tcp

import (
	"errors"
	"time"
)

// over handles the end of a connection. The peer is gone when its last connection has ended. Two
// ranks that have dialled each other at the same time may each send by another connection, so over
// waits for a connection that has not been accepted yet, and all connections are read to their end.
//
// Two ranks that are both alive and have lost one of their connections have lost packets. So
// they end the others as well, and each notices the end of the last.
func (t *Transport) over(c *conn, err error) {
	c.over.Store(true)
	time.AfterFunc(accepting, func() {
		if !t.giveUp(c.peer) {
			t.cfg.Events.Down(c.peer, err)
		}
	})
}

// giveUp ends writing on all connections to a peer, and reports whether something may still
// come from the peer.
func (t *Transport) giveUp(peer int) (more bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, o := range *t.conns.Load() {
		if o.peer == peer && !t.closed {
			o.stream.EndWriting()
			more = more || !o.over.Load()
		}
	}
	return more
}

// accepting is how long a connection that the kernel has made may take to be accepted here.
const accepting = 20 * time.Millisecond

// ended is called when a peer has ended a stream.
func (t *Transport) ended(fd int) {
	for _, c := range *t.conns.Load() {
		if c.stream.FD() == fd {
			t.over(c, errors.New("weft: tcp: the connection has ended"))
		}
	}
}
