package mpi

// Most messages come while the goroutine that waits for them looks for the first time. Such a wait needs no context, no
// signal, and no place among those that wait.

// begin posts a receive for which the goroutine waits now. If neither a message nor a receive waits in the
// communicator, it looks first whether the next message is the receive's: most are, and then neither needs a place in a
// queue. The lock is held, but not meanwhile.
func (r *receive) begin() {
	w := r.c.w
	if !r.c.q.Idle() || w.driving || w.half {
		r.post()
		return
	}
	_, whole := w.see()
	if place, ok := r.takes(&w.came); whole && ok {
		r.c.tracePosted(r.source, r.key, r.mask)
		w.look.TraceCame(w.came.from, r.c.traceTag(w.came.head.key()))
		r.meet(place, &w.came.message)
	} else {
		r.post()
		if whole {
			w.deliver(&w.came)
		}
	}
	w.pass()
}

// takes reports whether a message would go to a receive that is posted now, and the sender's place. The lock is held.
func (r *receive) takes(a *arrival) (place int, ok bool) {
	c := r.c
	if a.head.comm != c.id || (a.head.key()^r.key)&r.mask != 0 || !c.q.Idle() || c.over() != nil {
		return 0, false
	}
	place = c.group.find(a.from)
	return place, place >= 0 && (r.source == AnySource || r.source == place)
}

// glimpse takes the messages that come as soon as the goroutine looks, until r waits no more. Most waits are over with
// that: what comes later is for wait. The lock is held, but not meanwhile.
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
	w.pass()
}

// see looks for a message, and reports whether one has come, and whether it is in came as a whole. Nobody drives. The
// lock is held, but not meanwhile.
func (w *world) see() (came, whole bool) {
	w.driving = true
	w.unlock()
	from, n, came := w.look.Glimpse(w.scratch)
	whole = came && w.parse(from, w.scratch[:n])
	w.mu.Lock()
	w.driving = false
	return came, whole
}
