// Package weft gives every process of a parallel job a network interface in
// software: ordered messages, one-sided access to the memory of the others,
// atomic operations on it, locks and barriers; at memory speed inside a host, over UDP or raw
// Ethernet between hosts.
//
// # Nouns
//
// A job is N processes, called ranks, that may talk to each other. Each joins
// with [Main] or [Join] and holds a [Proc]. [Local] runs all ranks of a job as
// goroutines of one process, for tests and examples; [Simulate] runs them on a
// cluster that does not exist, in virtual time.
//
// A [Port] is a SEND/RECEIVE context on a logical channel: messages of any
// length, in order per sender, whose memory is bounded at both ends however
// fast a sender is.
//
// A [Region] is memory that others may reach through a [Remote]: PUSH writes,
// PULL reads, PUT writes a few bytes, and 8-byte words can be updated
// atomically. The target's program takes no part.
//
// A [Lock], [RWLock], [Semaphore], [Cond] and [Barrier] coordinate ranks by name:
// nothing is created, and all who use a name must say the same of it. A lock whose
// holder dies goes on to the next, who is told; a region can know the lock that
// guards it, so that a holder that was only taken for dead cannot write any more
// ([Remote.Under]).
//
// # Rules
//
// Everything may be used by many goroutines at once unless it says otherwise.
// Calls that may block take a context, and return its error when it ends; then
// the operation has not happened, or the error is an [UnknownOutcome].
//
// Messages from one rank to another arrive in the order of the sends, once. A
// message that is sent after a PUSH, PUT or atomic operation to the same rank
// never arrives before its effect.
//
// A peer that has died, or has been silent for the liveness time, ends every
// operation that needs it with a [PeerError].
package weft
