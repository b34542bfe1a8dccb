package mpi

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"weft"
	"weft/extend"
	"weft/internal/agreement"
)

// A consensus runs the agreements of a communicator: it brings messages and the news of deaths to an
// agreement.Node. To revoke the communicator does not affect it. It exists from the first message of an agreement until
// the Proc is closed, since members that have been left behind may need answers after this member has gone on.
type consensus struct {
	c *Comm

	mu      sync.Mutex // never held during a wait
	node    *agreement.Node
	pending *decision        // the decision on this member's proposal, which is not made yet
	waiting []*extend.Signal // of the calls of Agree that wait for news
	dialled []bool           // members to which a connection has been made, so that their silence is noticed
	err     error            // why it cannot go on
}

// A decision is the result of a proposal, when done.
type decision struct {
	number uint32
	done   bool
	value  agreement.Value
}

// meet returns a communicator's consensus, which it makes at the first call.
func (w *world) meet(c *Comm) *consensus {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := w.consenses[c.id]
	if s == nil {
		s = &consensus{c: c, node: agreement.New(c.group.n, c.me), dialled: make([]bool, c.group.n)}
		w.consenses[c.id] = s
		w.agreeing = append(w.agreeing, s)
		for _, gone := range w.mourned {
			s.down(gone)
		}
		for _, rank := range c.family.without {
			s.down(rank)
		}
	}
	return s
}

// mourn tells all agreements, and the receives, that a rank has gone: entry i of gone.
func (w *world) mourn(i int) {
	w.mu.Lock()
	gone := w.gone[i]
	w.mourned = append(w.mourned, gone.Rank)
	all := slices.Clone(w.agreeing)
	w.mu.Unlock()
	w.depart(gone)
	for _, s := range all {
		_ = s.step(func() error {
			s.down(gone.Rank)
			return nil
		})
	}
}

// down tells the node that a rank has gone.
func (s *consensus) down(rank int) {
	if place := s.c.group.find(rank); place >= 0 && place != s.c.me {
		s.node.Down(place)
	}
}

// end ends the agreements, and the calls of catchUp, that go on: the Proc is closed.
func (w *world) end() {
	w.mu.Lock()
	w.err = weft.ErrClosed
	all := slices.Clone(w.agreeing)
	for _, heard := range w.behind {
		heard.Set()
	}
	w.mu.Unlock()
	for _, s := range all {
		_ = s.step(func() error {
			s.err = weft.ErrClosed
			return nil
		})
	}
}

// agree proposes a value, and waits for the decision.
func (s *consensus) agree(ctx context.Context, flags uint64, kind uint32, doing string) (agreement.Value, error) {
	if ctx == nil {
		ctx = context.Background()
	}
	p := s.c.w.p
	// Without this check an agreement among no other living members would succeed after Close.
	if err := s.c.w.control.TryRoom(p.Rank(), 0); errors.Is(err, weft.ErrClosed) {
		return agreement.Value{}, err
	}
	news := extend.NewSignal(p)
	s.await(news)
	defer s.forget(news)
	s.c.w.inquireSoon()
	var mine *decision
	for {
		if err := ctx.Err(); err != nil {
			return agreement.Value{}, s.waited(err, doing)
		}
		done := false
		err := s.step(func() error {
			switch {
			case mine != nil && mine.done:
				done = true
			case s.err != nil:
				return s.err
			case s.node.Excluded():
				return &ExcludedError{s.c.String()}
			case mine == nil && s.node.Ready():
				number, _ := s.node.Decided()
				mine = &decision{number: number + 1}
				s.pending = mine
				s.node.Propose(flags, kind)
			}
			return nil
		})
		switch {
		case err != nil:
			return agreement.Value{}, err
		case done:
			return mine.value, nil
		}
		s.c.w.control.Hurry()
		if err := news.WaitFor(ctx, fmt.Sprintf("the others, in %s of %v", doing, s.c)); err != nil {
			return agreement.Value{}, s.waited(err, doing)
		}
	}
}

// await makes step set a signal when there is news, until forget.
func (s *consensus) await(news *extend.Signal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waiting = append(s.waiting, news)
}

func (s *consensus) forget(news *extend.Signal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waiting = slices.DeleteFunc(s.waiting, func(other *extend.Signal) bool { return other == news })
}

// waited returns the error of an agreement whose context has ended.
func (s *consensus) waited(err error, doing string) error {
	var w *weft.WaitError
	if errors.As(err, &w) {
		err = w.Err
	}
	w = &weft.WaitError{Doing: fmt.Sprintf("%s of %v", doing, s.c), Err: err}
	s.mu.Lock()
	defer s.mu.Unlock()
	if place, ok := s.node.Awaits(); ok {
		w.Knows = fmt.Sprintf("it waits for rank %d, which may wait for others", s.c.group.at(place))
	}
	return w
}

// step changes the node by do, sends the messages that the node wants to send, and wakes the calls
// that wait if there is news.
func (s *consensus) step(do func() error) error {
	w := s.c.w
	s.mu.Lock()
	err := do()
	outgoing := s.node.TakeOutgoing()
	news := s.settle()
	dial := -1
	if place, ok := s.node.Awaits(); ok && !s.dialled[place] {
		s.dialled[place] = true
		dial = s.c.group.at(place)
	}
	s.mu.Unlock()
	for _, l := range outgoing {
		n := notice{comm: s.c.id, what: noticeAgree, rest: l.Append(nil, s.c.group.n)}
		// Errors do not matter: watch reports a member that is gone, and an exclusion need not arrive.
		_ = w.notices.Send(context.Background(), s.c.group.at(l.To), n.append(nil))
	}
	if dial >= 0 {
		w.p.Go(func() { _, _ = w.p.Connect(context.Background(), dial) })
	}
	for _, n := range news {
		n.Set()
	}
	return err
}

// settle notes what has been decided, and returns the signals of the calls that wait if there is
// news for them.
func (s *consensus) settle() []*extend.Signal {
	number, value := s.node.Decided()
	decided := s.pending != nil && s.pending.number == number
	if decided {
		s.pending.done = true
		s.pending.value = value
		s.pending = nil
	}
	if !decided && s.err == nil && !s.node.Excluded() {
		return nil
	}
	return slices.Clone(s.waiting)
}

// take handles a message of a rank.
func (s *consensus) take(from int, b []byte) {
	_ = s.step(func() error {
		n := s.c.group.n
		m, err := agreement.Parse(b, n)
		if err == nil {
			s.node.Receive(s.c.group.find(from), m)
		}
		return nil
	})
}
