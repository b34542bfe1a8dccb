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
// the operation that it is in, or from its next one. It matches weft.ErrPeer where the end of a rank is the cause.
//
// A program that goes on without the dead does as programs with MPI's ULFM do (Bland et al., Post-failure recovery of
// MPI communication capability, 2013). [Group.Agree] tells all members whether an operation has got through at all of
// them, and who is dead. [Group.Shrink] returns the group of those that are left, the same one at all, on a channel that
// has not been used before. [Group.Revoke] ends a group that a member cannot go on with. They work whichever ranks die.
// docs/SURVIVING.md shows how a program is built from them, and the other way: to begin anew from what was saved.
//
// One goroutine of a rank at a time may be in an operation of a group; Agree and Revoke are for any. Disjoint groups may use the same channel.
//
// Which algorithm an operation takes follows from the length and the number of members, the same at all of them; each
// function says which there are, and where they come from.
package coll
