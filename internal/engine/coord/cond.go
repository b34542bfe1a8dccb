package coord

import (
	"slices"

	"weft/failure"
	"weft/internal/engine/list"
	"weft/internal/engine/wire"
	"weft/internal/monotime"
)

// Bit as N makes an operation one on the bit of a condition: Broadcast sets it, Signal clears it, and Enter waits
// only while it is clear. ([Hayakawa98] §3.2)
const Bit = 1 << 32

// A cond is a condition at a rank that uses it (PROTOCOL §9.4). To wait takes two
// operations: Enter puts the rank on the home's list of waiters, and Await waits until it is
// woken. Between the two the program gives back the lock that guards what it waits for.
type cond struct {
	layer *Layer
	o     *Object

	serial  uint32
	asked   list.List[Op]   // Enter, Signal and Broadcast, until they are answered
	waiters map[uint32]*Op  // on the home's list; nil if Await has not begun
	woken   map[uint32]bool // waiters that were woken before Await
	err     error
}

// start begins an operation of the program.
func (c *cond) start(now monotime.Time, op *Op) {
	if c.err != nil {
		op.now(c.err)
		return
	}
	f := wire.CondEvent{ID: c.o.ID, Serial: c.serial + 1, Signature: uint64(c.o.sig)}
	switch op.Kind {
	case Enter:
		f.Kind = wire.EventCondWait
		f.Bit = op.N == Bit
	case Signal, Broadcast:
		f.Kind = wire.EventCondSet
		f.All = op.Kind == Broadcast
		f.Bit = op.N == Bit
	case Await:
		c.await(op)
		return
	default:
		op.now(c.o.misfit("use", failure.ErrMisuse, "it is a condition"))
		return
	}
	c.serial++
	op.serial = c.serial
	c.asked.Push(&op.link, op)
	c.layer.send(c.o.home, f.Event())
}

// await waits until a waiter, numbered by its Enter, has been woken.
func (c *cond) await(op *Op) {
	serial := uint32(op.N)
	if c.woken[serial] {
		delete(c.woken, serial)
		op.Done = true
		return
	}
	if _, ok := c.waiters[serial]; !ok {
		op.now(c.o.misfit("wait for", failure.ErrMisuse, "this rank is not on its list"))
		return
	}
	op.serial = serial
	c.waiters[serial] = op
}

// cancel takes an operation back. If the home has woken this waiter already, it wakes the
// next one instead.
func (c *cond) cancel(op *Op) bool {
	switch {
	case op.Kind == Await && c.waiters[op.serial] == op:
		delete(c.waiters, op.serial)
	case c.asked.Remove(&op.link):
		if op.Kind != Enter {
			return true
		}
	default:
		return false
	}
	c.withdraw(op.serial)
	return true
}

// withdraw takes a waiter off the home's list.
func (c *cond) withdraw(serial uint32) {
	v := wire.CondEvent{Kind: wire.EventCondCancel, ID: c.o.ID, Serial: serial, Signature: uint64(c.o.sig)}
	c.layer.send(c.o.home, v.Event())
}

// event handles an event of the home. (PROTOCOL §9.4)
func (c *cond) event(now monotime.Time, from int, f wire.Event) error {
	if from != c.o.home {
		return wire.ErrField
	}
	switch v := wire.ParseCondEvent(f); f.Kind {
	case wire.EventCondAck, wire.EventCondCount:
		c.answered(v.Serial, v.Woken)
	case wire.EventCondWake:
		c.wake(v.Serial)
	default:
		return wire.ErrField
	}
	return nil
}

// answered ends an Enter, or a Signal or Broadcast that has woken so many waiters.
func (c *cond) answered(serial uint32, woken uint64) {
	c.asked.Take(func(op *Op) bool { return op.serial == serial }, func(op *Op) {
		op.N = woken
		if op.Kind == Enter {
			if c.waiters == nil {
				c.waiters = map[uint32]*Op{}
				c.woken = map[uint32]bool{}
			}
			c.waiters[serial] = nil
			op.N = uint64(serial)
		}
		c.layer.finish(op, nil)
	})
}

// wake lets a waiter go on, or remembers that it need not wait.
func (c *cond) wake(serial uint32) {
	op, ok := c.waiters[serial]
	delete(c.waiters, serial)
	switch {
	case !ok: // it has given up, and has told the home, which has woken another
	case op == nil:
		c.woken[serial] = true
	default:
		c.layer.finish(op, nil)
	}
}

// down ends the use of the condition if its home is gone.
func (c *cond) down(rank int, cause *failure.PeerError) {
	if rank == c.o.home {
		c.fail(cause)
	}
}

// fail ends the use of the condition for good.
func (c *cond) fail(err error) {
	if c.err == nil {
		c.err = err
	}
	c.layer.finishAll(&c.asked, c.err)
	for serial := uint32(1); serial <= c.serial && len(c.waiters) > 0; serial++ {
		if op := c.waiters[serial]; op != nil {
			c.layer.finish(op, c.err)
		}
		delete(c.waiters, serial)
	}
}

// leave takes the waiters off the home's list if the program of this rank has returned: a signal is for a waiter of
// another rank then. Of a rank that leaves the job the home finds out.
func (c *cond) leave() {
	if !c.layer.returning {
		return
	}
	for _, serial := range sorted(c.waiters) {
		c.withdraw(serial)
	}
	c.fail(failure.ErrClosed)
}

// A condHome keeps the list of the waiters of a condition.
type condHome struct {
	layer   *Layer
	id      uint64
	sig     signature
	bit     bool
	waiting []request
	woken   []request // lately, by one signal each: a waiter that gives up hands it on
}

// maxWoken is how many woken waiters are remembered, because a waiter may give up after it has been woken.
const maxWoken = 1024

// event handles a request. (PROTOCOL §9.4)
func (h *condHome) event(from int, f wire.Event) error {
	if !h.layer.agree(from, f, h.sig) {
		return nil
	}
	switch v := wire.ParseCondEvent(f); f.Kind {
	case wire.EventCondWait:
		h.layer.send(from, wire.CondEvent{Kind: wire.EventCondAck, ID: h.id, Serial: v.Serial}.Event())
		if v.Bit && h.bit {
			h.layer.send(from, wire.CondEvent{Kind: wire.EventCondWake, ID: h.id, Serial: v.Serial}.Event())
			return nil
		}
		h.waiting = append(h.waiting, request{rank: from, serial: v.Serial})
	case wire.EventCondSet:
		n := uint64(0)
		if v.Bit {
			h.bit = v.All
		}
		for ; len(h.waiting) > 0 && (v.All || n == 0 && !v.Bit); n++ {
			h.wake(!v.All)
		}
		count := wire.CondEvent{Kind: wire.EventCondCount, ID: h.id, Serial: v.Serial, Woken: n}
		h.layer.send(from, count.Event())
	case wire.EventCondCancel:
		h.cancel(request{rank: from, serial: v.Serial})
	default:
		return wire.ErrField
	}
	return nil
}

// cancel takes a waiter off the list. If one signal has woken it, the next waiter is woken.
func (h *condHome) cancel(r request) {
	same := func(w request) bool { return w == r }
	switch {
	case slices.ContainsFunc(h.waiting, same):
		h.waiting = slices.DeleteFunc(h.waiting, same)
	case slices.ContainsFunc(h.woken, same):
		h.woken = slices.DeleteFunc(h.woken, same)
		h.wake(true)
	}
}

// wake wakes the waiter that has waited longest, if there is one.
func (h *condHome) wake(one bool) {
	if len(h.waiting) == 0 {
		return
	}
	o := h.waiting[0]
	h.waiting = slices.Delete(h.waiting, 0, 1)
	if one {
		if len(h.woken) == maxWoken {
			h.woken = slices.Delete(h.woken, 0, 1)
		}
		h.woken = append(h.woken, o)
	}
	h.layer.send(o.rank, wire.CondEvent{Kind: wire.EventCondWake, ID: h.id, Serial: o.serial}.Event())
}

// down takes a rank that is gone off the lists.
func (h *condHome) down(rank int) {
	h.waiting = slices.DeleteFunc(h.waiting, func(o request) bool { return o.rank == rank })
	h.woken = slices.DeleteFunc(h.woken, func(o request) bool { return o.rank == rank })
}

func (h *condHome) fenced() {}
