package tcp

import (
	"errors"
	"time"
)

// over hears that a connection has ended. The peer is gone with its last one: of
// two who have dialled each other at once, each sends by one of the two, and what
// the other brings is read first. One of them may not have been accepted yet.
//
// Two who both live and have lost one of their connections have lost packets, so they
// give up the others as well: each then hears of the end of the last.
func (t *Transport) over(c *conn, err error) {
	c.over.Store(true)
	time.AfterFunc(accepting, func() {
		if !t.giveUp(c.peer) {
			t.cfg.Events.Down(c.peer, err)
		}
	})
}

// giveUp ends what we write to a peer, and reports whether something may still come from
// it.
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

// accepting is how long a connection that stands may take to be accepted.
const accepting = 20 * time.Millisecond

// ended hears that a peer has ended a stream.
func (t *Transport) ended(fd int) {
	for _, c := range *t.conns.Load() {
		if c.stream.FD() == fd {
			t.over(c, errors.New("weft: tcp: the connection has ended"))
		}
	}
}
