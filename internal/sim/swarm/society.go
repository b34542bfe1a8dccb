package swarm

import (
	"errors"
	"fmt"

	"weft/internal/engine/coord"
	"weft/internal/engine/link"
)

// A society is what all that coordinates has come to, as somebody knows who sees
// the whole cluster: who holds which lock, who has arrived at which barrier.
type society struct {
	c        *cluster
	locks    []*lockBook
	barriers []*barrierBook
	permits  map[*node]int // of the semaphore, that are out
	deaths   int           // crashes
	writes   uint64        // to regions that locks guard
	severs   int           // holders that are still to be severed
}

// A lockBook is what is known of a lock.
type lockBook struct {
	name    string
	class   coord.Class
	fair    bool
	id      uint64
	holders []holding
	epoch   uint64 // the highest that was granted
	died    bool   // a holder has died, and the next must be told
	lost    uint64 // the highest epoch of a holder that has died, or counts as dead
	floor   uint64 // no write under an epoch before this one may take effect any more
}

// A holding is a lock in somebody's hands.
type holding struct {
	n      *node
	epoch  uint64
	shared bool
}

// A barrierBook is what is known of a barrier.
type barrierBook struct {
	cfg     coord.Config
	arrived []uint64 // by rank
	id      uint64
	joined  []uint64 // dynamic: the first phase of each, or never
	over    uint64   // the last phase that somebody was over with
}

// permitsThere is how many the semaphore holds at first.
const permitsThere = 3

// phases is how many phases of each barrier every rank goes through.
const phases = 8

const nowhere = ^uint64(0)

func newSociety(c *cluster) *society {
	s := &society{c: c, permits: map[*node]int{}}
	for i := range c.Locks {
		b := &lockBook{name: fmt.Sprintf("lock %d", i), class: coord.QueueLock}
		switch c.world.Rand.IntN(5) {
		case 0:
			b.class = coord.CentralLock
		case 1:
			b.class = coord.RWLock
		case 2:
			b.fair = true
		}
		b.id = coord.LockID(b.name)
		s.locks = append(s.locks, b)
	}
	if c.Locks == 0 {
		return s
	}
	for i := range 2 {
		cfg := coord.Config{Class: coord.Barrier, Name: fmt.Sprintf("barrier %d", i), Arity: 2 + c.world.Rand.IntN(2), Window: 1 + c.world.Rand.IntN(3)}
		switch k := c.world.Rand.IntN(7); {
		case k < 5:
			cfg.Algorithm = coord.Algorithm(k)
			if cfg.Algorithm == coord.Shuffle && c.Nodes&(c.Nodes-1) != 0 {
				cfg.Algorithm = coord.Dissemination
			}
			if cfg.Algorithm == coord.Central && c.world.Chance(0.5) {
				cfg.Aligned, cfg.Window = true, 1
			}
		case k == 5:
			cfg = coord.Config{Class: coord.Phaser, Name: cfg.Name}
		default:
			cfg = coord.Config{Class: coord.Regions, Name: cfg.Name}
		}
		b := &barrierBook{cfg: cfg, arrived: make([]uint64, c.Nodes), joined: make([]uint64, c.Nodes)}
		for rank := range b.joined {
			b.joined[rank] = nowhere
		}
		s.barriers = append(s.barriers, b)
	}
	return s
}

// home returns the rank that is a lock's home.
func (b *lockBook) home(c *cluster) int { return int(b.id % uint64(c.Nodes)) }

// disowned reports whether the lock's home has taken a rank for dead: then what it
// holds counts no more, and only regions need to know.
func (s *society) disowned(b *lockBook, n *node) bool {
	h := s.c.nodes[b.home(s.c)]
	return h == nil || h.eng.Gone(n.rank) != nil
}

// granted checks a grant: nobody else has the lock, its epoch is new, and whether
// the last holder has died is told.
func (s *society) granted(b *lockBook, n *node, op *coord.Op, shared bool) {
	if s.disowned(b, n) {
		b.holders = append(b.holders, holding{n, op.Epoch, shared})
		return
	}
	for _, h := range b.holders {
		if !s.disowned(b, h.n) && !(shared && h.shared) {
			s.c.fail("exclusion", "rank %d gets %q under epoch %d, and rank %d has it under %d", n.rank, b.name, op.Epoch, h.n.rank, h.epoch)
		}
	}
	if !shared && op.Epoch <= b.epoch {
		s.c.fail("exclusion", "rank %d gets %q under epoch %d, and there has been %d", n.rank, b.name, op.Epoch, b.epoch)
	}
	switch {
	case b.died && !op.Died:
		s.c.fail("told", "rank %d gets %q and is not told that its holder died", n.rank, b.name)
	case op.Died && !s.mourning():
		s.c.fail("told", "rank %d is told that a holder of %q died, and nobody has", n.rank, b.name)
	}
	s.inherited(b)
	b.epoch = max(b.epoch, op.Epoch)
	b.died = b.died && shared
	b.holders = append(b.holders, holding{n, op.Epoch, shared})
}

func (s *society) released(b *lockBook, n *node) {
	for i, h := range b.holders {
		if h.n == n {
			b.holders = append(b.holders[:i], b.holders[i+1:]...)
			return
		}
	}
}

// crashed takes a rank out of the books.
func (s *society) crashed(n *node) {
	s.deaths++
	delete(s.permits, n)
	for _, b := range s.locks {
		for _, h := range b.holders {
			if h.n == n && !h.shared && !s.disowned(b, n) && b.home(s.c) != n.rank {
				b.died = true
				b.lost = max(b.lost, h.epoch)
			}
		}
		s.released(b, n)
	}
}

// acquired checks that no more permits are out than there are. Those of whom the
// home has taken for dead have come back.
func (s *society) acquired(n *node, o *coord.Object, want int) {
	s.permits[n] += want
	h := s.c.nodes[o.ID%uint64(s.c.Nodes)]
	sum := 0
	for m, k := range s.permits {
		if h != nil && h.eng.Gone(m.rank) == nil {
			sum += k
		}
	}
	if sum > permitsThere {
		s.c.fail("exclusion", "%d permits are out, of %d", sum, permitsThere)
	}
}

// over checks that all members have arrived at a phase that somebody is over
// with.
func (s *society) over(b *barrierBook, n *node, phase uint64) {
	b.over = max(b.over, phase)
	for rank, arrived := range b.arrived {
		late := arrived < phase
		switch b.cfg.Class {
		case coord.Phaser: // counts from 0; arrived is one past
			late = b.joined[rank] <= phase && arrived < phase+1 && !s.dropped(b, rank)
		case coord.Regions: // a code stops until all have passed the one before
			late = phase > 0 && arrived < phase
		}
		if late {
			s.c.fail("barrier", "rank %d is over with phase %d of %v, and rank %d has arrived at %d", n.rank, phase, b.cfg.Name, rank, arrived)
		}
	}
}

// dropped reports whether the home of a dynamic barrier goes on without a rank.
func (s *society) dropped(b *barrierBook, rank int) bool {
	h := s.c.nodes[b.id%uint64(s.c.Nodes)]
	return h == nil || s.c.nodes[rank] == nil || h.eng.Gone(rank) != nil
}

// mourning reports whether anybody has died, or was taken for dead.
func (s *society) mourning() bool {
	for _, n := range s.c.nodes {
		if n == nil || len(n.eng.Departed()) > 0 {
			return true
		}
	}
	return s.deaths > 0
}

// excuse checks that an error has a reason: somebody has died, or was taken for
// dead.
func (s *society) excuse(n *node, what string, err error) {
	if !errors.Is(err, link.ErrPeer) {
		s.c.fail("refusal", "%s of rank %d: %v", what, n.rank, err)
	}
	if !s.mourning() {
		s.c.fail("refusal", "%s of rank %d, and nobody is dead: %v", what, n.rank, err)
	}
}
