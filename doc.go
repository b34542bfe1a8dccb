// Package weft gives every process of a parallel job a network interface in software:
// ordered messages, one-sided access to the memory of other processes, atomic operations on
// it, mailboxes, locks, semaphores and barriers. Inside a host they work through shared
// memory, between hosts over UDP, raw Ethernet or TCP.
//
// # Terms
//
// A job is N processes, called ranks, numbered from 0. A process joins its job with [Main]
// or [Join], and gets a [Proc], on which everything else hangs; there is no global state.
// [Local] runs all ranks of a job as goroutines of one process, for tests and examples.
// [Simulate] runs them on a simulated cluster in virtual time. Package weft/job starts them as
// real processes, for tests that kill ranks.
//
// A [Port] sends and receives messages on a channel. Messages of one sender arrive in order,
// and the memory for messages is bounded at both ends, however fast a sender is.
//
// A [Region] is memory that other ranks access through a [Remote]: Push writes, Pull reads,
// Put writes a few bytes without waiting, and 8-byte words can be updated atomically. The
// program of the rank that has the memory takes no part.
//
// A [Mailbox] takes messages from many ranks, in the order of their arrival, into rings of
// memory that the receiver assigns to its senders. Senders reach it through a [Sender].
//
// A [Lock], [RWLock], [Semaphore], [Cond] or [Barrier] coordinates the ranks that use the
// same name for it. Nothing has to be created, and all ranks must configure a name alike.
// When the holder of a lock dies, the lock goes to the next rank, which is told so. A region
// can be guarded by a lock: then a rank that was wrongly taken for dead, and has lost the
// lock, cannot write any more ([Remote.Under]).
//
// # Names of calls
//
// Open makes what takes memory and has a Close: [Proc.OpenPort], [Proc.OpenRegion],
// [Proc.OpenMailbox]. Attach reaches what another rank has opened, and waits until it has:
// [Proc.AttachRegion], [Proc.AttachMailbox]. Locks, semaphores, conditions and barriers cost
// nothing until they are used; [Proc.Lock] and its relatives only return a handle.
//
// A call that begins with Try does not wait, and returns [ErrWouldBlock] where it would have
// to. A call that begins with Start begins an operation and returns an [Op], whose Wait ends
// it.
//
// # Rules
//
// Any number of goroutines may use anything at the same time, unless its documentation says
// otherwise.
//
// A call that may wait takes a context, and returns a [WaitError] when the context ends. Then
// the operation has not happened, unless the WaitError contains an [UnknownOutcomeError]. A
// nil context never ends.
//
// Messages from one rank to another on one port arrive once, in the order in which they were
// sent. A message that is sent after a Push, Put or atomic operation to the same rank never
// arrives before the operation's effect can be seen.
//
// A peer that has died, or that has been silent for the liveness time (Config.Liveness), ends
// every operation that needs it with a [PeerError].
//
// Sizes and offsets are in bytes. Buffers that the program passes to a call belong to weft
// until the call returns, or until Wait returns for an operation that was started. Memory
// that weft passes to the program is on loan until Release.
package weft
