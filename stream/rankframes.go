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

// An outFrame is a frame for the sender. A payload has room for the header before it.
type outFrame struct {
	frame
	payload []byte
}

// control sends a frame without data, at once if that takes no waiting and nothing of this
// connection is on its way to the sender. mu is held.
func (c *RankConn) control(f frame) {
	if c.cut != nil || c.ended && c.stopped { // nobody is there to listen
		return
	}
	f.id, f.dialled = c.id.n, c.id.mine
	if !c.n.hosted && !c.queued {
		f.put(c.scratch[:])
		err := c.n.port.TrySend(c.id.rank, c.scratch[:])
		if !errors.Is(err, weft.ErrAgain) {
			if err != nil {
				c.cut = err
				c.answer(err)
				c.wr.kick()
			}
			return
		}
	}
	if f.kind == frameCredit { // the last one says all
		for i := range c.due {
			if c.due[i].kind == frameCredit {
				c.due[i].frame = f
				return
			}
		}
	}
	c.enqueue(outFrame{frame: f})
}

// enqueue leaves a frame to the sender. mu is held.
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

// transmit sends data, which is copied. It waits where the port has no room, until the
// writer is kicked: that is context.Canceled. In a simulation the sender does it.
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

// send sends what could not be sent at once, until the Proc ends.
func (n *Network) send() {
	allSent := sync.OnceFunc(func() { close(n.sent) })
	for {
		n.mu.Lock()
		var c *RankConn
		var job func()
		closing := n.closing
		switch {
		case len(n.jobs) > 0:
			job, n.jobs = n.jobs[0], n.jobs[1:]
		case len(n.due) > 0:
			c, n.due = n.due[0], n.due[1:]
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

// send sends what is due, in order.
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

// handle does what a frame of the peer says. What breaks the rules ends the connection.
func (c *RankConn) handle(f frame, payload []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch f.kind {
	case frameAccept:
		if c.id.mine && c.grant == 0 {
			c.grant = min(uint64(f.arg), MostBuffer)
			c.answer(nil)
		}
	case frameRefuse:
		c.answer(syscall.ECONNREFUSED)
	case frameData:
		c.arrived(payload)
	case frameCredit:
		more := int32(f.arg - uint32(c.acked)) // one that was overtaken is less than nothing
		if more > 0 && uint64(more) > c.sent-c.acked {
			c.gone, c.cut = ErrCorrupt, ErrCorrupt
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

// arrived takes data in. mu is held.
func (c *RankConn) arrived(payload []byte) {
	switch c.received += uint64(len(payload)); {
	case c.ended, c.received-c.read > uint64(c.n.window):
		c.gone, c.cut = ErrCorrupt, ErrCorrupt
		c.rd.kick()
		c.wr.kick()
	case c.rd.shut.Load(): // the peer has been told to stop
		c.read += uint64(len(payload))
	default:
		c.in.put(payload)
		c.rd.kick()
	}
}

// answer ends the wait of a dial.
func (c *RankConn) answer(err error) {
	select {
	case c.answered <- err:
	default:
	}
}

// accept tells the dialler that a listener has the connection, and reports whether it
// is still wanted.
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

// refuse tells the dialler that nobody listens.
func (c *RankConn) refuse() {
	c.mu.Lock()
	c.control(frame{kind: frameRefuse})
	c.mu.Unlock()
	c.n.forget(c)
}

// cutOff notes why nothing can be sent any more.
func (c *RankConn) cutOff(why error) {
	c.mu.Lock()
	if c.cut == nil {
		c.cut = why
	}
	c.mu.Unlock()
	c.answer(why)
	c.wr.kick()
}

// lost notes why nothing comes any more, behind all that has come, and nothing can be sent.
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

// A sendCall is the context of sending: it ends when the writer is kicked. Unlike those of
// package context it is made once, and not again before it has ended.
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
