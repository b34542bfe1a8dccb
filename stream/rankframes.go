package stream

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"weft"
)

// An outFrame is a frame that the network's sending goroutine is to send. A payload has headerBytes
// of room for the header before its data.
type outFrame struct {
	frame
	payload []byte
}

// control sends a frame without data. It sends the frame at once if the port has room and no
// earlier frame of this connection waits; otherwise it leaves the frame to the sending goroutine.
// mu is held.
func (c *RankConn) control(f frame) {
	if c.cut != nil || c.ended && c.stopped { // the peer has closed the connection, or is gone
		return
	}
	f.id = c.id.n
	f.dialled = c.id.mine
	if !c.n.hosted && !c.queued {
		f.put(c.scratch[:])
		err := c.n.port.TrySend(c.id.rank, c.scratch[:])
		if !errors.Is(err, weft.ErrWouldBlock) {
			if err != nil {
				c.cut = err
				c.answer(err)
				c.wr.kick()
			}
			return
		}
	}
	if f.kind == frameCredit { // a later credit replaces an earlier one
		for i := range c.due {
			if c.due[i].kind == frameCredit {
				c.due[i].frame = f
				return
			}
		}
	}
	c.enqueue(outFrame{frame: f})
}

// open dials.
func (c *RankConn) open() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.control(frame{kind: frameOpen, arg: uint32(c.n.window)})
}

// enqueue leaves a frame to the sending goroutine. mu is held.
func (c *RankConn) enqueue(f outFrame) {
	c.due = append(c.due, f)
	if !c.queued {
		c.queued = true
		c.n.mu.Lock()
		c.n.due = append(c.n.due, c)
		c.n.mu.Unlock()
		c.n.work.Set()
	}
}

// transmit sends data, which it copies. It waits while the port has no room, until the writer is
// kicked: then the error is context.Canceled. In a simulation the sending goroutine sends the data,
// since the caller may be a goroutine of which the simulated world knows nothing.
func (n *Network) transmit(c *RankConn, b []byte) error {
	f := frame{kind: frameData, dialled: c.id.mine, id: c.id.n}
	c.mu.Lock()
	call := c.call
	if n.hosted {
		payload := make([]byte, headerBytes+len(b))
		copy(payload[headerBytes:], b)
		c.enqueue(outFrame{f, payload})
	}
	c.mu.Unlock()
	if n.hosted {
		return nil
	}
	d, err := n.port.Reserve(call, c.id.rank, headerBytes+len(b))
	if err != nil {
		return err
	}
	f.put(d.Data)
	copy(d.Data[headerBytes:], b)
	return d.Commit(call)
}

// send is the network's sending goroutine: it sends what could not be sent at once, and runs the
// jobs that need a goroutine of the Proc, until the Proc ends.
func (n *Network) send() {
	allSent := sync.OnceFunc(func() { close(n.sent) })
	for {
		n.mu.Lock()
		var c *RankConn
		var job func()
		closing := n.closing
		switch {
		case len(n.jobs) > 0:
			job = n.jobs[0]
			n.jobs = n.jobs[1:]
		case len(n.due) > 0:
			c = n.due[0]
			n.due = n.due[1:]
		}
		n.mu.Unlock()
		switch {
		case job != nil:
			job()
		case c != nil:
			c.send()
		default:
			if closing {
				allSent()
			}
			if n.work.Wait(n.ctx) != nil {
				return
			}
		}
	}
}

// send sends the connection's frames that wait, in order.
func (c *RankConn) send() {
	for {
		c.mu.Lock()
		due := c.due
		c.due = nil
		if len(due) == 0 {
			c.queued = false
			c.mu.Unlock()
			return
		}
		c.mu.Unlock()
		for _, f := range due {
			b := f.payload
			if b == nil {
				b = make([]byte, headerBytes)
			}
			f.put(b)
			if err := c.n.port.Send(c.n.ctx, c.id.rank, b); err != nil {
				c.cutOff(err)
				break
			}
		}
	}
}

// handle does what a frame of the peer says. A frame that breaks the protocol ends the connection.
func (c *RankConn) handle(f frame, payload []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch f.kind {
	case frameAccept:
		if c.id.mine && c.grant == 0 {
			c.grant = min(uint64(f.arg), MaxBuffer)
			c.answer(nil)
		}
	case frameRefuse:
		c.answer(syscall.ECONNREFUSED)
	case frameData:
		c.arrived(payload)
	case frameCredit:
		more := int32(f.arg - uint32(c.acked)) // negative if a later credit has overtaken this one
		if more > 0 && uint64(more) > c.sent-c.acked {
			c.gone = ErrCorrupt
			c.cut = ErrCorrupt
			c.rd.kick()
		} else if more > 0 {
			c.acked += uint64(more)
		}
		c.wr.kick()
	case frameEnd:
		c.ended = true
		c.rd.kick()
	case frameStop:
		c.stopped = true
		c.wr.kick()
	}
}

// arrived queues data for Read. mu is held.
func (c *RankConn) arrived(payload []byte) {
	switch c.received += uint64(len(payload)); {
	case c.ended, c.received-c.read > uint64(c.n.window):
		c.gone = ErrCorrupt
		c.cut = ErrCorrupt
		c.rd.kick()
		c.wr.kick()
	case c.rd.shut.Load(): // sent before the peer learnt that nothing more is read
		c.read += uint64(len(payload))
	default:
		c.in.put(payload)
		c.rd.kick()
	}
}

// answer ends the wait of a dial. On a connection that was accepted it does nothing.
func (c *RankConn) answer(err error) {
	select {
	case c.answered <- err:
	default:
	}
}

// accept tells the dialler that the listener has taken the connection, and reports whether the
// dialler still wants it.
func (c *RankConn) accept() bool {
	c.mu.Lock()
	wanted := c.gone == nil && !(c.ended && c.stopped)
	if wanted {
		c.control(frame{kind: frameAccept, arg: uint32(c.n.window)})
	}
	c.mu.Unlock()
	if !wanted {
		c.n.forget(c)
	}
	return wanted
}

// refuse tells the dialler that no listener takes the connection.
func (c *RankConn) refuse() {
	c.mu.Lock()
	c.control(frame{kind: frameRefuse})
	c.mu.Unlock()
	c.n.forget(c)
}

// cutOff notes why nothing more can be sent, and ends the calls of Dial and Write that wait.
func (c *RankConn) cutOff(why error) {
	c.mu.Lock()
	if c.cut == nil {
		c.cut = why
	}
	c.mu.Unlock()
	c.answer(why)
	c.wr.kick()
}

// lost notes that the peer's rank is gone: nothing more can be sent, and nothing more comes behind
// what has been received.
func (c *RankConn) lost(why error) {
	c.cutOff(why)
	c.mu.Lock()
	if c.gone == nil {
		c.gone = why
	}
	if c.call != nil {
		c.call.end()
	}
	c.mu.Unlock()
	c.rd.kick()
}

// A sendCall is the context of the calls by which a writer sends. It ends when the writer is
// kicked. A writer uses one sendCall until it has ended, where package context would need one for
// each call.
type sendCall struct {
	done  chan struct{}
	ended atomic.Bool
}

func newSendCall() *sendCall { return &sendCall{done: make(chan struct{})} }

func (s *sendCall) end() {
	if s.ended.CompareAndSwap(false, true) {
		close(s.done)
	}
}

func (s *sendCall) Deadline() (time.Time, bool) { return time.Time{}, false }
func (s *sendCall) Done() <-chan struct{}       { return s.done }
func (s *sendCall) Value(any) any               { return nil }

func (s *sendCall) Err() error {
	if s.ended.Load() {
		return context.Canceled
	}
	return nil
}
