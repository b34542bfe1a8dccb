// Package coll has the collective operations of parallel programs: broadcast, reduce, gather, scatter and exchanges
// of all with all, over weft's messages.
//
// A [Group] is some ranks of a job with a channel of their own. Each member calls the same operations in the same
// order, with slices of the lengths that belong together. The operation, its number, its root, the type and the
// length travel ahead of every slice: a member that expects something else gets a [MismatchError], or a
// [LengthError] where only the length differs. Members that all wait for each other, because each believes another to
// be the root, send nothing that could be compared: their contexts end that, and weft ps shows it.
//
// An operation that fails ends the group. Whatever the error is (the death of a member, the end of a context, slices
// that do not belong together), the member that meets it revokes the group's channel (weft.Port.Revoke), and every
// member, also one that neither sends to the dead nor receives from it, gets a weft.RevokedError with the reason from
// the operation that it is in, or from its next one. It matches weft.ErrPeer where the end of a rank is the cause. A
// program that goes on makes a new group, of the ranks that are left, on a channel that has not been used before.
//
// One goroutine of a rank at a time may use a group. Disjoint groups may use the same channel.
//
// Which algorithm an operation takes follows from the length and the number of members, the same at all of them; each
// function says which there are, and where they come from.
package coll
