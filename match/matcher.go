package match

import (
	"bytes"
	"errors"
	"sync"

	"weft"
)

// Config shapes a Matcher. Zero values mean the defaults.
type Config struct {
	// InRing bounds, in bytes, the messages of one sender that stay in its ring
	// when nothing has asked for them. Beyond it they are copied to ordinary
	// memory, and the ring's room is given back. 0 means that all stay, and that
	// a sender that is far ahead is held back as soon as its ring is full; less
	// than 0 that none stays. See the package's comment.
	InRing int
}

// A Matcher receives the messages of one mailbox by source and tag. It takes all
// of them: nothing else may call the mailbox's Next and TryNext. Many goroutines
// may use it at the same time.
type Matcher struct {
	box    mailbox
	inRing int

	mu      sync.Mutex
	q       *Queues[message, *Receive]
	driving bool       // somebody is in Next, without the lock
	waiting []*Receive // of goroutines in wait
	probes  []*Receive // those among them that only want to know
	dead    []error    // of each rank: why it sends nothing any more
	news    []error    // deaths that nothing that receives from Any has been told of
	held    []int      // of each rank: bytes of its unexpected messages in the ring
	stats   MatcherStats
	spare   []*Receive
}

// A message is one that nothing has asked for: in its ring, or copied.
type message struct {
	Delivery
	copied bool
}

// MatcherStats counts what a Matcher has done.
type MatcherStats struct {
	Stats
	InRing int    // bytes of unexpected messages in the rings now
	Copied uint64 // messages that were copied out of them
}

// New returns a Matcher for the messages of a mailbox of p.
func New(p *weft.Proc, box mailbox, cfg *Config) *Matcher { return newMatcher(p.Size(), box, cfg) }

func newMatcher(ranks int, box mailbox, cfg *Config) *Matcher {
	m := &Matcher{
		box: box, q: NewQueues[message, *Receive](ranks),
		dead: make([]error, ranks), held: make([]int, ranks),
	}
	if cfg != nil {
		m.inRing = cfg.InRing
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
func (m *Matcher) deliver(d Delivery) {
	if r, ok := m.q.Arrive(d.From, d.Tag, message{Delivery: d}); ok {
		r.end(d, nil)
		return
	}
	m.keep(d.From, len(d.Data))
	for i := 0; i < len(m.probes); i++ {
		if p := m.probes[i]; (p.source == Any || p.source == d.From) && (p.tag^d.Tag)&p.mask == 0 {
			p.end(d, nil)
		}
	}
}

// keep counts a message that stays in its ring, and copies those of its sender if
// that is more than may stay. All are copied, the oldest among them, because a
// ring's room is free only up to its oldest message. So those still in the ring
// are always the newest, and each is copied at most once.
func (m *Matcher) keep(from, n int) {
	m.held[from] += n
	m.stats.InRing += n
	if m.inRing == 0 || m.held[from] <= m.inRing {
		return
	}
	m.q.Newest(from, func(e *message) bool {
		if e.copied {
			return false
		}
		in := e.Delivery
		e.Delivery = Delivery{From: in.From, Tag: in.Tag, Data: bytes.Clone(in.Data)}
		e.copied = true
		in.Release()
		m.stats.Copied++
		return true
	})
	m.stats.InRing -= m.held[from]
	m.held[from] = 0
}

// taken counts a message that leaves the unexpected queue.
func (m *Matcher) taken(e message) Delivery {
	if !e.copied {
		m.held[e.From] -= len(e.Data)
		m.stats.InRing -= len(e.Data)
	}
	return e.Delivery
}

// died notes the death of a rank, if that is what an error of the mailbox says:
// receives from it end, and the oldest from Any, or else the next, is told.
func (m *Matcher) died(err error) bool {
	var p *weft.PeerError
	if !errors.As(err, &p) || p.Rank < 0 || p.Rank >= len(m.dead) {
		return false
	}
	if m.dead[p.Rank] != nil {
		return true
	}
	m.dead[p.Rank] = err
	for r, ok := m.q.Withdraw(p.Rank); ok; r, ok = m.q.Withdraw(p.Rank) {
		r.end(Delivery{}, err)
	}
	told := false
	if r, ok := m.q.Withdraw(Any); ok {
		r.end(Delivery{}, err)
		told = true
	}
	for _, r := range m.probes {
		if !r.ended && (r.source == p.Rank || r.source == Any && !told) {
			told = told || r.source == Any
			r.end(Delivery{}, err)
		}
	}
	if !told {
		m.news = append(m.news, err)
	}
	return true
}

// why returns the error of a receive that finds no message and is not to wait.
func (m *Matcher) why(source int) (err error) {
	if source != Any {
		return m.dead[source]
	}
	if len(m.news) > 0 {
		err, m.news = m.news[0], m.news[1:]
	}
	return err
}
