package match

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"weft"
	"weft/extend"
)

// A Receive is a receive that has been started. The program must call Wait exactly once, and must
// not use the Receive after that.
type Receive struct {
	m         *Matcher
	source    int
	tag, mask uint64
	ticket    Ticket[*Receive]

	ended bool
	d     weft.Delivery
	err   error
	wake  *extend.Signal // it has ended, or the mailbox is to be driven
}

// end ends a receive, and wakes the goroutine that waits for it.
func (r *Receive) end(d weft.Delivery, err error) {
	if !r.ended { // a probe may have ended already
		r.ended = true
		r.d = d
		r.err = err
		r.rouse()
	}
}

// rouse wakes the goroutine that waits for the receive.
func (r *Receive) rouse() {
	r.wake.Set()
}

// Recv receives the first message from a source, or from Any, whose tag matches tag in the bits of
// the mask, and waits for it. It has priority over receives that are posted later. The Delivery is
// on loan to the program until its Release, and with it the room in the sender's ring.
//
// If ctx ends first the receive is withdrawn, nothing is lost, and the error is a weft.WaitError;
// if a message has come by then it is received all the same. When the mailbox is closed, receives
// that wait end with weft.ErrClosed. A source outside the job is a weft.RankError.
//
// If the source has died, the error is a weft.PeerError as soon as no message of it is left;
// receives from Any report each death once. As in a mailbox, a rank that leaves in good order has
// not died; but when the last one has left, receives from all of them end. A death is noticed while
// some goroutine waits in Recv, Wait or Probe; the other calls know only the deaths noticed so far.
func (m *Matcher) Recv(ctx context.Context, source int, tag, mask uint64) (weft.Delivery, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r, err := m.start(source, tag, mask)
	if err != nil {
		return weft.Delivery{}, err
	}
	return m.finish(ctx, r)
}

// Start begins Recv: when it returns the receive has been posted, and it does not wait.
func (m *Matcher) Start(source int, tag, mask uint64) (*Receive, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.start(source, tag, mask)
}

// Wait returns the message of a receive that was started. Errors are those of Recv. If ctx ends
// first the receive is withdrawn, so Wait with a context that has ended cancels the receive.
func (r *Receive) Wait(ctx context.Context) (weft.Delivery, error) {
	r.m.mu.Lock()
	defer r.m.mu.Unlock()
	return r.m.finish(ctx, r)
}

// Done takes messages that have arrived from the mailbox, and reports whether Wait would return at
// once.
func (r *Receive) Done() bool {
	r.m.mu.Lock()
	defer r.m.mu.Unlock()
	return r.m.poll(r) != weft.ErrWouldBlock
}

// TryRecv is Recv without waiting: if it would have to wait, the error is weft.ErrWouldBlock. While
// another goroutine waits for the mailbox, that goroutine takes what arrives, and TryRecv sees it
// afterwards.
func (m *Matcher) TryRecv(source int, tag, mask uint64) (weft.Delivery, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r, err := m.start(source, tag, mask)
	if err != nil {
		return weft.Delivery{}, err
	}
	defer m.put(r)
	if err := m.poll(r); err != nil {
		m.q.Cancel(r.ticket)
		return weft.Delivery{}, err
	}
	return r.d, r.err
}

// An Envelope describes a message: its sender, tag and length.
type Envelope struct {
	From int
	Tag  uint64
	Len  int // bytes
}

// Probe returns the envelope of the message that Recv would receive, and leaves the message; it
// waits until there is one. Another goroutine may receive the message in between. Errors are those
// of Recv; a death that a Probe from Any has reported is not reported to a receive from Any.
func (m *Matcher) Probe(ctx context.Context, source int, tag, mask uint64) (Envelope, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.check(source); err != nil {
		return Envelope{}, err
	}
	if e, ok := m.q.Peek(source, tag, mask); ok {
		return Envelope{e.From, e.Tag, len(e.Data)}, nil
	}
	if err := m.why(source); err != nil {
		return Envelope{}, err
	}
	r := m.get(source, tag, mask)
	defer m.put(r)
	m.probes = append(m.probes, r)
	err := m.wait(ctx, r)
	m.probes = drop(m.probes, r)
	if err == nil {
		err = r.failure()
	}
	if err != nil {
		return Envelope{}, err
	}
	return Envelope{r.d.From, r.d.Tag, len(r.d.Data)}, nil
}

// check returns an error unless there is such a source.
func (m *Matcher) check(source int) error {
	if n := m.q.Sources(); source != Any && (source < 0 || source >= n) {
		return &weft.RankError{Rank: source, Size: n}
	}
	return nil
}

// start posts a receive. The receive has ended at once if its message is there, or cannot come.
func (m *Matcher) start(source int, tag, mask uint64) (*Receive, error) {
	if err := m.check(source); err != nil {
		return nil, err
	}
	r := m.get(source, tag, mask)
	e, t, ok := m.q.Post(source, tag, mask, r)
	if ok {
		m.stats.InRing -= e.Room()
		r.d = e.Delivery
		r.ended = true
		return r, nil
	}
	if err := m.why(source); err != nil {
		m.q.Cancel(t)
		r.err = err
		r.ended = true
		return r, nil //nolint:nilerr // Wait returns it
	}
	r.ticket = t
	return r, nil
}

// finish waits for a receive, and takes the Receive back.
func (m *Matcher) finish(ctx context.Context, r *Receive) (weft.Delivery, error) {
	defer m.put(r)
	if !r.ended {
		if err := m.wait(ctx, r); err != nil {
			m.q.Cancel(r.ticket)
			return weft.Delivery{}, err
		}
	}
	return r.d, r.failure()
}

// wait returns when r has ended, or cannot end. Of the goroutines in wait one drives: it takes
// messages from the mailbox, and hands them to the receives that they match. When it leaves, it
// makes another goroutine drive. The lock is held, but not while the goroutine sleeps.
func (m *Matcher) wait(ctx context.Context, r *Receive) error {
	m.waiting = append(m.waiting, r)
	defer m.leave(r)
	for !r.ended {
		if m.driving {
			m.mu.Unlock()
			err := r.wake.Wait(ctx)
			m.mu.Lock()
			if err != nil && !r.ended {
				return m.givenUp(r, err)
			}
			continue
		}
		d, err := m.next(ctx)
		switch {
		case err == nil:
			m.deliver(d)
		case m.died(err) || r.ended:
		case errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded):
			return m.givenUp(r, err)
		default:
			return err
		}
	}
	return nil
}

// next waits for the mailbox's next message; one goroutine at a time may be in it. With Config.Copy
// it first empties the rings, since a sender that finds its ring full does not wake the goroutine
// that waits.
func (m *Matcher) next(ctx context.Context) (weft.Delivery, error) {
	if m.copy && m.stats.InRing > 0 {
		if d, err := m.box.TryNext(); err != weft.ErrWouldBlock {
			return d, err
		}
		m.settle()
	}
	m.driving = true
	m.mu.Unlock()
	defer func() {
		m.mu.Lock()
		m.driving = false
	}()
	return m.box.Next(ctx)
}

// leave ends the wait for r, and has another goroutine drive if r's goroutine did.
func (m *Matcher) leave(r *Receive) {
	m.waiting = drop(m.waiting, r)
	if !m.driving && len(m.waiting) > 0 {
		m.waiting[0].rouse()
	}
}

// poll takes messages that have arrived, until r has ended. If it has not, the error is
// weft.ErrWouldBlock or the mailbox's.
func (m *Matcher) poll(r *Receive) error {
	for !r.ended {
		if m.driving {
			return weft.ErrWouldBlock
		}
		d, err := m.box.TryNext()
		if err != nil {
			return err
		}
		m.deliver(d)
	}
	return nil
}

// givenUp returns the error of a receive whose context has ended, with what is known of its
// message.
func (m *Matcher) givenUp(r *Receive, err error) error {
	var w *weft.WaitError
	if errors.As(err, &w) { // of the mailbox, or of the signal
		err = w.Err
	}
	other := 0
	m.q.Newest(r.source, func(*message) bool { other++; return true })
	return &weft.WaitError{Doing: r.doing(), Knows: fmt.Sprintf("messages from there with other tags: %d", other),
		Err: err}
}

// failure returns the error of a receive that has ended. A departure is wrapped with a description
// of the receive.
func (r *Receive) failure() error {
	if gone, ok := r.err.(*weft.PeerError); ok {
		return &weft.WaitError{Doing: r.doing(), Err: gone}
	}
	return r.err
}

// doing describes the receive.
func (r *Receive) doing() string {
	from := "any rank"
	if r.source != Any {
		from = fmt.Sprintf("rank %d", r.source)
	}
	return fmt.Sprintf("receive from %s, tag %#x, mask %#x", from, r.tag, r.mask)
}

// get returns a Receive that is not in use.
func (m *Matcher) get(source int, tag, mask uint64) *Receive {
	var r *Receive
	if n := len(m.spare); n > 0 {
		r = m.spare[n-1]
		m.spare = m.spare[:n-1]
	} else {
		r = &Receive{m: m, wake: extend.NewSignal(m.p)}
	}
	r.source = source
	r.tag = tag
	r.mask = mask
	return r
}

// put takes a Receive back.
func (m *Matcher) put(r *Receive) {
	r.wake.Reset() // the goroutine that waited has returned
	*r = Receive{m: m, wake: r.wake}
	m.spare = append(m.spare, r)
}

// drop removes r from s.
func drop(s []*Receive, r *Receive) []*Receive {
	i := slices.Index(s, r)
	return slices.Delete(s, i, i+1)
}
