package mpi

import "context"

// Barrier returns when all members have called it.
func (c *Comm) Barrier(ctx context.Context) error { return c.run(ctx, even(OpBarrier, none, none, 0)) }

// StartBarrier begins a Barrier (MPI_Ibarrier).
func (c *Comm) StartBarrier() (*Request, error) { return c.start(even(OpBarrier, none, none, 0)) }

// Broadcast copies the elements of the root into the buffers of all members, all of one length.
//
// Members that call it with different roots get a MismatchError: in this call, or if they were through before
// that could be seen, in the next one, at the latest in Free.
func (c *Comm) Broadcast(ctx context.Context, b Buffer, root int) error {
	return c.run(ctx, even(OpBroadcast, b, none, root))
}

// StartBroadcast begins a Broadcast (MPI_Ibcast).
func (c *Comm) StartBroadcast(b Buffer, root int) (*Request, error) {
	return c.start(even(OpBroadcast, b, none, root))
}

// Gather collects the elements of src, as many of each member, at the root: there dst holds them in the order of the
// members. At other members dst is not used. At the root src may be InPlace.
func (c *Comm) Gather(ctx context.Context, src, dst Buffer, root int) error {
	return c.run(ctx, even(OpGather, src, dst, root))
}

// StartGather begins a Gather (MPI_Igather).
func (c *Comm) StartGather(src, dst Buffer, root int) (*Request, error) {
	return c.start(even(OpGather, src, dst, root))
}

// GatherV is Gather with a length for each member: at the root, dst has a buffer for each.
func (c *Comm) GatherV(ctx context.Context, src Buffer, dst []Buffer, root int) error {
	return c.run(ctx, uneven(OpGather, parts{all: src}, each(dst), root))
}

// StartGatherV begins a GatherV (MPI_Igatherv).
func (c *Comm) StartGatherV(src Buffer, dst []Buffer, root int) (*Request, error) {
	return c.start(uneven(OpGather, parts{all: src}, each(dst), root))
}

// Scatter gives each member its part of the root's src, which holds one part for each member, in order. At other
// members src is not used. At the root dst may be InPlace.
func (c *Comm) Scatter(ctx context.Context, src, dst Buffer, root int) error {
	return c.run(ctx, even(OpScatter, src, dst, root))
}

// StartScatter begins a Scatter (MPI_Iscatter).
func (c *Comm) StartScatter(src, dst Buffer, root int) (*Request, error) {
	return c.start(even(OpScatter, src, dst, root))
}

// ScatterV is Scatter with a length for each member: at the root, src has a buffer for each.
func (c *Comm) ScatterV(ctx context.Context, src []Buffer, dst Buffer, root int) error {
	return c.run(ctx, uneven(OpScatter, each(src), parts{all: dst}, root))
}

// StartScatterV begins a ScatterV (MPI_Iscatterv).
func (c *Comm) StartScatterV(src []Buffer, dst Buffer, root int) (*Request, error) {
	return c.start(uneven(OpScatter, each(src), parts{all: dst}, root))
}

// AllGather collects the elements of src, as many of each member, in the dst of all members, in the order of the
// members. Src may be InPlace.
func (c *Comm) AllGather(ctx context.Context, src, dst Buffer) error {
	return c.run(ctx, even(OpAllGather, src, dst, 0))
}

// StartAllGather begins an AllGather (MPI_Iallgather).
func (c *Comm) StartAllGather(src, dst Buffer) (*Request, error) {
	return c.start(even(OpAllGather, src, dst, 0))
}

// AllGatherV is AllGather with a length for each member: dst has a buffer for each.
func (c *Comm) AllGatherV(ctx context.Context, src Buffer, dst []Buffer) error {
	return c.run(ctx, uneven(OpAllGather, parts{all: src}, each(dst), 0))
}

// StartAllGatherV begins an AllGatherV (MPI_Iallgatherv).
func (c *Comm) StartAllGatherV(src Buffer, dst []Buffer) (*Request, error) {
	return c.start(uneven(OpAllGather, parts{all: src}, each(dst), 0))
}

// AllToAll sends part j of this member's src to member j, and puts what member i sends into part i of dst. Both have
// one part for each member, all of one length. With InPlace as src, the parts of dst are sent and replaced.
func (c *Comm) AllToAll(ctx context.Context, src, dst Buffer) error {
	return c.run(ctx, even(OpAllToAll, src, dst, 0))
}

// StartAllToAll begins an AllToAll (MPI_Ialltoall).
func (c *Comm) StartAllToAll(src, dst Buffer) (*Request, error) {
	return c.start(even(OpAllToAll, src, dst, 0))
}

// AllToAllV is AllToAll with buffers for each member: member j gets src[j], and dst[i] is what member i sends. The
// buffers may have different types, if those of each pair are the same: so it is MPI_Alltoallw, too.
func (c *Comm) AllToAllV(ctx context.Context, src, dst []Buffer) error {
	return c.run(ctx, uneven(OpAllToAll, each(src), each(dst), 0))
}

// StartAllToAllV begins an AllToAllV (MPI_Ialltoallv, MPI_Ialltoallw).
func (c *Comm) StartAllToAllV(src, dst []Buffer) (*Request, error) {
	return c.start(uneven(OpAllToAll, each(src), each(dst), 0))
}

// NeighborAllGather sends the elements of src to all neighbours that this member sends to, and receives as many from
// each neighbour that it receives from, into dst, in the order of Neighbors. Parts of dst for ProcNull stay what they
// are.
func (c *Comm) NeighborAllGather(ctx context.Context, src, dst Buffer) error {
	return c.run(ctx, even(OpNeighborAllGather, src, dst, 0))
}

// StartNeighborAllGather begins a NeighborAllGather (MPI_Ineighbor_allgather).
func (c *Comm) StartNeighborAllGather(src, dst Buffer) (*Request, error) {
	return c.start(even(OpNeighborAllGather, src, dst, 0))
}

// NeighborAllGatherV is NeighborAllGather with a length for each neighbour: dst has a buffer for each.
func (c *Comm) NeighborAllGatherV(ctx context.Context, src Buffer, dst []Buffer) error {
	return c.run(ctx, uneven(OpNeighborAllGather, parts{all: src}, each(dst), 0))
}

// StartNeighborAllGatherV begins a NeighborAllGatherV (MPI_Ineighbor_allgatherv).
func (c *Comm) StartNeighborAllGatherV(src Buffer, dst []Buffer) (*Request, error) {
	return c.start(uneven(OpNeighborAllGather, parts{all: src}, each(dst), 0))
}

// NeighborAllToAll sends part j of src to neighbour j, and receives into part i of dst what neighbour i sends, in the
// order of Neighbors.
func (c *Comm) NeighborAllToAll(ctx context.Context, src, dst Buffer) error {
	return c.run(ctx, even(OpNeighborAllToAll, src, dst, 0))
}

// StartNeighborAllToAll begins a NeighborAllToAll (MPI_Ineighbor_alltoall).
func (c *Comm) StartNeighborAllToAll(src, dst Buffer) (*Request, error) {
	return c.start(even(OpNeighborAllToAll, src, dst, 0))
}

// NeighborAllToAllV is NeighborAllToAll with a buffer for each neighbour, which may be sections: a halo is exchanged
// with it in one call (MPI_Neighbor_alltoallv, MPI_Neighbor_alltoallw).
func (c *Comm) NeighborAllToAllV(ctx context.Context, src, dst []Buffer) error {
	return c.run(ctx, uneven(OpNeighborAllToAll, each(src), each(dst), 0))
}

// StartNeighborAllToAllV begins a NeighborAllToAllV (MPI_Ineighbor_alltoallw).
func (c *Comm) StartNeighborAllToAllV(src, dst []Buffer) (*Request, error) {
	return c.start(uneven(OpNeighborAllToAll, each(src), each(dst), 0))
}
