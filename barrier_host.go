package weft

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"weft/internal/driver"
	"weft/internal/engine/coord"
	"weft/internal/hostbarrier"
	"weft/internal/timeline"
	"weft/internal/waitgraph"
)

// A hostBarrier is a barrier in memory that the members on a host share, or one that is
// being made. All Barriers of this rank with the same name have it in common.
type hostBarrier struct {
	making  sync.Mutex         // held while the barrier is made
	o       *coord.Object      // the barrier over messages in which the members meet
	arena   *hostbarrier.Arena // the first member on this host: where the memory is
	memory  []byte             // the same: the memory
	sharers int                // the same: how many members on this host count there
	leaders *coord.Object      // the same, if there are several hosts: the barrier of the leaders
	met     bool               // this rank has arrived at the barrier over messages

	part atomic.Pointer[hostbarrier.Barrier] // nil until the barrier has been made
}

// share makes a barrier in shared memory, or finds the one of the same name.
func (b *Barrier) share(ctx context.Context, algorithm BarrierAlgorithm, c coord.Config) error {
	var hosts []onHost
	var err error
	if b.p.hasHost() {
		if hosts, err = b.hosts(ctx); err != nil {
			return err
		}
	}
	if hosts == nil || algorithm == BarrierShared && len(hosts) > 1 {
		return &StateError{Name: b.name, Do: "use barrier", Err: ErrMisuse,
			Why: fmt.Sprintf("its algorithm is %q, and not all members share memory with this rank", algorithm)}
	}
	c.Algorithm = coord.Tree
	c.Arity = 8
	c.Memory = 1
	if len(hosts) > 1 {
		c.Memory = 2
	}
	if b.o, err = b.p.object(c); err != nil {
		return err
	}
	b.p.open.Lock()
	h := b.p.open.barriers[b.o.ID]
	if h == nil || h.o != b.o {
		h = &hostBarrier{o: b.o}
		b.p.open.barriers[b.o.ID] = h
	}
	b.p.open.Unlock()
	h.making.Lock()
	defer h.making.Unlock()
	if h.part.Load() == nil {
		if err := h.make(ctx, b, uint64(c.Window), hosts); err != nil {
			return err
		}
		if b.p.node.Closing() {
			h.absent()
		}
	}
	b.shared = h.part.Load()
	return nil
}

// make maps the memory that the members on this host share. Before, all members meet in a barrier over messages:
// members that have configured the barrier differently find out, and the memory is there. If ctx ends, make can be
// called again. A rank that leaves without its part of the memory says so in the barrier over messages. Its leader
// says so in that of the leaders, which is therefore there before. h.making is held.
func (h *hostBarrier) make(ctx context.Context, b *Barrier, window uint64, hosts []onHost) (err error) {
	p := b.p
	o := b.o
	here := hosts[slices.IndexFunc(hosts, func(h onHost) bool { return slices.Contains(h.members, p.job.Rank) })]
	c := hostbarrier.Config{
		Node: p.node, Wait: p.member.Waiting, Name: b.name, ID: o.ID, Members: b.cfg.Members, Window: window,
		Local: here.members, Me: slices.Index(here.members, p.job.Rank), TwoLevels: len(hosts) > 1,
		Meeting: o,
	}
	if len(hosts) > 1 && c.Me == 0 {
		if h.leaders, err = b.leaders(hosts); err != nil {
			return err
		}
		c.Leaders = h.leaders
	}
	if c.Me == 0 && h.memory == nil {
		if h.arena, h.memory, err = p.placeBarrier(ctx, o.ID, len(c.Local)); err != nil {
			return err
		}
		h.sharers = len(c.Local)
	}
	if !h.met {
		if _, err := p.node.Coordinate(ctx, o, coord.Arrive, 0); err != nil {
			return err
		}
		h.met = true
	}
	if _, err := p.node.Coordinate(ctx, o, coord.Await, 1); err != nil {
		return err
	}
	if c.Memory = h.memory; c.Me > 0 {
		if c.Memory, err = p.findBarrier(ctx, b.name, o.ID, c.Local); err != nil {
			return err
		}
	}
	if _, err := p.node.Coordinate(ctx, o, coord.Settle, 0); err != nil {
		return err
	}
	h.part.Store(hostbarrier.New(c))
	return nil
}

// leaders returns the barrier of the leaders, the first member on each host.
func (b *Barrier) leaders(hosts []onHost) (*coord.Object, error) {
	var firsts []int
	for _, h := range hosts {
		firsts = append(firsts, h.members[0])
	}
	return b.p.node.Object(coord.Config{
		Class: coord.Barrier, Name: b.name + "\x00leaders", Members: firsts, Algorithm: coord.Dissemination, Window: 1,
	})
}

// waitShared is Wait in shared memory.
func (b *Barrier) waitShared(ctx context.Context) error {
	began := b.p.timeline.Mark()
	phase, err := b.shared.Arrive()
	if err != nil {
		return err
	}
	err = b.shared.Await(ctx, phase)
	if p := b.p; p.timeline != nil {
		p.timeline.Note(began, timeline.Pass, b.o.ID, timeline.Nobody, int(phase), err)
	}
	return err
}

// report adds what this rank knows of the barrier to a report. While the barrier is being
// made, the report has the barrier over messages.
func (h *hostBarrier) report(r *waitgraph.Report) {
	if !h.making.TryLock() {
		return
	}
	defer h.making.Unlock()
	if part := h.part.Load(); part != nil {
		part.Report(r)
	}
}

// absent tells the other members that this rank will not arrive any more. Node.Return precedes it, so a goroutine that
// makes the barrier meanwhile finds the node closing, and calls absent then. If the rank has no part of the memory, the
// barrier over messages has told them.
func (h *hostBarrier) absent() {
	if part := h.part.Load(); part != nil {
		part.Leave()
	}
}

// close is absent for the last time: this rank lets go of the memory.
func (h *hostBarrier) close() {
	h.making.Lock()
	defer h.making.Unlock()
	if part := h.part.Load(); part != nil {
		part.Close()
	}
}

// discard is close for a barrier whose memory, and name, can have another use.
func (h *hostBarrier) discard(n *driver.Node) (err error) {
	h.close()
	if h.arena != nil {
		h.arena.Remove(h.o.ID, h.sharers)
		h.arena = nil
	}
	if h.leaders != nil {
		_, err = n.Coordinate(context.Background(), h.leaders, coord.Close, 0)
	}
	return err
}

// hasHost reports whether ranks can share a host: in a simulation only if Cluster.PerHost
// says so.
func (p *Proc) hasHost() bool { return !p.node.Hosted() || p.job.Crowd > 1 }

// onHost is the members that share a host.
type onHost struct {
	name    string
	members []int
}

// hosts returns the members by host, in the order of the members. A member without shared
// memory, such as one that is alone on its host, counts as a host of its own. All members
// come to the same result, because each goes by what every member's card tells.
func (b *Barrier) hosts(ctx context.Context) (hosts []onHost, err error) {
	for i := range b.size() {
		rank := b.member(i)
		name := b.p.job.Host
		shares := b.p.memory.Memory != nil
		if rank != b.p.job.Rank && b.p.job.Local < b.p.job.Size {
			c, err := b.p.member.CardOf(ctx, rank)
			if err != nil {
				return nil, err
			}
			name = c.Host
			shares = c.Shm != ""
		}
		if !shares {
			name = fmt.Sprintf("%s, rank %d", name, rank)
		}
		at := slices.IndexFunc(hosts, func(h onHost) bool { return h.name == name })
		if at < 0 {
			at = len(hosts)
			hosts = append(hosts, onHost{name: name})
		}
		hosts[at].members = append(hosts[at].members, rank)
	}
	return hosts, nil
}

// choose chooses an algorithm from what all members know alike.
func (b *Barrier) choose(ctx context.Context) (algorithm BarrierAlgorithm, why string, err error) {
	n := b.size()
	asked := Transport(b.p.member.Settings.Transport)
	onlyMessages := asked == TransportUDP || asked == TransportTCP || asked == TransportFabric || !b.p.hasHost()
	switch {
	case n == 1:
		return BarrierDissemination, "this rank is alone", nil
	case b.p.memory.Memory != nil && b.p.job.Local == b.p.job.Size:
		return BarrierShared, fmt.Sprintf("all %d members are on this host: each counts in memory that all map", n), nil
	case b.p.job.Local < b.p.job.Size && !onlyMessages:
		hosts, err := b.hosts(ctx)
		if err != nil {
			return "", "", err
		}
		if len(hosts) < n {
			return BarrierTwoLevel, fmt.Sprintf("%d members on %d hosts", n, len(hosts)), nil
		}
	}
	return BarrierDissemination, fmt.Sprintf("%d members, each on its own: the fewest messages one after another", n), nil
}
