package fabric

import (
	"encoding/binary"
	"errors"
	"io"
	"net"
	"time"
)

// What two ranks that have met say on their connection: a byte, and a number of 32 bits.
const (
	leaving  = 'L' // the sender is about to close, and has sent so many packets
	received = 'A' // the receiver has them
)

const wordSize = 5

// sayLeaving tells a peer that this process leaves.
func (p *peer) sayLeaving(t *Transport) {
	t.mu.Lock()
	n := p.sent
	var c net.Conn
	if len(p.conns) > 0 {
		c = p.conns[0]
	}
	t.mu.Unlock()
	if c != nil {
		say(c, leaving, n)
	}
}

func say(c net.Conn, word byte, n uint32) {
	b := binary.LittleEndian.AppendUint32([]byte{word}, n)
	_ = c.SetWriteDeadline(time.Now().Add(leavePatience))
	_, _ = c.Write(b) // a peer that does not hear it notices the end of the connection
}

// errEnded reports a peer whose process has ended.
var errEnded = errors.New("weft: fabric: the connection has ended")

// listen hears what a peer says on a connection, and notices its end.
func (t *Transport) listen(p *peer, c net.Conn) {
	defer t.drop(c)
	var b [wordSize]byte
	for {
		if _, err := io.ReadFull(c, b[:]); err != nil {
			break
		}
		n := binary.LittleEndian.Uint32(b[1:])
		switch b[0] {
		case leaving:
			t.catchUp(p, n)
			say(c, received, n)
		case received:
			t.mu.Lock()
			select {
			case <-p.answered:
			default:
				close(p.answered)
			}
			t.mu.Unlock()
		}
	}
	t.linger(p)
	t.mu.Lock()
	t.lose(p, errEnded)
	t.mu.Unlock()
}

// catchUp takes what a peer has sent, up to a number of packets, so that it can be received when the peer is gone.
func (t *Transport) catchUp(p *peer, sent uint32) {
	late := make(chan struct{})
	timer := time.AfterFunc(leavePatience, func() { close(late) })
	defer timer.Stop()
	_ = t.until(late, func() bool { return int32(p.next-sent) >= 0 || p.state == gone })
}

// linger takes what a process that has been killed had sent, as far as it is on this host.
func (t *Transport) linger(p *peer) {
	const rounds = 5
	n := 0
	_ = t.until(nil, func() bool {
		n++
		return n > rounds || p.state == gone
	})
}
