// Package match gives each message to the receive that asks for it, by source and tag, as MPI does: it
// puts the two queues of MPI's message matching on top of a mailbox.
//
// A [Matcher] takes the messages of one weft.Mailbox. A receive names a source, or [Any], and a tag with
// a mask: only the bits of the mask are compared. [Exact] compares all bits, [AnyTag] none. The rules are
// those of [MPI] §3.5, "Semantics of Point-to-Point Communication":
//
//   - Messages do not overtake each other: of the messages of one sender that match, a receive takes
//     the one that was sent first. A receive from Any takes the one that arrived first.
//   - Receives do not overtake each other: of the receives that a message matches, whether from its
//     sender or from Any, it goes to the one that was posted first.
//
// # The queues
//
// A message for which no receive waits is unexpected. It stays in the ring that the mailbox has for its
// sender; the Matcher only notes its place, so it costs neither a copy nor memory. [Kitamura06] §2.2
// proposes this as future work: the ring of a sender is that sender's unexpected queue, and a receive
// from one source searches nothing else. Posted receives, those that wait, are kept by source, too.
// [Queues] has both queues without any I/O, for programs with messages of their own.
//
// Long queues make messages slow: K. D. Underwood and R. Brightwell, "The Impact of MPI Queue Usage on
// Message Latency" (ICPP 2004), measured it for libraries with one list for all sources. A search of one
// source's queue compares only that source's entries, so it is never longer than in one list. It is not
// shorter either for a receive from Any, or if one sender has sent nearly everything. Hashing the tags
// would shorten such searches, but in the NAS programs no search of a sender's messages compares more
// than one, so hashing would only cost time. The command "weft perf match" gives the figures, and Stats
// counts them in a program.
//
// # Rings that fill up
//
// An unexpected message occupies its ring until it has been received and released. (Short messages,
// which travel in the status ring, and messages that the mailbox had to join do not.) A ring is freed in
// order, so one message for which no receive ever asks is enough to fill it in the end. The mailbox
// refuses messages to a full ring, and their senders wait.
//
// That bounds memory, but promises less than MPI: a program that first receives a message which is stuck
// behind a full ring waits for ever, even if it would receive the others afterwards. With [Config].Copy
// such a program works: before a receive waits, unexpected messages are copied to ordinary memory, whose
// size is not bounded then. In either case messages on loan to the program occupy their rings.
//
// # Goroutines
//
// Any number of goroutines may use a Matcher, which has no goroutine of its own: one of the goroutines
// that wait takes messages from the mailbox, and hands the others theirs. So a receive that was started
// makes progress only while some goroutine waits or polls. Apart from copies no call allocates in the
// long run.
//
// Tested in this directory: model_test.go compares Queues with a simple model, matcher_test.go has the
// rules over mailboxes, ends_test.go ranks that end, sim_test.go the simulator.
package match
