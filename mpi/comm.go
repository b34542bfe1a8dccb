package mpi

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"weft"
	"weft/internal/match"
)

// What stands in place of a rank or a tag.
const (
	AnySource = match.Any // a receive takes the message of any member
	AnyTag    = -1        // a receive takes a message with any tag
	ProcNull  = -2        // nobody: a send to it, or a receive from it, does nothing
	Undefined = -3        // no rank, no place, no color
)

// A Comm is a communicator: some ranks of the job, which are numbered by their places, and messages of their own, which
// no other communicator sees. Ranks in arguments and results are such places; errors of package weft name ranks of the
// job.
//
// Any number of goroutines may use a Comm. Collective operations must be called in the same order by all members, so
// one goroutine at a time should call them.
type Comm struct {
	w     *world
	id    uint64 // the same at all members: see newID
	group Group
	me    int         // this rank's place
	ended atomic.Bool // over returns an error from now on

	// By the lock of the world.
	q       *match.Queues[message, *receive]
	number  int               // among those of this rank, in a trace
	revoked error             // why it is over
	learnt  bool              // this rank's program has been told that, or has said it
	news    []*weft.PeerError // departures that no receive from any source has reported
	told    map[int]bool      // members that have been told that it is over
	bound   *binding
	binds   []*binding
	seq     uint32    // the number of collective operations so far
	running []*call   // collective operations that go on
	past    [8]header // the last ones, by their numbers
	sends   uint32    // the number of synchronous sends so far
	family  family

	board    *board // nil: not made
	plain    uint32 // operations before it is made, so far
	topology topology
}

// A communicator's number consists of a rank of the job, a number that this rank has given out, and how often the
// communicator has been shrunk since: so no number is ever used again.
const (
	counterBits = 32
	ageBits     = 8
	maxRanks    = 1 << (63 - counterBits - ageBits) // the first bit is for meetings
	maxAge      = 1<<ageBits - 1
)

func newID(rank int, counter uint32) uint64 {
	return uint64(rank)<<(counterBits+ageBits) | uint64(counter)<<ageBits
}

// Rank returns this rank's place in the communicator, from 0.
func (c *Comm) Rank() int { return c.me }

// Size returns the number of members.
func (c *Comm) Size() int { return c.group.n }

// Group returns the members.
func (c *Comm) Group() Group { return c.group }

// Proc returns this rank as a member of the job.
func (c *Comm) Proc() *weft.Proc { return c.w.p }

// Generation returns how often the communicator was shrunk: 0 for one that Split, Dup or Create has made.
func (c *Comm) Generation() int { return int(c.id & maxAge) }

// String names the communicator: World, or the rank and the number that it was made with.
func (c *Comm) String() string {
	if c.id>>ageBits == 0 && c.Generation() == 0 {
		return "World"
	}
	s := fmt.Sprintf("communicator %d.%d", c.id>>(counterBits+ageBits), uint32(c.id>>ageBits))
	if c.Generation() > 0 {
		s += fmt.Sprintf(", generation %d", c.Generation())
	}
	return s
}

// Compare compares two communicators.
func (c *Comm) Compare(d *Comm) Comparison {
	if c == d {
		return Identical
	}
	return max(c.group.Compare(d.group), Congruent)
}

// Free waits until all members have called it, and gives the communicator back: it must not be used any more. Of a
// communicator that is revoked it waits for no other member, and returns the RevokedError if no call has returned it
// before. Collective operations that do not belong together
// and were too short for that to be seen at once are errors at the latest here (see MismatchError). World stays usable;
// to free it at the end of a program is what MPI_Finalize is.
func (c *Comm) Free(ctx context.Context) error {
	w := c.w
	w.mu.Lock()
	over := w.err != nil || c.revoked != nil
	var err error
	if c.revoked != nil && !c.learnt {
		err = c.reason()
	}
	w.mu.Unlock()
	if !over { // else the members may be anywhere
		err = c.run(ctx, &params{op: OpBarrier, how: byMessages, src: parts{all: none}})
	}
	if c.board != nil && err == nil && !over {
		if err = c.board.compareAll(); err == nil { // member 0, which has the memory, waits until all have done so
			err = c.run(ctx, even(OpGather, none, none, 0))
		}
	}
	if c == w.all {
		return err
	}
	if c.board != nil {
		err = errors.Join(err, c.board.close())
	}
	w.mu.Lock()
	defer w.unlock()
	if c.revoked == nil && w.consenses[c.id] == nil {
		delete(w.comms, c.id) // else members that come late are still answered
	}
	if c.revoked == nil {
		c.drop(weft.ErrClosed)
	}
	c.unbindAll(nil)
	w.list = slices.DeleteFunc(w.list, func(other *Comm) bool { return other == c })
	if w.last == c {
		w.last = nil
	}
	c.q = match.NewQueues[message, *receive](0)
	return err
}

// over returns why the communicator cannot be used, or nil. The lock is held.
func (c *Comm) over() error {
	if c.w.err != nil {
		return c.w.err
	}
	return c.reason()
}

// reason returns why the communicator has been revoked, to the program, or nil. The lock is held.
func (c *Comm) reason() error {
	c.learnt = c.revoked != nil
	return c.revoked
}

// has returns an error unless a place is that of a member.
func (c *Comm) has(place int) error {
	if place < 0 || place >= c.group.n {
		return fmt.Errorf("mpi: rank %d of %v, which has ranks 0 to %d: %w", place, c, c.group.n-1, weft.ErrRank)
	}
	return nil
}

// places returns the places of the members of a group.
func (c *Comm) places(g Group) ([]int, error) {
	all := make([]int, g.n)
	for i := range all {
		all[i] = c.group.find(g.at(i))
	}
	if i := slices.Index(all, Undefined); i >= 0 {
		return nil, fmt.Errorf("mpi: rank %d of the job is not in %v: %w", g.at(i), c, weft.ErrNotMember)
	}
	return all, nil
}

// A binding is a context that ends when one of the program's ends, or the communicator is over.
type binding struct {
	context.Context
	parent <-chan struct{} // the channel of the program's context
	cancel context.CancelCauseFunc
	users  int
}

// bind returns a context that also ends when the communicator is over. The one for the context that was used last is
// kept, so that a program which always uses the same one allocates nothing. The lock is held.
func (c *Comm) bind(ctx context.Context) *binding {
	if ctx == nil {
		ctx = context.Background()
	}
	if b := c.bound; b != nil && b.parent == ctx.Done() {
		b.users++
		return b
	}
	b := &binding{parent: ctx.Done(), users: 1}
	b.Context, b.cancel = context.WithCancelCause(ctx)
	if c.revoked != nil {
		b.cancel(c.revoked)
	}
	if old := c.bound; old == nil || old.users == 0 {
		c.bound = b
		c.release(old)
	}
	c.binds = append(c.binds, b)
	return b
}

// unbind takes back what bind has returned. The lock is held.
func (c *Comm) unbind(b *binding) {
	if b.users--; b.users == 0 && b != c.bound {
		c.release(b)
	}
}

// release forgets a binding that nobody uses.
func (c *Comm) release(b *binding) {
	for i, other := range c.binds {
		if other == b {
			c.binds = append(c.binds[:i], c.binds[i+1:]...)
			b.cancel(nil)
			return
		}
	}
}

// unbindAll ends the contexts of all operations that wait. The lock is held.
func (c *Comm) unbindAll(why error) {
	for _, b := range c.binds {
		b.cancel(why)
	}
	c.binds = nil
	c.bound = nil
}
