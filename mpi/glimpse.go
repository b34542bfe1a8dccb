package mpi

// Most messages come while the goroutine that waits for them looks for the first time. Such a wait needs no context, no
// signal, and no place among those that wait.

// peek looks for a message for a goroutine that is about to wait for one in a communicator, and reports whether one is
// in came as a whole. It does not look if a message or a receive waits in the communicator. The lock is held.
func (w *world) peek(c *Comm) (whole bool) {
	if c.q.Idle() && !w.driving && !w.half {
		_, whole = w.see()
	}
	return whole
}

// receive is Recv if a message that peek has found can be copied at once: then there is no need of a receive. It
// reports whether it was so. The lock is held.
func (c *Comm) receive(b *Buffer, from int, key, mask uint64) (st Status, ok bool) {
	a := &c.w.came
	h := &a.head
	place, ok := c.takes(a, from, key, mask)
	if !ok || h.form == synchronous || h.kind != b.kind || int(h.size) != b.size || h.length > uint64(b.count()) {
		return st, false
	}
	c.traceTaken(a, from, key, mask)
	b.unpack(a.body)
	c.w.changed()
	return h.status(place), true
}

// begin posts a receive for which the goroutine waits now. If peek has found a message the receive comes first: most
// are its own, and then neither needs a place in a queue. The lock is held.
func (r *receive) begin(whole bool) {
	w := r.c.w
	if !whole {
		r.post()
		return
	}
	if place, ok := r.c.takes(&w.came, r.source, r.key, r.mask); ok {
		r.c.traceTaken(&w.came, r.source, r.key, r.mask)
		r.meet(place, &w.came.message)
		return
	}
	r.post()
	w.deliver(&w.came)
}

// takes reports whether a message would go to a receive that is posted now, and the sender's place. The lock is held.
func (c *Comm) takes(a *arrival, source int, key, mask uint64) (place int, ok bool) {
	if a.head.comm != c.id || (a.head.key()^key)&mask != 0 || !c.q.Idle() || c.over() != nil {
		return 0, false
	}
	place = c.group.find(a.from)
	return place, place >= 0 && (source == AnySource || source == place)
}

// glimpse takes the messages that come as soon as the goroutine looks, until r waits no more. Most waits are over with
// that: what comes later is for wait. The lock is held.
func (w *world) glimpse(r *receive) {
	for r.state == waiting && !w.driving && !w.half {
		came, whole := w.see()
		if !came {
			break
		}
		if whole {
			w.deliver(&w.came)
		}
	}
}

// see looks for a message, and reports whether one has come, and whether it is in came as a whole. Nobody drives. The
// lock is held meanwhile: a look ends within microseconds, and to give the lock up and take it again would cost a
// message of a few bytes a tenth of its time.
func (w *world) see() (came, whole bool) {
	from, n, came := w.look.Glimpse(w.scratch)
	return came, came && w.parse(from, w.scratch[:n])
}
