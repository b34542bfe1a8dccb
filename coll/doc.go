// Package coll has the collective operations of parallel programs over the messages of package weft:
// broadcast, reduce, gather, scatter, all-to-all exchange and barrier.
//
// A [Group] consists of some ranks of a job and a channel. Its members call the same operations in the
// same order, with slices whose lengths belong together. A header with the operation, its number, its
// root, the element type and the length goes ahead of every slice. A member that has called something
// else gets a [MismatchError], or a [LengthError] if only the length differs. Members that wait for each
// other because each takes another one for the root send nothing that could be compared: they wait until
// their contexts end, and the command weft ps shows them.
//
// # Errors
//
// An operation that fails ends the group. The cause may be the death of a member, the end of a context,
// or slices that do not belong together. The member that meets it revokes the group's channel
// (weft.Port.Revoke). Then every member, including a member that communicates with no dead rank, gets a
// weft.RevokedError with the reason from its current operation, or from its next one. The error matches
// weft.ErrPeer if the departure of a rank is the cause.
//
// # Surviving deaths
//
// A program that goes on without the dead uses the three operations of MPI's ULFM [Bland13].
// [Group.Agree] tells all members whether all of them have completed an operation, and which members are
// dead. [Group.Shrink] returns the group of the members that live, the same at all of them, on a new
// channel. [Group.Revoke] ends a group with which a member cannot go on. They work whichever ranks die.
// docs/SURVIVING.md shows how a program is built from them, and how a program restarts from a checkpoint
// instead.
//
// # Goroutines
//
// One goroutine of a rank at a time may be in an operation of a group. Any goroutine may call Agree and
// Revoke at any time. Disjoint groups may use the same channel.
//
// # Algorithms
//
// The algorithm follows from the length of the slices and the number n of members, so all members take
// the same one:
//
//	Broadcast      binomial tree; from 256 KiB on, scatter and ring all-gather (van de Geijn)
//	Reduce         binomial tree
//	AllReduce      recursive doubling; from 32 KiB on, ring reduce-scatter and all-gather [Thakur05]
//	Gather         each member sends to the root
//	Scatter        the root sends to each member
//	AllGather      Bruck's, ⌈log2 n⌉ rounds [Bruck97]; for parts of more than 1 KiB, a ring
//	AllToAll       Bruck's for parts of at most 256 bytes and n > 4; else all exchanges at once
//	AllToAllV      all exchanges at once
//	Barrier        dissemination, ⌈log2 n⌉ rounds [Hensgen88]
//	Agree, Shrink  dissemination rounds without a coordinator; see package internal/agreement
//
// Tested in this directory: coll_test.go has every operation and size, agree_test.go and survive_test.go
// have deaths at any moment, in the simulator.
package coll
