// Package mpi is what MPI's users expect, in Go: communicators, messages by tag, collective operations on any number of
// ranks, over every transport of package weft and in its simulator. docs/MPI.md has the counterpart of each call of
// MPI-4.
//
//	err := weft.Main(func(ctx context.Context, p *weft.Proc) error {
//		c := mpi.World(p)
//		sum := []float64{float64(c.Rank())}
//		return mpi.AllReduce(ctx, c, sum, mpi.Sum)
//	})
//
// # Names
//
// A call has MPI's name without the prefix: MPI_Send is [Comm.Send]. Calls that do not care for the type of the
// elements are methods of [Comm] and take a [Buffer], which is MPI's buffer, count and datatype: mpi.Of(x) is all of a
// slice, mpi.Part(x, section) a column or block of it, which is sent without packing. Reductions are functions with
// the slice and an [Op]. Elements may be of any type without pointers. A non-blocking operation has the name Start and
// the name of the operation, and returns a [Request]; a Request can be started again, which is MPI's persistent
// operation.
//
//	communicators   World, Split, SplitShared, Dup, Create, Free, Group, Compare
//	                Cart, Sub, Graph, Shift, Neighbors; Revoke, Agree, Shrink
//	messages        Send, Ssend, Rsend, Recv, SendRecv, SendRecvReplace; StartSend, StartSsend, StartRecv
//	                Probe, TryProbe, MProbe, TryMProbe; WaitAll, WaitAny, WaitSome, TestAll, TestAny, TestSome
//	one-sided       Window: Put, Get, Accumulate, GetAccumulate, FetchOp, CompareSwap; Shared; Fence, Flush
//	                Post, Start, Complete, Wait; Lock, LockShared, Unlock, LockAll, UnlockAll
//	files           File: SetView; ReadAt, WriteAt, ReadAtAll, WriteAtAll; ReadShared and others by a shared pointer
//	collectives     Barrier, Broadcast, Gather, Scatter, AllGather, AllToAll, and V with buffers for each member
//	                Reduce, AllReduce, ReduceScatter, Scan, Exscan; NeighborAllGather, NeighborAllToAll
//
// # Messages
//
// A receive names a rank or [AnySource], and a tag or [AnyTag]. The rules are those of [MPI] §3.5; package
// internal/match has the queues. Messages may have any length. Up to 32 KiB travel at once, and are copied to
// ordinary memory if no receive waits for them, without a limit, as in other MPI libraries. A longer message waits at
// its sender until a receive has been found for it, and is copied once then, while both programs may compute.
//
// A receive makes progress while a goroutine of the rank waits or tests, for whatever. A collective operation that has
// been started is carried on by the goroutine that waits for it, and by another one while the program computes. Where
// that would be in vain, since the program has waited at once lately, the other one comes after a millisecond.
//
// # Errors
//
// A call returns an error, and the program decides. [Program] makes a program in which errors are fatal. A
// point-to-point message that fails concerns its two ranks only. A collective operation that fails ends the
// communicator: the cause may be the death of a member, the end of a context, or calls that do not belong together
// ([MismatchError], [LengthError]). The member that meets it revokes the communicator. Then every member, including a
// member that communicates with no dead rank, gets a [RevokedError] with the reason from its current operation, or from
// its next one.
//
// A header with the operation, its number, its root, the type and the length goes ahead of every message, so calls that
// do not belong together are found by the first message. Members that are through before such a message arrives learn
// of it in their next call, or in Free. Members that wait for each other, because each takes another one for the root,
// send nothing that could be compared: after a second or two one asks the other what it has called, and both get the
// error. If one has called an operation too often, the others may still call it, so the member goes on waiting. The
// command weft ps shows what the member that it waits for has called last, and so does the error when its context ends.
//
// # Surviving deaths
//
// A program that goes on without the dead uses the three operations of ULFM [Bland13]. [Comm.Agree] tells all members
// whether all of them have completed an operation, and which members are dead. [Comm.Shrink] returns the communicator
// of the members that live. [Comm.Revoke] ends one with which a member cannot go on. They work whichever ranks die.
// docs/SURVIVING.md shows how a program is built from them.
//
// # Algorithms
//
// The algorithm follows from the length of the slices, the number n of members, and whether all ranks are on one host,
// so all members take the same one. The table is in tuning.txt; the environment variable WEFT_MPI_TUNING names a file
// with another one, which "weftlab mpi -tune" measures and writes. All ranks must have the same. Reductions combine
// elements in the order of the ranks.
//
// If all ranks of the job are on one host, up to 64 members of a communicator have a board: memory that all map. Each
// writes its elements there, and reads those of the members that it needs. A member waits for no other one: the root of
// a Broadcast, or a member that gives its elements to a root, may be seven turns ahead of the others. The board is made
// in the second operation that is not only begun, and takes 280 KiB for each member. Operations that are begun take
// place there, too, one after another, and with a length for each member.
//
//	all            board
//	Broadcast      tree: binomial; scatter: parts are scattered, and a ring gathers them (van de Geijn)
//	Reduce         tree: binomial
//	AllReduce      doubling: recursive; parts: each member combines a part, and a ring gathers them [Thakur05]
//	Scan, Exscan   doubling, ⌈log2 n⌉ rounds
//	ReduceScatter  parts: each member combines its part
//	Gather         linear: each member sends to the root
//	Scatter        linear: the root sends to each member
//	AllGather      bruck: ⌈log2 n⌉ rounds [Bruck97]; ring
//	AllToAll       bruck; exchange: all exchanges at once
//	Barrier        dissemination, ⌈log2 n⌉ rounds [Hensgen88]
//	Split, Dup     an AllGather of 24 bytes of each member
//	Agree, Shrink  dissemination rounds without a coordinator; see package internal/agreement
//	Revoke         each member tells 2 ⌈log2 n⌉ others
package mpi
