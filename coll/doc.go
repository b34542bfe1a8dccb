// Package coll has the collective operations of parallel programs: broadcast,
// reduce, gather, scatter and exchanges of all with all, over weft's messages.
//
// A [Group] is some ranks of a job with a channel of their own. Each member calls
// the same operations in the same order, with slices of the lengths that belong
// together; who gets another length than it expects returns a [LengthError]. The
// death of a member ends the operation with a weft.PeerError at those who need it;
// others may wait for them, so a program that goes on after an error does so with
// a new group. One goroutine of a rank at a time may use a group.
//
// Which algorithm an operation takes follows from the length and the number of
// members, the same at all of them; each function says which there are, and where
// they come from.
package coll
