package swarm

import (
	"errors"
	"fmt"

	"weft/failure"
	"weft/internal/engine/coord"
)

// A coordChecker checks locks, semaphores and barriers. It sees the whole cluster: it
// knows which rank holds which lock, and which ranks have arrived at which barrier.
type coordChecker struct {
	c             *cluster
	locks         []*lockModel
	barriers      []*barrierModel
	permits       map[*node]int // of the semaphore, by holder
	deaths        int           // crashes
	guardedWrites uint64        // to regions that locks guard
	severs        int           // holders that are still to be cut off
}

// A lockModel is the state that a lock must have.
type lockModel struct {
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

// A holding is a node that holds a lock.
type holding struct {
	n      *node
	epoch  uint64
	shared bool
}

// A barrierModel is the state that a barrier must have.
type barrierModel struct {
	cfg     coord.Config
	arrived []uint64 // by rank
	id      uint64
	joined  []uint64 // dynamic: the first phase of each, or never
	over    uint64   // the last phase that some rank has completed
}

// permitsThere is how many permits the semaphore has.
const permitsThere = 3

// phases is how many phases of each barrier every rank goes through.
const phases = 8

// nowhere stands in joined for a rank that takes no part in a barrier.
const nowhere = ^uint64(0)

// newCoordChecker draws the locks and two barriers of a run, with their algorithms, from the seed. All nodes use
// the same ones. A barrier of pairs (Shuffle) needs a power of two of nodes.
func newCoordChecker(c *cluster) *coordChecker {
	s := &coordChecker{c: c, permits: map[*node]int{}}
	for i := range c.Locks {
		b := &lockModel{name: fmt.Sprintf("lock %d", i), class: coord.QueueLock}
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
		cfg := coord.Config{Class: coord.Barrier, Name: fmt.Sprintf("barrier %d", i), Arity: 2 + c.world.Rand.IntN(2),
			Window: 1 + c.world.Rand.IntN(3)}
		switch k := c.world.Rand.IntN(7); {
		case k < 5:
			cfg.Algorithm = coord.Algorithm(k)
			if cfg.Algorithm == coord.Shuffle && c.Nodes&(c.Nodes-1) != 0 {
				cfg.Algorithm = coord.Dissemination
			}
			if cfg.Algorithm == coord.Central && c.world.Chance(0.5) {
				cfg.Aligned = true
				cfg.Window = 1
			}
		case k == 5:
			cfg = coord.Config{Class: coord.Phaser, Name: cfg.Name}
		default:
			cfg = coord.Config{Class: coord.Regions, Name: cfg.Name}
		}
		b := &barrierModel{cfg: cfg, arrived: make([]uint64, c.Nodes), joined: make([]uint64, c.Nodes)}
		for rank := range b.joined {
			b.joined[rank] = nowhere
		}
		s.barriers = append(s.barriers, b)
	}
	return s
}

// home returns the rank that is a lock's home.
func (b *lockModel) home(c *cluster) int { return int(b.id % uint64(c.Nodes)) }

// deadToHome reports whether the lock's home has taken a rank for dead. Then the home gives
// the lock to others, and only the fence of the regions stops that rank.
func (s *coordChecker) deadToHome(b *lockModel, n *node) bool {
	h := s.c.nodes[b.home(s.c)]
	return h == nil || h.eng.Gone(n.rank) != nil
}

// granted checks a grant: no other rank holds the lock, its epoch is new, and the grant says
// whether the last holder has died.
func (s *coordChecker) granted(b *lockModel, n *node, op *coord.Op, shared bool) {
	if s.deadToHome(b, n) {
		b.holders = append(b.holders, holding{n, op.Epoch, shared})
		return
	}
	for _, h := range b.holders {
		if !s.deadToHome(b, h.n) && !(shared && h.shared) {
			s.c.fail("exclusion", "rank %d gets %q under epoch %d, and rank %d has it under %d", n.rank, b.name, op.Epoch,
				h.n.rank, h.epoch)
		}
	}
	if !shared && op.Epoch <= b.epoch {
		s.c.fail("exclusion", "rank %d gets %q under epoch %d, and there has been %d", n.rank, b.name, op.Epoch, b.epoch)
	}
	switch {
	case b.died && !op.Died:
		s.c.fail("told", "rank %d gets %q and is not told that its holder died", n.rank, b.name)
	case op.Died && !s.anyDead():
		s.c.fail("told", "rank %d is told that a holder of %q died, and none has", n.rank, b.name)
	}
	s.raiseFloor(b)
	b.epoch = max(b.epoch, op.Epoch)
	b.died = b.died && shared
	b.holders = append(b.holders, holding{n, op.Epoch, shared})
}

// released takes a node off the holders of a lock. It is called before the engine hears of Unlock, since the next
// holder may be granted the lock in the same step.
func (s *coordChecker) released(b *lockModel, n *node) {
	for i, h := range b.holders {
		if h.n == n {
			b.holders = append(b.holders[:i], b.holders[i+1:]...)
			return
		}
	}
}

// crashed takes a rank out of the models.
func (s *coordChecker) crashed(n *node) {
	s.deaths++
	delete(s.permits, n)
	for _, b := range s.locks {
		for _, h := range b.holders {
			if h.n == n && !h.shared && !s.deadToHome(b, n) && b.home(s.c) != n.rank {
				b.died = true
				b.lost = max(b.lost, h.epoch)
			}
		}
		s.released(b, n)
	}
}

// acquired checks that no more permits are held than there are. The home has taken back
// the permits of ranks that it takes for dead.
func (s *coordChecker) acquired(n *node, o *coord.Object, want int) {
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

// over checks that all members have arrived at a phase that rank n has completed.
func (s *coordChecker) over(b *barrierModel, n *node, phase uint64) {
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
			s.c.fail("barrier", "rank %d is over with phase %d of %v, and rank %d has arrived at %d", n.rank, phase, b.cfg.Name,
				rank, arrived)
		}
	}
}

// dropped reports whether the home of a dynamic barrier goes on without a rank.
func (s *coordChecker) dropped(b *barrierModel, rank int) bool {
	h := s.c.nodes[b.id%uint64(s.c.Nodes)]
	return h == nil || s.c.nodes[rank] == nil || h.eng.Gone(rank) != nil
}

// anyDead reports whether a rank has died, or was taken for dead.
func (s *coordChecker) anyDead() bool {
	for _, n := range s.c.nodes {
		if n == nil || len(n.eng.Departed()) > 0 {
			return true
		}
	}
	return s.deaths > 0
}

// checkFailure checks that an error has a reason: a rank has died, or was taken for dead.
func (s *coordChecker) checkFailure(n *node, what string, err error) {
	if !errors.Is(err, failure.ErrPeer) {
		s.c.fail("refusal", "%s of rank %d: %v", what, n.rank, err)
	}
	if !s.anyDead() {
		s.c.fail("refusal", "%s of rank %d, and no rank is dead: %v", what, n.rank, err)
	}
}
