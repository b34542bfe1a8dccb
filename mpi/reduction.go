package mpi

import "context"

// Reduce combines the members' slices, all of one length, into the slice of the root. The others keep theirs.
func Reduce[T any](ctx context.Context, c *Comm, s []T, op Op[T], root int) error {
	return c.run(ctx, combining(OpReduce, Of(s), none, op, root))
}

// StartReduce begins a Reduce (MPI_Ireduce).
func StartReduce[T any](c *Comm, s []T, op Op[T], root int) (*Request, error) {
	return c.start(combining(OpReduce, Of(s), none, op, root))
}

// AllReduce combines the members' slices, all of one length, and puts the result into all of them, with the same bits
// at all members.
func AllReduce[T any](ctx context.Context, c *Comm, s []T, op Op[T]) error {
	return c.run(ctx, combining(OpAllReduce, Of(s), none, op, 0))
}

// StartAllReduce begins an AllReduce (MPI_Iallreduce).
func StartAllReduce[T any](c *Comm, s []T, op Op[T]) (*Request, error) {
	return c.start(combining(OpAllReduce, Of(s), none, op, 0))
}

// ReduceScatter combines the members' slices src, which have one part of len(dst) elements for each member, and gives
// each member its part of the result (MPI_Reduce_scatter_block).
func ReduceScatter[T any](ctx context.Context, c *Comm, src, dst []T, op Op[T]) error {
	return c.run(ctx, combining(OpReduceScatter, Of(src), Of(dst), op, 0))
}

// StartReduceScatter begins a ReduceScatter (MPI_Ireduce_scatter_block).
func StartReduceScatter[T any](c *Comm, src, dst []T, op Op[T]) (*Request, error) {
	return c.start(combining(OpReduceScatter, Of(src), Of(dst), op, 0))
}

// ReduceScatterV is ReduceScatter with a length for each member: member i gets the counts[i] elements of the result
// that lie behind those of the members before it (MPI_Reduce_scatter).
func ReduceScatterV[T any](ctx context.Context, c *Comm, src []T, counts []int, dst []T, op Op[T]) error {
	p := combining(OpReduceScatter, Of(src), Of(dst), op, 0)
	p.src.each = Parts(src, counts)
	return c.run(ctx, p)
}

// StartReduceScatterV begins a ReduceScatterV (MPI_Ireduce_scatter).
func StartReduceScatterV[T any](c *Comm, src []T, counts []int, dst []T, op Op[T]) (*Request, error) {
	p := combining(OpReduceScatter, Of(src), Of(dst), op, 0)
	p.src.each = Parts(src, counts)
	return c.start(p)
}

// Scan combines, at each member, the slices of the members up to this one into its slice.
func Scan[T any](ctx context.Context, c *Comm, s []T, op Op[T]) error {
	return c.run(ctx, combining(OpScan, Of(s), none, op, 0))
}

// StartScan begins a Scan (MPI_Iscan).
func StartScan[T any](c *Comm, s []T, op Op[T]) (*Request, error) {
	return c.start(combining(OpScan, Of(s), none, op, 0))
}

// Exscan is Scan without this member's own slice. The slice of member 0 stays what it is.
func Exscan[T any](ctx context.Context, c *Comm, s []T, op Op[T]) error {
	return c.run(ctx, combining(OpExscan, Of(s), none, op, 0))
}

// StartExscan begins an Exscan (MPI_Iexscan).
func StartExscan[T any](c *Comm, s []T, op Op[T]) (*Request, error) {
	return c.start(combining(OpExscan, Of(s), none, op, 0))
}
