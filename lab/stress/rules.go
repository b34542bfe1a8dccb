package stress

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/anishathalye/porcupine"

	"weft/mpi"
)

// rules: members send messages with tags to each other, and several goroutines of each receive, probe and cancel, with
// wildcards. Each tells the director what it did and saw. There must be an order in which messages arrived and receives
// were posted that explains all of it by MPI's rules of matching.
func rules(s *scene) {
	s.members = s.members[:min(len(s.members), 4)] // an order of few messages is found soon
	if !slices.Contains(s.members, s.p.Rank()) {
		return
	}
	a := s.actor(s.name + " main")
	defer a.end()
	count := 1 + s.shared.IntN(3) // messages from each member to each
	var c *mpi.Comm
	if a.call("CreateGroup", func() (err error) { c, err = comm(a, s, 0); return err }) != fine {
		a.meet(s, "all is received") // others may have the communicator, and come there
		return
	}
	h := &history{Place: c.Rank()}
	group := crew{p: a.p}
	s.act2(&group, "sender", func(a *actor) { h.send(a, c, count) })
	for i := range 2 {
		s.act2(&group, fmt.Sprintf("receiver %d", i), func(a *actor) {
			for range 1 + count*c.Size()/3 {
				if !h.receive(a, c) {
					h.broken.Store(true) // what it was told no other receive is told
					return
				}
			}
		})
	}
	a.do("wait for the own goroutines", func() error { group.Wait(); return nil })
	for h.taken < count*c.Size() && !a.quit && !h.broken.Load() {
		if !h.recv(a, c, h.missing(c.Size(), count), mpi.AnyTag, false) {
			h.broken.Store(true)
		}
	}
	if !h.broken.Load() && a.call("WaitAll", func() error { return mpi.WaitAll(a.ctx, h.sends...) }) == fine {
		text, _ := json.Marshal(h)
		a.tell(note{Kind: noteMatches, Rank: a.p.Rank(), Text: string(text), N: uint64(s.number), Ranks: s.members})
	}
	a.meet(s, "all is received")
	a.call("Comm.Free", func() error { return c.Free(a.ctx) })
}

// A history is what a member has done.
type history struct {
	Place int // in the communicator
	Steps []step
	Sent  []step // arrivals, of which the end is not known

	mu     sync.Mutex
	broken atomic.Bool // a member has gone
	count  int64       // orders the steps of a member within one moment of the clock
	taken  int
	sends  []*mpi.Request
}

// A step is a receive, a probe, the end of a receive that was given up, or a message.
type step struct {
	Kind         int
	Receive      int // which one is posted or given up
	Source, Tag  int // asked for, or of the message
	From, Number int // the message that was seen, or is meant; Number is -1 if there was none
	To           int // of a message
	Begun, Ended int64
}

// The kinds of steps.
const (
	posted   = iota // a receive: Recv, StartRecv
	givenUp         // of a receive that has got nothing
	probed          // TryProbe
	taken           // TryMProbe
	arrived         // a message
	matchTag = 3    // tags
	longest2 = 40_000
)

// missing returns a member of which fewer than count messages have been taken, or any source: one that has left in good
// order is told of only to receives from it.
func (h *history) missing(members, count int) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	got := make([]int, members)
	for _, m := range h.Sent {
		if m.Kind == -arrived {
			got[m.From]++
		}
	}
	return slices.IndexFunc(got, func(n int) bool { return n < count })
}

// stamp returns the time, in which the steps of a member differ.
func (h *history) stamp(a *actor) int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.count++
	return a.clock()<<12 | h.count&(1<<12-1)
}

// lengthOf returns the length that tells the number of a message. Some are long.
func lengthOf(number int) int {
	if number%4 == 3 {
		return longest2 + number
	}
	return number
}

func numberOf(length int) int { return length % longest2 }

// send sends messages to all members. Their order to each member counts.
func (h *history) send(a *actor, c *mpi.Comm, count int) {
	for number := range count {
		for to := range c.Size() {
			m := step{Kind: arrived, To: to, From: h.Place, Number: number, Tag: a.rng.IntN(matchTag), Begun: h.stamp(a)}
			var q *mpi.Request
			if a.call(fmt.Sprintf("StartSend(%d, tag %d)", to, m.Tag), func() (err error) {
				q, err = c.StartSend(mpi.Of(make([]byte, lengthOf(number))), to, m.Tag)
				return err
			}) != fine {
				continue // that member has gone, and others wait for theirs
			}
			h.sends = append(h.sends, q)
			h.note(nil, m)
		}
		a.pause()
	}
}

// receive does something at random, and reports whether to go on.
func (h *history) receive(a *actor, c *mpi.Comm) bool {
	source := a.rng.IntN(c.Size()+2) - 1
	if source == c.Size() {
		source = mpi.AnySource
	}
	tag := a.rng.IntN(matchTag + 1)
	if tag == matchTag {
		tag = mpi.AnyTag
	}
	switch a.rng.IntN(6) {
	case 0:
		return h.probe(a, c, source, tag)
	case 1:
		return h.take(a, c, source, tag)
	case 2, 3:
		return h.start(a, c, source, tag)
	default:
		return h.recv(a, c, source, tag, true)
	}
}

// recv receives, and gives up soon if brief.
func (h *history) recv(a *actor, c *mpi.Comm, source, tag int, brief bool) bool {
	ctx := a.ctx
	if brief {
		short, end := a.brief(a.ctx)
		defer end()
		ctx = short
	}
	r := h.post(a, source, tag)
	var st mpi.Status
	err := a.do("Recv", func() (err error) {
		st, err = c.Recv(ctx, mpi.Of(make([]byte, 2*longest2)), source, tag)
		return err
	})
	return h.ended(a, r, st, err, brief)
}

// start begins a receive, and then waits for it or cancels it.
func (h *history) start(a *actor, c *mpi.Comm, source, tag int) bool {
	r := h.post(a, source, tag)
	q, err := c.StartRecv(mpi.Of(make([]byte, 2*longest2)), source, tag)
	r.Ended = h.stamp(a) // it has been posted by now
	if err != nil {
		return a.judge("StartRecv", err, false) == fine
	}
	a.pause()
	ctx, end := a.brief(a.ctx)
	defer end()
	if a.rng.IntN(2) == 0 {
		q.Cancel()
	}
	var st mpi.Status
	err = a.do("Request.Wait", func() (err error) { st, err = q.Wait(ctx); return err })
	return h.ended(a, r, st, err, true)
}

// note notes what was done and what was seen of messages.
func (h *history) note(done *step, seen ...step) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if done != nil {
		h.Steps = append(h.Steps, *done)
	}
	h.Sent = append(h.Sent, seen...)
	if done != nil && len(seen) > 0 {
		h.taken++
	}
}

// post returns a receive that is posted from now on.
func (h *history) post(a *actor, source, tag int) step {
	p := step{Kind: posted, Source: source, Tag: tag, Number: -1, Begun: h.stamp(a)}
	p.Receive = int(p.Begun)
	return p
}

// ended notes what has become of a receive, and reports whether to go on.
func (h *history) ended(a *actor, p step, st mpi.Status, err error, brief bool) bool {
	now := h.stamp(a)
	begun := p.Begun
	if p.Ended > 0 {
		begun = p.Ended
	} else {
		p.Ended = now
	}
	switch a.judge("a receive", err, brief) {
	case fine:
		p.From = st.Source
		p.Number = numberOf(st.Count)
		h.note(&p, step{Kind: -arrived, From: p.From, Number: p.Number, To: h.Place, Ended: now})
	case later:
		h.note(&p)
		h.note(&step{Kind: givenUp, Receive: p.Receive, Begun: begun, Ended: now})
	default:
		return false
	}
	return true
}

func (h *history) probe(a *actor, c *mpi.Comm, source, tag int) bool {
	p := step{Kind: probed, Source: source, Tag: tag, Number: -1, Begun: h.stamp(a)}
	var st mpi.Status
	var ok bool
	if a.call("TryProbe", func() (err error) { st, ok, err = c.TryProbe(source, tag); return err }) != fine {
		return false
	}
	if ok {
		p.From = st.Source
		p.Number = numberOf(st.Count)
	}
	p.Ended = h.stamp(a)
	h.note(&p)
	return true
}

func (h *history) take(a *actor, c *mpi.Comm, source, tag int) bool {
	p := step{Kind: taken, Source: source, Tag: tag, Number: -1, Begun: h.stamp(a)}
	var st mpi.Status
	var m *mpi.Message
	if a.call("TryMProbe", func() (err error) { m, st, err = c.TryMProbe(source, tag); return err }) != fine {
		return false
	}
	p.Ended = h.stamp(a)
	if m == nil {
		h.note(&p)
	} else {
		p.From = st.Source
		p.Number = numberOf(st.Count)
		h.note(&p, step{Kind: -arrived, From: p.From, Number: p.Number, To: h.Place, Ended: p.Ended})
		if a.call("Message.Recv", func() error { _, err := m.Recv(a.ctx, mpi.Of(make([]byte, 2*longest2))); return err }) != fine {
			return false
		}
	}
	return true
}

// matches notes what a member has done, and judges when all members have told.
func (d *director) matches(n note) {
	var h history
	_ = json.Unmarshal([]byte(n.Text), &h)
	all := append(d.histories[n.N], &h)
	d.histories[n.N] = all
	if len(all) < len(n.Ranks) { // members that are struck tell nothing
		return
	}
	for _, h := range all {
		if !explained(h, all) {
			d.fail("scene %d: what place %d has received fits no order of messages and receives", n.N, h.Place)
		}
	}
}

// explained reports whether there is an order that explains what a member has seen.
func explained(h *history, all []*history) bool {
	var ops []porcupine.Operation
	add := func(s step) {
		ops = append(ops, porcupine.Operation{ClientId: len(ops), Input: s, Call: s.Begun, Return: s.Ended})
	}
	for _, s := range h.Steps {
		add(s)
	}
	for _, other := range all {
		for _, s := range other.Sent {
			if s.Kind != arrived || s.To != h.Place {
				continue
			}
			s.Ended = math.MaxInt64
			for _, got := range h.Sent {
				if got.Kind == -arrived && got.From == s.From && got.Number == s.Number {
					s.Ended = got.Ended
				}
			}
			add(s)
		}
	}
	return porcupine.CheckOperationsTimeout(matchModel, ops, 5*time.Second) != porcupine.Illegal
}

// queues are the two queues of a member.
type queues struct {
	posted, unexpected []step
	next               [4]int // number of the next message of each member
}

func agrees(r, m step) bool {
	return (r.Source == mpi.AnySource || r.Source == m.From) && (r.Tag == mpi.AnyTag || r.Tag == m.Tag)
}

// without returns a copy without one element.
func without(list []step, i int) []step {
	return append(append([]step(nil), list[:i]...), list[i+1:]...)
}

// matchModel is MPI's rules.
var matchModel = porcupine.Model{
	Init: func() any { return queues{} },
	Step: func(state, input, _ any) (bool, any) {
		q := state.(queues)
		switch s := input.(step); s.Kind {
		case arrived:
			return q.arrive(s)
		case givenUp:
			for i, r := range q.posted {
				if r.Receive == s.Receive {
					q.posted = without(q.posted, i)
					return true, q
				}
			}
			return false, q
		default:
			return q.ask(s)
		}
	},
	Equal: func(a, b any) bool {
		x := a.(queues)
		y := b.(queues)
		return x.next == y.next && slices.Equal(x.posted, y.posted) && slices.Equal(x.unexpected, y.unexpected)
	},
	DescribeOperation: func(s, _ any) string { return fmt.Sprintf("%+v", s) },
}

// arrive gives a message to the oldest receive that it matches, or keeps it.
func (q queues) arrive(m step) (bool, any) {
	if q.next[m.From] != m.Number {
		return false, q // it would have overtaken another one
	}
	q.next[m.From]++
	for i, r := range q.posted {
		if agrees(r, m) {
			q.posted = without(q.posted, i)
			return r.From == m.From && r.Number == m.Number, q
		}
	}
	q.unexpected = append(q.unexpected[:len(q.unexpected):len(q.unexpected)], m)
	return true, q
}

// ask is a receive or a probe: it sees the oldest message that matches.
func (q queues) ask(s step) (bool, any) {
	for i, m := range q.unexpected {
		if agrees(s, m) {
			if s.Kind != probed {
				q.unexpected = without(q.unexpected, i)
			}
			return s.From == m.From && s.Number == m.Number, q
		}
	}
	if s.Kind == posted {
		q.posted = append(q.posted[:len(q.posted):len(q.posted)], s)
		return true, q
	}
	return s.Number == -1, q
}
