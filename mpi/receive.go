package mpi

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"weft"
	"weft/extend"
	"weft/failure"
	"weft/internal/match"
)

// A Status says what a receive has taken, or what a probe has found.
type Status struct {
	Source int // the sender's rank in the communicator; ProcNull of a receive from ProcNull
	Tag    int
	Count  int // elements
}

// nothing is the status of a receive from ProcNull.
var nothing = Status{Source: ProcNull, Tag: AnyTag}

func (h *header) status(place int) Status { return Status{place, int(h.tag), int(h.length)} }

// A receive is a receive or a probe while it goes on.
type receive struct {
	c         *Comm
	source    int
	key, mask uint64
	into      Buffer
	want      *call // of a collective operation: what the sender must have called
	taking    bool  // it takes the message without its elements: MProbe
	ticket    match.Ticket[*receive]
	started   *recvOp // for which no goroutine waits, or nil

	state  state
	status Status
	got    message // whose elements are to be fetched, or have been taken
	err    error
	wake   *extend.Signal // the state has changed, or the channel is to be driven
	asleep bool           // its goroutine waits for wake, or has done so

	looks  int    // of inquire at it
	behind string // what its source has said
	shown  func() // ends that weft ps shows the wait, or nil
}

// A state is how far a receive has come.
type state uint8

const (
	waiting state = iota // for a message
	offered              // a long message has come, and is to be fetched
	ended                // the results are valid
)

// end ends a receive, and wakes the goroutine that waits for it. The lock is held.
func (r *receive) end(err error) {
	if r.state != ended { // a probe may have ended already
		r.state = ended
		r.err = err
		r.rouse()
		r.c.w.changed()
	}
}

// rouse wakes the goroutine that waits for a receive, if it sleeps. The lock is held.
func (r *receive) rouse() {
	if r.asleep {
		r.wake.Set()
	}
}

// get returns a receive that is not in use. The lock is held.
func (w *world) get(c *Comm, source int, key, mask uint64) *receive {
	var r *receive
	if n := len(w.spare); n > 0 {
		r = w.spare[n-1]
		w.spare = w.spare[:n-1]
	} else {
		r = &receive{wake: extend.NewSignal(w.p)}
	}
	r.c = c
	r.source = source
	r.key = key
	r.mask = mask
	return r
}

// put takes a receive back. The lock is held.
func (w *world) put(r *receive) {
	if r.asleep {
		r.wake.Reset() // the goroutine that waited has returned
	}
	r.unshow()
	*r = receive{wake: r.wake}
	w.spare = append(w.spare, r)
}

// post takes a message that has come, or makes the receive wait for one. A receive of a communicator that is over has
// ended at once, and so has one whose message cannot come any more. The lock is held.
func (r *receive) post() {
	c := r.c
	if err := c.over(); err != nil {
		r.end(err)
		return
	}
	c.tracePosted(r.source, r.key, r.mask)
	m, from, t, ok := c.q.Post(r.source, r.key, r.mask, r)
	if ok {
		r.meet(from, &m)
		c.w.bodies.put(m.body)
		return
	}
	r.ticket = t
	if err := c.why(r.source); err != nil {
		c.q.Cancel(t)
		r.end(err)
	}
}

// finish waits for a receive that has been posted, and fetches a long message. The lock is held, but not while the
// goroutine waits.
func (w *world) finish(ctx context.Context, r *receive) error {
	for r.state != ended {
		if r.state == waiting {
			if w.glimpse(r); r.state != waiting {
				continue
			}
			if err := w.wait(ctx, r); err != nil {
				r.c.q.Cancel(r.ticket)
				return err
			}
			continue
		}
		if err := w.fetch(ctx, r); err != nil {
			return err
		}
	}
	return r.failure()
}

// fetch fetches the elements of a long message. If ctx ends first the message is as it was before the receive. If its
// sender has given it up, the receive waits for another one. The lock is held, but not meanwhile.
func (w *world) fetch(ctx context.Context, r *receive) error {
	place := r.status.Source
	b := r.c.bind(ctx)
	w.unlock()
	var memory *room
	into := r.into.b
	if n := r.got.offer.Size; r.into.at != nil || r.err != nil || len(into) < n {
		memory = newRoom()
		into = memory.get(n)
	}
	err := r.got.offer.Take(b, into)
	if memory != nil {
		if err == nil && r.err == nil {
			r.into.unpack(into[:r.got.offer.Size])
		}
		memory.put()
	}
	w.mu.Lock()
	r.c.unbind(b)
	switch {
	case err == nil:
		r.end(r.err)
	case errors.Is(err, failure.ErrWithdrawn):
		r.state = waiting
		r.err = nil
		r.post()
	case !r.got.offer.Open() || r.c.revoked != nil:
		r.c.giveUp(place, r.got.offer)
		if r.c.revoked != nil {
			err = r.c.reason()
		}
		r.end(err)
	default:
		w.giveBack(r.c, place, &r.got)
		return r.givenUp(err)
	}
	return nil
}

// giveBack makes a message unexpected again that a receive has taken, in its old place. The lock is held.
func (w *world) giveBack(c *Comm, place int, m *message) {
	if r, ok := c.q.Match(place, m.head.key()); ok {
		r.meet(place, m)
		return
	}
	c.q.Return(place, m.head.key(), *m)
	w.announce(c, place, &m.head)
}

// wait returns when r is not waiting any more, or cannot go on. Of the goroutines in wait one drives: it takes messages
// from the channel, and hands them to the receives that they match. When it leaves, it makes another goroutine drive.
// The lock is held, but not while the goroutine sleeps.
func (w *world) wait(ctx context.Context, r *receive) error {
	w.waiting = append(w.waiting, r)
	if r.want != nil || r.c.family.parent != nil {
		w.beginInquiry()
	}
	b := r.c.bind(ctx)
	defer w.leave(r, b)
	for r.state == waiting {
		driving := !w.driving
		w.driving = true
		if driving {
			w.driver = r
		} else {
			r.asleep = true
		}
		w.unlock()
		var took bool
		var err error
		if driving {
			took, err = w.take(b)
		} else {
			err = r.wake.Wait(b)
		}
		w.mu.Lock()
		if driving {
			w.driving = false
			w.driver = nil
		}
		if took {
			w.deliver(&w.came)
		}
		switch {
		case err == nil || r.state != waiting:
		case failure.GivenUp(err):
			return r.givenUp(err)
		case departed(err): // watch reports it, and the ranks that have left in good order
		default:
			return err
		}
	}
	return nil
}

// leave ends the wait for r, and has another goroutine drive if r's goroutine did. The lock is held.
func (w *world) leave(r *receive, b *binding) {
	r.c.unbind(b)
	w.waiting = drop(w.waiting, r)
	w.pass()
}

// pass has another goroutine drive, if one waits. The lock is held.
func (w *world) pass() {
	if !w.driving && len(w.waiting) > 0 {
		w.waiting[0].rouse()
	}
}

// poll takes messages that have arrived, until r waits no more or there are none. The lock is held.
func (w *world) poll(r *receive) error {
	for r.state == waiting && !w.driving {
		w.driving = true
		w.unlock()
		took, err := w.tryTake()
		w.mu.Lock()
		if w.driving = false; took {
			w.deliver(&w.came)
		}
		w.pass() // one that found this goroutine driving
		if err == weft.ErrWouldBlock {
			return nil
		}
		if err != nil && !departed(err) {
			return err
		}
	}
	return nil
}

// departed reports whether an error says that a rank has gone.
func departed(err error) bool {
	var gone *weft.PeerError
	return errors.As(err, &gone)
}

// left reports whether an error says that a rank has gone, or has closed its channels.
func left(err error) bool { return err != nil && (departed(err) || errors.Is(err, weft.ErrClosed)) }

// givenUp returns the error of a receive whose context has ended, with what is known of its message. The lock is held.
func (r *receive) givenUp(err error) error {
	if r.c.revoked != nil {
		return r.c.reason()
	}
	var w *weft.WaitError
	if errors.As(err, &w) { // of the channel, or of the signal
		err = w.Err
	}
	knows := r.behind
	if knows == "" {
		knows = fmt.Sprintf("messages that no receive has taken: %d", r.c.q.Unexpected())
	}
	return &weft.WaitError{Doing: r.doing(), Knows: knows, Err: err}
}

// failure returns the error of a receive that has ended. A departure is wrapped with a description of the receive.
func (r *receive) failure() error {
	if gone, ok := r.err.(*weft.PeerError); ok {
		return &weft.WaitError{Doing: r.doing(), Err: gone}
	}
	return r.err
}

// doing describes the receive.
func (r *receive) doing() string {
	from := "any rank"
	if r.source != AnySource {
		from = fmt.Sprintf("rank %d", r.source)
	}
	switch {
	case r.want != nil:
		return fmt.Sprintf("%v: receive from %s of %v", r.want.public(), from, r.c)
	case r.mask == classMask:
		return fmt.Sprintf("receive from %s of %v, any tag", from, r.c)
	}
	return fmt.Sprintf("receive from %s of %v, tag %d", from, r.c, int32(r.key))
}

// receives returns the receives for which goroutines wait, for weft ps. It leaves out receives that are shown already,
// and returns none while the world's lock is held.
func (w *world) receives() (list []extend.Receive) {
	if !w.mu.TryLock() {
		return nil
	}
	defer w.mu.Unlock()
	for _, r := range w.waiting {
		if r.shown != nil {
			continue
		}
		from := weft.Any
		if r.source != AnySource {
			from = r.c.group.at(r.source)
		}
		list = append(list, extend.Receive{From: from, Call: r.doing()})
	}
	for _, c := range w.list {
		list = c.board.waits(list)
	}
	return list
}

// drop removes r from s.
func drop[T comparable](s []T, r T) []T {
	i := slices.Index(s, r)
	return slices.Delete(s, i, i+1)
}
