package mpi

import (
	"cmp"
	"context"
	"fmt"
	"hash/fnv"
	"slices"

	"weft"
	"weft/internal/mem"
)

// hash returns a number for what members compare: the name of a host, or ranks.
func hash(b []byte) uint64 {
	h := fnv.New64a()
	h.Write(b)
	return h.Sum64()
}

// make makes a communicator known, and delivers what has come for it.
func (w *world) make(id uint64, g Group) *Comm {
	w.mu.Lock()
	c := w.register(id, g)
	e := w.early[id]
	delete(w.early, id)
	if e != nil {
		for _, a := range e.messages {
			body := a.body
			w.deliver(&a)
			w.bodies.put(body)
		}
	}
	w.unlock()
	if e != nil {
		for _, n := range e.notices {
			w.hear(n)
		}
	}
	return c
}

// number returns a number that this rank gives out for a communicator.
func (w *world) number() (uint32, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.p.Size() > maxRanks || w.made == 1<<counterBits-1 {
		return 0, fmt.Errorf("mpi: %d communicators of %d ranks are too many", w.made, w.p.Size())
	}
	w.made++
	return w.made, nil
}

// An applicant is a member in Split.
type applicant struct {
	color  uint64
	key    int64
	number uint32 // that it has given out
	absent uint32 // 1 if it gets no communicator
}

// Split makes a communicator of the members that say the same color, in the order of their keys, and of their ranks if
// those are the same. All members call it. A member with the color Undefined gets none: nil. It waits for the others.
func (c *Comm) Split(ctx context.Context, color, key int) (*Comm, error) {
	a := applicant{color: uint64(color), key: int64(key)}
	if color == Undefined {
		a.absent = 1
	}
	return c.split(ctx, a)
}

// SplitShared makes a communicator of the members that are on the host of this one (MPI_Comm_split_type with
// MPI_COMM_TYPE_SHARED). All members call it.
func (c *Comm) SplitShared(ctx context.Context) (*Comm, error) {
	return c.split(ctx, applicant{color: hash([]byte(c.w.p.Host()))})
}

func (c *Comm) split(ctx context.Context, a applicant) (d *Comm, err error) {
	if a.number, err = c.w.number(); err != nil {
		return nil, err
	}
	all := make([]applicant, c.Size())
	birth, err := c.gatherApplicants(ctx, a, all)
	if err != nil || a.absent != 0 {
		return nil, err
	}
	var places []int
	for place, other := range all {
		if other.absent == 0 && other.color == a.color {
			places = append(places, place)
		}
	}
	slices.SortStableFunc(places, func(i, j int) int { return cmp.Compare(all[i].key, all[j].key) })
	g, err := c.group.Include(places...)
	if err != nil {
		return nil, err
	}
	return c.child(g, all[places[0]].number, birth), nil
}

// meeting is the first rank of the numbers of communicators in which members of a group meet, to make another one.
const meeting = maxRanks

// CreateGroup is Create among the members of the group only (MPI_Comm_create_group): other members of c need not call
// it. Calls of the same members that may go on at the same time have different tags. What the members need to find each
// other is kept for each group and tag until the Proc is closed: as many bytes as for a communicator.
func (c *Comm) CreateGroup(ctx context.Context, g Group, tag int) (*Comm, error) {
	if g.find(c.w.p.Rank()) < 0 {
		return nil, fmt.Errorf("mpi: rank %d is not in the group: %w", c.w.p.Rank(), weft.ErrNotMember)
	}
	ranks := g.Ranks()
	slices.Sort(ranks)
	id := newID(meeting, 0) | hash(mem.Bytes(append(slices.Clone(ranks), tag, int(c.id))))>>1
	w := c.w
	w.mu.Lock()
	m := w.comms[id]
	w.mu.Unlock()
	if m == nil {
		m = w.make(id, newGroup(ranks))
	}
	return m.Create(ctx, g)
}

// Dup makes a communicator with the same members in the same order and the same neighbours, whose messages are apart.
// All members call it.
func (c *Comm) Dup(ctx context.Context) (*Comm, error) {
	d, err := c.Create(ctx, c.group)
	if err == nil {
		d.topology = c.topology
	}
	return d, err
}

// A Birth is a communicator that is being made. It is for one goroutine at a time.
type Birth struct {
	c     *Comm
	all   []applicant
	order uint32 // which communicator of c it is: see nextBirth
	q     *Request
}

// StartDup begins Dup, and does not wait for the other members (MPI_Comm_idup).
func (c *Comm) StartDup() (*Birth, error) {
	number, err := c.w.number()
	if err != nil {
		return nil, err
	}
	b := &Birth{c: c, all: make([]applicant, c.Size()), order: c.nextBirth()}
	b.q, err = c.start(even(OpSplit, Of([]applicant{{number: number}}), Of(b.all), 0))
	if err != nil {
		c.stillborn(b.order)
		return nil, err
	}
	return b, nil
}

// Wait waits until the communicator is made, and returns it. It must be called once.
func (b *Birth) Wait(ctx context.Context) (*Comm, error) {
	if _, err := b.q.Wait(ctx); err != nil {
		b.c.stillborn(b.order)
		return nil, err
	}
	d := b.c.child(b.c.group, b.all[0].number, b.order)
	d.topology = b.c.topology
	return d, nil
}

// Create makes a communicator of a group of members. All members of c call it with the same group; members of c that
// are not in it get nil.
func (c *Comm) Create(ctx context.Context, g Group) (*Comm, error) {
	if g.n == 0 || g.Difference(c.group).n > 0 {
		return nil, fmt.Errorf("mpi: a group of %d members, not all of which are in %v: %w", g.n, c, weft.ErrNotMember)
	}
	number, err := c.w.number()
	if err != nil {
		return nil, err
	}
	all := make([]applicant, c.Size())
	mine := applicant{color: hash(mem.Bytes(g.Ranks())), number: number}
	birth, err := c.gatherApplicants(ctx, mine, all)
	if err != nil {
		return nil, err
	}
	for place, other := range all {
		if other.color != mine.color {
			err := fmt.Errorf("mpi: rank %d of %v makes a communicator of another group, or of the same members in "+
				"another order: %w", place, c, ErrMismatch)
			c.Revoke(err)
			c.stillborn(birth)
			return nil, err
		}
	}
	if g.find(c.w.p.Rank()) < 0 {
		return nil, nil
	}
	return c.child(g, all[c.group.find(g.at(0))].number, birth), nil
}
