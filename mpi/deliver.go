package mpi

import (
	"context"

	"weft"
	"weft/extend"
	"weft/internal/match"
)

// take takes the next message from the channel of short messages, and the offer of its bytes if they are apart, and
// reports whether that is in came now. One goroutine at a time may be in it, without the lock. It takes nothing of a
// message that is none, or whose sender has gone.
func (w *world) take(ctx context.Context) (ok bool, err error) {
	if !w.half {
		n, from, err := w.short.one.RecvInto(ctx, w.scratch)
		if err != nil {
			return false, err
		}
		if ok = w.parse(from, w.scratch[:n]); !w.half {
			return ok, nil
		}
	}
	return w.takeRest(ctx)
}

// tryTake is take without waiting: if there is no message the error is weft.ErrWouldBlock.
func (w *world) tryTake() (ok bool, err error) {
	if !w.half {
		m, err := w.look.TryRecvCopy(w.scratch)
		if err != nil {
			return false, err
		}
		ok = w.parse(m.From, m.Data)
		if m.Release(); !w.half {
			return ok, nil
		}
	}
	return w.takeRest(context.Background()) // the offer follows its header
}

// parse puts a message of the channel of short messages into came, and reports whether it is one as a whole. If its
// bytes are apart it is half of one, and takeRest must follow.
func (w *world) parse(from int, b []byte) (whole bool) {
	a := &w.came
	a.from = from
	a.offer = extend.Offer{}
	if a.body, whole = a.head.parse(b); whole {
		w.half = a.head.form == apart
	}
	return whole && !w.half
}

// takeRest takes the offer of the bytes of a long message of which the header has been taken.
func (w *world) takeRest(ctx context.Context) (ok bool, err error) {
	a := &w.came
	a.offer, err = w.offer.Accept(ctx, a.from)
	switch {
	case err == nil:
	case departed(err):
		w.half = false // its sender has died with it
		return false, nil
	default:
		return false, err
	}
	w.half = false
	if a.head.class != collective && a.offer.Size != a.head.bytes() {
		a.offer.Refuse()
		return false, nil
	}
	return true, nil
}

// deliver gives a message that has arrived to the receive that it matches, or keeps it as unexpected. The lock is held.
func (w *world) deliver(a *arrival) {
	if a.head.class == departure {
		if gone := w.parted[int(a.head.root)]; gone != nil && a.from == w.p.Rank() {
			w.lose(gone)
		}
		return
	}
	c := w.comm(a.head.comm)
	if c == nil {
		a.body = w.bodies.clone(a.body)
		e := w.soon(a.head.comm)
		e.messages = append(e.messages, *a)
		return
	}
	place := c.group.find(a.from)
	switch {
	case place < 0:
		w.refuse(a.offer)
		return
	case c.revoked != nil:
		c.giveUp(place, a.offer)
		return
	}
	c.w.look.TraceCame(a.from, c.traceTag(a.head.key()))
	if r, ok := c.q.Match(place, a.head.key()); ok {
		r.meet(place, &a.message)
		return
	}
	if a.head.class == collective && c.missed(place, &a.head) {
		c.giveUp(place, a.offer)
		return
	}
	a.body = w.bodies.clone(a.body)
	c.q.Keep(place, a.head.key(), a.message)
	w.announce(c, place, &a.head)
}

// announce ends the probes that a message matches which no receive waited for. The lock is held.
func (w *world) announce(c *Comm, place int, h *header) {
	for _, r := range w.probes {
		if r.state == waiting && r.c == c && (r.source == AnySource || r.source == place) && (r.key^h.key())&r.mask == 0 {
			r.look()
		}
	}
}

// soon returns the place of what has come for a communicator that this rank has not made yet. The lock is held.
func (w *world) soon(id uint64) *early {
	e := w.early[id]
	if e == nil {
		e = &early{}
		w.early[id] = e
	}
	return e
}

// giveUp turns away the sender of a long message of a communicator that is over. If the communicator is revoked the
// news of that ends the send. A refusal could come before the news, and would not say why. The lock is held.
func (c *Comm) giveUp(place int, o extend.Offer) {
	if c.told == nil {
		c.w.refuse(o)
		return
	}
	c.tell(place)
	if o.Open() {
		c.w.later(o.Drop)
	}
}

// refuse turns away the sender of a long message. The lock is held.
func (w *world) refuse(o extend.Offer) {
	if o.Open() {
		w.later(o.Refuse)
	}
}

// meet gives a message to the receive that it matches: its elements are copied, or the goroutine that waits for the
// receive fetches them. The lock is held.
func (r *receive) meet(place int, m *message) {
	w := r.c.w
	if r.taking {
		r.got = *m
		r.got.body = w.bodies.clone(m.body)
		r.status = m.head.status(place)
		r.end(nil)
		return
	}
	r.status = m.head.status(place)
	err := r.fits(place, m)
	if m.head.form == synchronous {
		h := header{comm: r.c.id, tag: m.head.root, class: acknowledgement}
		to := r.c.group.at(place)
		w.later(func() { w.acknowledge(to, h) })
	}
	switch {
	case m.offer.Open():
		r.got = *m
		r.err = err
		r.state = offered
		if r.started != nil {
			r.started.fetchLater()
		}
		r.rouse()
	case err != nil:
		r.end(err)
	default:
		r.into.unpack(m.body)
		r.end(nil)
	}
}

// acknowledge tells the sender of a synchronous message that it has been received.
func (w *world) acknowledge(to int, h header) {
	var b [headSize]byte
	h.put(b[:])
	if op, err := w.short.one.StartSend(to, b[:]); err == nil && !op.Done() {
		w.p.Go(func() { _ = op.Wait(context.Background()) }) // a sender that has gone waits for nothing
	}
}

// fits returns an error unless a message is of the kind that the receive asks for, and finds room.
func (r *receive) fits(place int, m *message) error {
	h := &m.head
	rank := r.c.group.at(place)
	switch {
	case r.want != nil:
		return r.want.compare(rank, h, len(m.body)+m.offer.Size, &r.into)
	case h.kind != r.into.kind || int(h.size) != r.into.size:
		return &TypeError{Rank: rank, Got: describe(h.kind, h.size), Want: describe(r.into.kind, uint32(r.into.size))}
	case h.length > uint64(r.into.count()):
		return &TruncateError{Rank: rank, Tag: int(h.tag), Got: int(h.length), Room: r.into.count()}
	}
	return nil
}

// lose ends the receives and probes that wait for a rank only, which has gone. Of the receives from any source one in
// each communicator of the rank is told, the oldest or the next to come: if the rank has died, or if it was the last
// other member. The lock is held.
func (w *world) lose(gone *weft.PeerError) {
	if w.lost[gone.Rank] != nil {
		return
	}
	w.lost[gone.Rank] = gone
	for _, c := range w.list {
		place := c.group.find(gone.Rank)
		if place < 0 {
			continue
		}
		for r, ok := c.q.Withdraw(place); ok; r, ok = c.q.Withdraw(place) {
			r.end(gone)
		}
		var told bool
		all := !gone.Clean || c.alone()
		for _, r := range w.probes {
			if r.c == c && (r.source == place || r.source == AnySource && all && !told) {
				told = told || r.source == AnySource
				r.end(gone)
			}
		}
		if !all || told {
			continue
		}
		if r, ok := c.q.Withdraw(match.Any); ok {
			r.end(gone)
		} else {
			c.news = append(c.news, gone)
		}
	}
}

// alone reports whether all other members have gone. The lock is held.
func (c *Comm) alone() bool {
	if len(c.w.lost) < c.group.n-1 {
		return false
	}
	for place := range c.group.n {
		if place != c.me && c.w.lost[c.group.at(place)] == nil {
			return false
		}
	}
	return true
}

// why returns the error of a receive whose message has not come and cannot come any more, or nil. For a receive from
// any source it takes a departure off the news. The lock is held.
func (c *Comm) why(source int) error {
	if source != AnySource {
		if gone := c.w.lost[c.group.at(source)]; gone != nil {
			return gone
		}
		return nil
	}
	if len(c.news) == 0 {
		return nil
	}
	gone := c.news[0]
	c.news = c.news[1:]
	return gone
}
