package mpi

import (
	"context"
	"encoding/binary"
)

// A communicator is made by an operation of its parent, which can fail at some members and not at others: a context
// ends, or a member dies. The members that have it would wait for one that has not got it, and never will. So a member
// that has waited for a while for a message or an agreement asks the member that it waits for. That one answers, as
// member of the parent, if it has failed to make the communicator; then the others go on without it, as if it had left.
// (PROTOCOL §12)

// A family is how a communicator came into being, and what came of those made from it.
type family struct {
	parent  *Comm  // nil: World, a meeting, or made by Shrink
	birth   uint32 // its place among those that the parent has begun to make
	without []int  // ranks that have not got it, though they are in its group

	births uint32 // how many this rank has begun to make of this communicator
	failed uint32 // from this one on making them has failed here; 0: it has not. A failure revokes the parent
	asks   int    // how often inquire has looked at an agreement that waits
}

// gatherApplicants has all members say what communicator they make. Birth is its place among those that are made of c.
func (c *Comm) gatherApplicants(ctx context.Context, mine applicant, all []applicant) (birth uint32, err error) {
	birth = c.nextBirth()
	if err = c.run(ctx, even(OpSplit, Of([]applicant{mine}), Of(all), 0)); err != nil {
		c.stillborn(birth)
	}
	return birth, err
}

// nextBirth counts a communicator that will be made of c, and returns the count.
func (c *Comm) nextBirth() uint32 {
	c.w.mu.Lock()
	defer c.w.mu.Unlock()
	c.family.births++
	return c.family.births
}

// child makes a communicator of some members. The first one of the group has given the number out.
func (c *Comm) child(g Group, number, birth uint32) *Comm {
	d := c.w.make(newID(g.at(0), number), g)
	c.w.mu.Lock()
	defer c.w.mu.Unlock()
	d.family.parent = c
	d.family.birth = birth
	return d
}

// stillborn notes that this rank has failed to make a communicator.
func (c *Comm) stillborn(birth uint32) {
	c.w.mu.Lock()
	defer c.w.mu.Unlock()
	if f := &c.family; f.failed == 0 || birth < f.failed {
		f.failed = birth
	}
}

// askHas asks a member, or those 1, 2, 4 … places away, whether they have failed to make the communicator. The lock is
// held.
func (c *Comm) askHas(place int) {
	if c.family.parent == nil {
		return
	}
	n := notice{comm: c.family.parent.id, what: noticeHas, rank: int32(c.family.birth)}
	n.rest = binary.LittleEndian.AppendUint64(nil, c.id)
	if place != AnySource {
		c.w.notify(c.group.at(place), n)
		return
	}
	for bit := 1; bit < c.group.n; bit <<= 1 {
		c.w.notify(c.group.at((c.me+bit)%c.group.n), n)
		c.w.notify(c.group.at((c.me-bit+c.group.n)%c.group.n), n)
	}
}

// answerHas answers a member that waits for this rank in a child of the communicator, if this rank has not got the
// child. The lock is held.
func (c *Comm) answerHas(n notice) {
	if f := c.family.failed; f != 0 && uint32(n.rank) >= f && len(n.rest) == 8 {
		c.w.notify(n.from, notice{comm: c.id, what: noticeHasNot, rank: n.rank, rest: append([]byte(nil), n.rest...)})
	}
}

// hasNot returns the child of the communicator that a member has not got, or nil. The lock is held.
func (c *Comm) hasNot(n notice) *Comm {
	if len(n.rest) != 8 {
		return nil
	}
	d := c.w.comms[binary.LittleEndian.Uint64(n.rest)]
	if d == nil || d.family.parent != c || d.family.birth != uint32(n.rank) || d.group.find(n.from) < 0 {
		return nil
	}
	d.family.without = append(d.family.without, n.from)
	d.revoke(&RevokedError{Comm: d.String(), By: n.from, Gone: -1, Reason: "it has not got the communicator"})
	return d
}

// leftOut lets the agreements of a communicator go on without a member that has not got it.
func (w *world) leftOut(d *Comm, rank int) {
	w.mu.Lock()
	s := w.consenses[d.id]
	w.mu.Unlock()
	if s != nil {
		_ = s.step(func() error {
			s.down(rank)
			return nil
		})
	}
}

// inquireSoon has inquire look at agreements that wait.
func (w *world) inquireSoon() {
	w.mu.Lock()
	defer w.unlock()
	w.beginInquiry()
}

// looksAgain asks the member for which an agreement waits whether it has the communicator, after 2, 4, 8 … looks. It
// reports whether an agreement waits. The lock of the world is held.
func (s *consensus) looksAgain() bool {
	if !s.mu.TryLock() {
		return true // it goes on at this moment
	}
	defer s.mu.Unlock()
	if len(s.waiting) == 0 {
		s.c.family.asks = 0
		return false
	}
	s.c.family.asks++
	if place, ok := s.node.Awaits(); ok && s.c.family.asks >= 2 && s.c.family.asks&(s.c.family.asks-1) == 0 {
		s.c.askHas(place)
	}
	return true
}
