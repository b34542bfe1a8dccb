package fabric

import (
	"encoding/binary"
	"errors"
	"io"
	"net"
	"time"
)

// A word is what two ranks that have met say on their connection. Numbers are little-endian.
type word struct {
	kind    byte
	n       uint32
	a, b, c uint64
}

// The kinds of words.
const (
	leaving  = 'L' // the sender is about to close, and has sent n packets
	received = 'A' // the receiver has them
	asks     = 'R' // question n: does the receiver offer memory a, whose key is b?
	answers  = 'W' // to question n: the memory is at a under key b, and has c bytes; 0: it does not
	retracts = 'C' // the sender takes memory n back
	let      = 'c' // the receiver does not access memory n any more
)

const wordSize = 29

// sayLeaving tells a peer that this process leaves.
func (p *peer) sayLeaving(t *Transport) {
	t.mu.Lock()
	n := p.sent
	t.mu.Unlock()
	p.say(t, word{kind: leaving, n: n})
}

// say says a word to a peer. A peer that does not hear it notices the end of the connection.
func (p *peer) say(t *Transport, w word) {
	t.mu.Lock()
	var c net.Conn
	if len(p.conns) > 0 {
		c = p.conns[0]
	}
	t.mu.Unlock()
	if c == nil {
		return
	}
	b := binary.LittleEndian.AppendUint32([]byte{w.kind}, w.n)
	for _, v := range [...]uint64{w.a, w.b, w.c} {
		b = binary.LittleEndian.AppendUint64(b, v)
	}
	_ = c.SetWriteDeadline(time.Now().Add(leavePatience))
	_, _ = c.Write(b)
}

func parseWord(b *[wordSize]byte) word {
	return word{
		b[0], binary.LittleEndian.Uint32(b[1:]), binary.LittleEndian.Uint64(b[5:]), binary.LittleEndian.Uint64(b[13:]),
		binary.LittleEndian.Uint64(b[21:]),
	}
}

// errEnded reports a peer whose process has ended, errStuck one that does not let an access to its memory end.
var (
	errEnded = errors.New("weft: fabric: the connection has ended")
	errStuck = errors.New("weft: fabric: an access to its memory does not end")
)

// listen hears what a peer says on a connection, and notices its end.
func (t *Transport) listen(p *peer, c net.Conn) {
	defer t.drop(c)
	var b [wordSize]byte
	for {
		if _, err := io.ReadFull(c, b[:]); err != nil {
			break
		}
		switch w := parseWord(&b); w.kind {
		case leaving:
			t.catchUp(p, w.n)
			p.say(t, word{kind: received, n: w.n})
		case asks:
			t.answer(p, w)
		case answers:
			t.heard(w)
		case retracts:
			t.serving.Go(func() { t.closeWindow(p, w.n) })
		case let:
			t.letGo(p, w.n)
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
