package match

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"weft"
)

// A Receive is a receive that has been started. Wait must be called exactly once,
// and the Receive not be used after it.
type Receive struct {
	m         *Matcher
	source    int
	tag, mask uint64
	ticket    Ticket[*Receive]

	ended bool
	d     weft.Delivery
	err   error
	wake  *weft.Signal // it has ended, or the mailbox is to be driven
}

// end ends a receive, and wakes who waits for it.
func (r *Receive) end(d weft.Delivery, err error) {
	if !r.ended { // as a probe may be
		r.ended, r.d, r.err = true, d, err
		r.rouse()
	}
}

func (r *Receive) rouse() {
	r.wake.Set()
}

// Recv receives the first message from a source, or Any, whose tag agrees with
// tag in the bits of the mask. It has priority over receives posted later. The
// Delivery is on loan until its Release, and with it room in the sender's ring.
//
// When ctx ends first the receive is given up, nothing is lost, and the error is
// a weft.WaitError; a message that has come by then is received all the same. When
// the mailbox is closed receives that wait end with weft.ErrClosed. A source outside
// the job is a weft.RankError.
//
// The death of the source is a weft.PeerError, when nothing that it sent is left to be
// received; receives from Any report each death once. As for the mailbox, a rank that
// leaves in good order has not died, unless with it the last one leaves: then receives
// from all of them end. A death is found out while some goroutine waits, in Recv, Wait
// or Probe; the other calls know only of those found so far.
func (m *Matcher) Recv(ctx context.Context, source int, tag, mask uint64) (weft.Delivery, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r, err := m.start(source, tag, mask)
	if err != nil {
		return weft.Delivery{}, err
	}
	return m.finish(ctx, r)
}

// Start begins Recv: the receive stands in the posted queue when it returns.
func (m *Matcher) Start(source int, tag, mask uint64) (*Receive, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.start(source, tag, mask)
}

// Wait returns the message of a receive that was started, with the errors of
// Recv. When ctx ends first the receive is given up: with a context that has
// ended already, Wait cancels.
func (r *Receive) Wait(ctx context.Context) (weft.Delivery, error) {
	r.m.mu.Lock()
	defer r.m.mu.Unlock()
	return r.m.finish(ctx, r)
}

// Done takes from the mailbox what has arrived, and reports whether Wait would
// return at once.
func (r *Receive) Done() bool {
	r.m.mu.Lock()
	defer r.m.mu.Unlock()
	return r.m.poll(r) != weft.ErrWouldBlock
}

// TryRecv is Recv if that takes no waiting; if it would, the error is
// weft.ErrWouldBlock. While another goroutine waits for the mailbox, what arrives is
// that one's to take, and TryRecv sees it as soon as it has.
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

// An Envelope is what is written on a message.
type Envelope struct {
	From int
	Tag  uint64
	Len  int // bytes
}

// Probe returns the envelope of the message that Recv would receive, and leaves
// it; it waits until there is one. Another goroutine may receive it meanwhile.
// Errors are those of Recv; of a death that a Probe from Any has reported, no receive
// from Any is told.
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

func (m *Matcher) check(source int) error {
	if n := m.q.Sources(); source != Any && (source < 0 || source >= n) {
		return &weft.RankError{Rank: source, Size: n}
	}
	return nil
}

// start posts a receive; it has ended if its message is there, or cannot come.
func (m *Matcher) start(source int, tag, mask uint64) (*Receive, error) {
	if err := m.check(source); err != nil {
		return nil, err
	}
	r := m.get(source, tag, mask)
	e, t, ok := m.q.Post(source, tag, mask, r)
	if ok {
		m.stats.InRing -= e.Room()
		r.d, r.ended = e.Delivery, true
		return r, nil
	}
	if err := m.why(source); err != nil {
		m.q.Cancel(t)
		r.err, r.ended = err, true
		return r, nil
	}
	r.ticket = t
	return r, nil
}

// finish waits for a receive, and puts it away.
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

// wait returns when r has ended, or cannot. Of all goroutines in it one drives:
// it takes messages from the mailbox, and hands those on that are not its own.
// When it leaves, it makes another the driver. The lock is held, but not while it
// sleeps.
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

// next waits for the mailbox's next message, as the only one who does. A sender that
// finds its ring full does not wake who waits, so the rings are emptied before.
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

// leave ends r's wait: somebody else may have to drive.
func (m *Matcher) leave(r *Receive) {
	m.waiting = drop(m.waiting, r)
	if !m.driving && len(m.waiting) > 0 {
		m.waiting[0].rouse()
	}
}

// poll takes what has arrived, until r has ended. If it has not, the error is
// ErrWouldBlock, or the mailbox's.
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

// givenUp says what is known of why a receive had to wait.
func (m *Matcher) givenUp(r *Receive, err error) error {
	var w *weft.WaitError
	if errors.As(err, &w) { // of the mailbox, or of the signal
		err = w.Err
	}
	other := 0
	m.q.Newest(r.source, func(*message) bool { other++; return true })
	return &weft.WaitError{Doing: r.doing(), Knows: fmt.Sprintf("messages from there with other tags: %d", other), Err: err}
}

// failure returns the error of a receive that has ended, with what it was if a rank is gone.
func (r *Receive) failure() error {
	if gone, ok := r.err.(*weft.PeerError); ok {
		return &weft.WaitError{Doing: r.doing(), Err: gone}
	}
	return r.err
}

func (r *Receive) doing() string {
	from := "any rank"
	if r.source != Any {
		from = fmt.Sprintf("rank %d", r.source)
	}
	return fmt.Sprintf("receive from %s, tag %#x, mask %#x", from, r.tag, r.mask)
}

// get returns a Receive that is not in use, and put takes it back.
func (m *Matcher) get(source int, tag, mask uint64) *Receive {
	var r *Receive
	if n := len(m.spare); n > 0 {
		r, m.spare = m.spare[n-1], m.spare[:n-1]
	} else {
		r = &Receive{m: m, wake: m.p.Signal()}
	}
	r.source, r.tag, r.mask = source, tag, mask
	return r
}

func (m *Matcher) put(r *Receive) {
	r.wake.Reset() // whoever waited had seen it
	*r = Receive{m: m, wake: r.wake}
	m.spare = append(m.spare, r)
}

func drop(s []*Receive, r *Receive) []*Receive {
	i := slices.Index(s, r)
	return slices.Delete(s, i, i+1)
}
