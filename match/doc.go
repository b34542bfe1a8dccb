// Package match gives each message to the receive that asks for it, by source and
// tag, as MPI does: it puts MPI's two queues on top of a mailbox.
//
// A [Matcher] takes the messages of one weft.Mailbox. A receive names a source, or
// [Any], and a tag, of which only the bits that its mask has are compared; [Exact]
// compares all, [AnyTag] none. The rules are those of section 3.5 of the MPI
// standard ("Semantics of Point-to-Point Communication"):
//
//   - Messages do not overtake: of those of one sender that a receive could take,
//     it takes the one sent first. A receive from Any takes the one that arrived
//     first, in the order of the mailbox.
//   - Nor do receives: of those that a message could go to, whether from its
//     sender or from Any, it goes to the one posted first.
//
// # The queues
//
// A message that no receive waits for is unexpected. It stays where it is, in the
// ring that the mailbox has for its sender: only its place is noted, so it costs
// neither a copy nor memory. That is the idea of the IPUSH paper (section 2.2),
// which leaves it for the future: a ring for each sender is that sender's
// unexpected queue, and a receive from one source searches nothing else. Receives
// that wait are kept by source too. [Queues] has both, without any I/O, for those
// who have messages of their own.
//
// Long queues make messages slow: K. D. Underwood and R. Brightwell, "The Impact
// of MPI Queue Usage on Message Latency" (ICPP 2004), measured it for libraries
// with one list for all sources. With the queues apart no search compares more
// entries than it would in one list; what it does not compare is other sources'
// entries. Nothing is gained by a receive from Any, which must go through all that
// has arrived, nor by one whose sender sent nearly everything. There is no hash of
// tags, which would shorten these: in the NAS programs no search of a sender's
// messages compares more than one, so that it could only cost. Run "weft perf match"
// for the figures; Stats counts them in a program.
//
// # Rings that fill up
//
// An unexpected message occupies its ring until it has been received and released
// (but for short ones, which travel in the status ring, and those that the mailbox
// had to join), and a ring's room comes back in order: one message that nothing asks
// for is enough, in the end, to fill it. What is sent to a full ring the mailbox
// refuses (NACK), and the sender waits. That bounds memory, but it is less than MPI
// promises: a program that waits for a message behind a full ring, and would receive
// the others after it, waits for ever. With [Config].Copy such a program works: before
// a receive waits, unexpected messages are copied to ordinary memory, which then
// nothing bounds. In either case messages on loan to the program occupy their rings.
//
// # Goroutines
//
// Any number of goroutines may use a Matcher, which has none of its own: one of
// those that wait takes messages from the mailbox, and hands the others theirs.
// So a receive that was started makes progress while some goroutine waits or
// polls. In the long run no call allocates, but for copies.
package match
