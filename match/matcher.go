package match

import (
	"bytes"
	"errors"
	"sync"

	"weft"
)

// Config shapes a Matcher. Zero values mean the defaults.
type Config struct {
	// Copy copies messages that nothing has asked for to ordinary memory, and gives
	// their room in the rings back, before a receive waits. Without it a sender whose
	// ring is full of them is held back. See the package's comment.
	Copy bool
}

// A Matcher receives the messages of one mailbox by source and tag. It takes all
// of them: nothing else may call the mailbox's Next and TryNext. Many goroutines
// may use it at the same time.
type Matcher struct {
	p    *weft.Proc
	box  *weft.Mailbox
	rank int // whose it is
	copy bool

	mu      sync.Mutex
	q       *Queues[message, *Receive]
	driving bool              // somebody is in Next, without the lock
	waiting []*Receive        // of goroutines in wait
	probes  []*Receive        // those among them that only want to know
	dead    []*weft.PeerError // of each rank: why it sends nothing any more
	news    []*weft.PeerError // of which nothing that receives from Any has been told
	stats   MatcherStats
	spare   []*Receive
}

// A message is one that nothing has asked for. One that is settled is not in a ring,
// and neither are those that arrived before it.
type message struct {
	weft.Delivery
	settled bool
}

// MatcherStats counts what a Matcher has done.
type MatcherStats struct {
	Stats
	InRing int    // bytes of rings that unexpected messages occupy now
	Copied uint64 // messages that were copied out of them
}

// New returns a Matcher for the messages of a mailbox of p; a nil cfg means the
// defaults.
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

// deliver gives a message that has come to whom it belongs, or keeps it.
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

// died notes a death, if that is what an error of the mailbox says. Receives from that
// rank end; of those from Any the oldest is told, or else the next.
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

// lose ends what waits for just one rank.
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

// why returns the error of a receive for which nothing has come, and which must not
// wait, or nil. Of news, it is told.
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

// settle takes all messages that nothing has asked for out of the rings. It looks at
// each message once.
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
