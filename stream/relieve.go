package stream

import (
	"sync/atomic"
	"syscall"
)

// A ring grows only while it is empty, so that a ring in use may hold less than Config.Buffer. Two ends that both
// write before they read, as clients that send many requests at once and their servers do, would then wait for each
// other where the buffers of a socket have room. So a writer that finds its ring full takes what the peer has written
// into memory of its own (spill), as much as a ring holds at most. That wakes a peer which waits for room. Of two
// writers the last one to wait takes the other one's bytes: one of them goes on until both have taken a ring's worth,
// and then reads.

// relieve takes what the peer has written, unless another goroutine reads. wr is held, and this side writes into
// memory.
func (c *Conn) relieve() {
	if !c.rd.TryLock() {
		return
	}
	defer c.rd.Unlock()
	if c.in == nil && !c.relieveSocket() {
		return
	}
	for most := len(c.out.Data()); len(c.spill) < most; {
		b, err := c.in.Peek()
		if err != nil || len(b) == 0 {
			return // what is wrong is for Read to tell
		}
		b = b[:min(len(b), most-len(c.spill))]
		c.spill = append(c.spill, b...)
		c.takeRing(len(b))
	}
}

// relieveSocket takes what is left on the socket, if the peer writes into memory since, and reports whether this side
// reads the memory now. rd and wr are held.
func (c *Conn) relieveSocket() bool {
	e := &c.early
	if e.refused != nil || c.eof || !e.arriving.Begun() {
		return false
	}
	b := make([]byte, earlyBytes)
	for len(e.said) < len(c.out.Data()) {
		n, ended := c.receiveNow(b)
		e.said = append(e.said[:len(e.said):len(e.said)], b[:n]...)
		if ended {
			said := e.said
			if !c.moveIn() {
				return false
			}
			e.said = nil
			c.spill = said
			return true
		}
		if n == 0 {
			return false
		}
	}
	return false
}

// receiveNow is receiveOnce without waiting: ended says that the socket's stream has ended. rd is held.
func (c *Conn) receiveNow(b []byte) (n int, ended bool) {
	if c.role == accepting {
		raw, err := c.first.SyscallConn()
		if err != nil {
			return 0, false
		}
		errno := raw.Control(func(fd uintptr) { n, err = syscall.Read(int(fd), b) })
		return max(n, 0), errno == nil && err == nil && n == 0
	}
	e := &c.early
	e.into = b
	defer func() { e.into = nil }()
	came := false
	if e.raw.Control(func(fd uintptr) { came = e.got.Receive(fd, b) }) != nil || !came || e.got.Errno != nil {
		return 0, false
	}
	ended = e.got.N == 0
	n, _ = c.received() // an error is for Read to tell
	return n, ended
}

// takeRing is take of what lies in the ring.
func (c *Conn) takeRing(n int) {
	c.in.Take(n)
	if bell := c.in.ProducerBell(); atomic.LoadUint32(bell) != awake && c.in.Wanted() {
		c.ring(bell)
	}
}
