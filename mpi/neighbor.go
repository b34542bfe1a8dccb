package mpi

import "context"

// NeighborAllGather sends the elements of src to all neighbours that this member sends to, and receives as many from
// each neighbour that it receives from, into dst, in the order of Neighbors. Parts of dst for ProcNull stay what they
// are.
func (c *Comm) NeighborAllGather(ctx context.Context, src, dst Buffer) error {
	return c.gatheringNeighbors(src, dst).do(ctx)
}

// StartNeighborAllGather begins a NeighborAllGather (MPI_Ineighbor_allgather).
func (c *Comm) StartNeighborAllGather(src, dst Buffer) (*Request, error) {
	return c.gatheringNeighbors(src, dst).start()
}

func (c *Comm) gatheringNeighbors(src, dst Buffer) plan {
	return c.plan(OpNeighborAllGather, -1, src, src.count(), func(ctx context.Context, k *call) error {
		return k.dividedAmong(len(c.topology.from), dst, src.count(), func(to []Buffer) error {
			return k.neighbors(ctx, func(int) Buffer { return src }, to)
		})
	})
}

// NeighborAllGatherV is NeighborAllGather with a length for each neighbour: dst has a buffer for each.
func (c *Comm) NeighborAllGatherV(ctx context.Context, src Buffer, dst []Buffer) error {
	return c.gatheringNeighborsV(src, dst).do(ctx)
}

// StartNeighborAllGatherV begins a NeighborAllGatherV (MPI_Ineighbor_allgatherv).
func (c *Comm) StartNeighborAllGatherV(src Buffer, dst []Buffer) (*Request, error) {
	return c.gatheringNeighborsV(src, dst).start()
}

func (c *Comm) gatheringNeighborsV(src Buffer, dst []Buffer) plan {
	return c.plan(OpNeighborAllGather, -1, src, vary, func(ctx context.Context, k *call) error {
		return k.neighbors(ctx, func(int) Buffer { return src }, dst)
	})
}

// NeighborAllToAll sends part j of src to neighbour j, and receives into part i of dst what neighbour i sends, in the
// order of Neighbors.
func (c *Comm) NeighborAllToAll(ctx context.Context, src, dst Buffer) error {
	return c.neighborAllToAll(src, dst).do(ctx)
}

// StartNeighborAllToAll begins a NeighborAllToAll (MPI_Ineighbor_alltoall).
func (c *Comm) StartNeighborAllToAll(src, dst Buffer) (*Request, error) {
	return c.neighborAllToAll(src, dst).start()
}

func (c *Comm) neighborAllToAll(src, dst Buffer) plan {
	from := len(c.topology.from)
	to := len(c.topology.to)
	n := src.count() / max(to, 1)
	return c.plan(OpNeighborAllToAll, -1, src, n, func(ctx context.Context, k *call) error {
		return k.dividedAmong(to, src, n, func(out []Buffer) error {
			return k.dividedAmong(from, dst, n, func(in []Buffer) error {
				return k.neighbors(ctx, func(i int) Buffer { return out[i] }, in)
			})
		})
	})
}

// NeighborAllToAllV is NeighborAllToAll with a buffer for each neighbour, which may be sections: a halo is exchanged
// with it in one call (MPI_Neighbor_alltoallv, MPI_Neighbor_alltoallw).
func (c *Comm) NeighborAllToAllV(ctx context.Context, src, dst []Buffer) error {
	return c.neighborAllToAllV(src, dst).do(ctx)
}

// StartNeighborAllToAllV begins a NeighborAllToAllV (MPI_Ineighbor_alltoallw).
func (c *Comm) StartNeighborAllToAllV(src, dst []Buffer) (*Request, error) {
	return c.neighborAllToAllV(src, dst).start()
}

func (c *Comm) neighborAllToAllV(src, dst []Buffer) plan {
	return c.plan(OpNeighborAllToAll, -1, none, vary, func(ctx context.Context, k *call) error {
		if err := k.eachOf(src, len(c.topology.to)); err != nil {
			return err
		}
		return k.neighbors(ctx, func(i int) Buffer { return src[i] }, dst)
	})
}

// neighbors exchanges with all neighbours at once. In a grid, what comes from the one side was sent to the other side:
// a member that is on both sides sends in that order, so it is received in that order.
func (k *call) neighbors(ctx context.Context, out func(i int) Buffer, in []Buffer) error {
	t := &k.c.topology
	if err := k.eachOf(in, len(t.from)); err != nil {
		return err
	}
	across := 0
	if t.dims != nil {
		across = 1
	}
	return k.exchanges(ctx, max(len(t.to), len(t.from)),
		func(i int) (int, Buffer) {
			if i >= len(t.to) {
				return ProcNull, none
			}
			return t.to[i], out(i)
		},
		func(i int) (int, Buffer) {
			if i >= len(t.from) {
				return ProcNull, none
			}
			return t.from[i^across], in[i^across]
		})
}
