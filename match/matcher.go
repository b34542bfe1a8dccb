package match

import (
	"bytes"
	"errors"
	"sync"

	"weft"
)

// Config shapes a Matcher. Zero values mean the defaults.
type Config struct {
	// Copy copies unexpected messages to ordinary memory, and frees their room in the rings, before
	// a receive waits. Without it the sender of unexpected messages is held back when its ring is
	// full. See the package's comment.
	Copy bool
}

// A Matcher receives the messages of one mailbox by source and tag. It takes all of the mailbox's
// messages: the program must not call the mailbox's Next and TryNext itself. Any number of
// goroutines may use a Matcher.
type Matcher struct {
	p    *weft.Proc
	box  *weft.Mailbox
	rank int // this rank
	copy bool

	mu      sync.Mutex
	q       *Queues[message, *Receive]
	driving bool              // a goroutine is in the mailbox's Next, without the lock
	waiting []*Receive        // the receives for which goroutines are in wait
	probes  []*Receive        // of these, the probes
	dead    []*weft.PeerError // by rank, why it sends nothing any more
	news    []*weft.PeerError // deaths that no receive from Any has reported
	stats   MatcherStats
	spare   []*Receive // not in use
}

// A message is an unexpected message. If it is settled it is not in a ring, and neither are the
// messages that arrived before it.
type message struct {
	weft.Delivery
	settled bool
}

// MatcherStats counts what a Matcher has done.
type MatcherStats struct {
	Stats
	InRing int    // bytes of the rings that unexpected messages occupy now
	Copied uint64 // messages that were copied out of the rings
}

// New returns a Matcher for the messages of a mailbox of p. A nil cfg means the defaults.
func New(p *weft.Proc, box *weft.Mailbox, cfg *Config) *Matcher {
	m := &Matcher{
		p: p, box: box, rank: p.Rank(),
		q: NewQueues[message, *Receive](p.Size()), dead: make([]*weft.PeerError, p.Size()),
	}
	if cfg != nil {
		m.copy = cfg.Copy
	}
	return m
}

// Stats returns the lengths of the queues and what searching them has cost.
func (m *Matcher) Stats() MatcherStats {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.stats
	s.Stats = m.q.Stats()
	return s
}

// deliver gives a message that has arrived to the receive that it matches, or keeps it as
// unexpected.
func (m *Matcher) deliver(d weft.Delivery) {
	if r, ok := m.q.Arrive(d.From, d.Tag, message{Delivery: d}); ok {
		r.end(d, nil)
		return
	}
	for _, p := range m.probes {
		if (p.source == Any || p.source == d.From) && (p.tag^d.Tag)&p.mask == 0 {
			p.end(d, nil)
		}
	}
	m.stats.InRing += d.Room()
}

// died notes a death, if the error of the mailbox reports one, and returns whether it does. The
// receives from that rank end. One receive from Any is told: the oldest, or the next to come.
func (m *Matcher) died(err error) bool {
	var gone *weft.PeerError
	if !errors.As(err, &gone) {
		return false
	}
	m.lose(gone)
	for rank := range m.dead {
		if gone.Clean && rank != m.rank { // nobody is left: those not told of have left before
			m.lose(&weft.PeerError{Rank: rank, Cause: gone.Cause, Clean: true})
		}
	}
	if r, ok := m.q.Withdraw(Any); ok {
		r.end(weft.Delivery{}, gone)
		return true
	}
	for _, p := range m.probes {
		if p.source == Any && !p.ended {
			p.end(weft.Delivery{}, gone)
			return true
		}
	}
	m.news = append(m.news, gone)
	return true
}

// lose ends the receives and probes that wait for one rank only, which has died or left.
func (m *Matcher) lose(gone *weft.PeerError) {
	if m.dead[gone.Rank] != nil {
		return
	}
	m.dead[gone.Rank] = gone
	for r, ok := m.q.Withdraw(gone.Rank); ok; r, ok = m.q.Withdraw(gone.Rank) {
		r.end(weft.Delivery{}, gone)
	}
	for _, p := range m.probes {
		if p.source == gone.Rank {
			p.end(weft.Delivery{}, gone)
		}
	}
}

// why returns the error of a receive whose message has not come and cannot come any more, or nil.
// For a receive from Any it takes a death off the news.
func (m *Matcher) why(source int) error {
	if source == Any {
		if len(m.news) == 0 {
			return nil
		}
		gone := m.news[0]
		m.news = m.news[1:]
		return gone
	}
	if gone := m.dead[source]; gone != nil {
		return gone
	}
	return nil
}

// settle copies all unexpected messages out of the rings. It looks at each message once.
func (m *Matcher) settle() {
	m.q.Newest(Any, func(e *message) bool {
		if e.settled {
			return false
		}
		e.settled = true
		if n := e.Room(); n > 0 {
			in := e.Delivery
			e.Delivery = weft.Delivery{From: in.From, Tag: in.Tag, Data: bytes.Clone(in.Data), Total: in.Total}
			in.Release()
			m.stats.InRing -= n
			m.stats.Copied++
		}
		return true
	})
}
