// Package match has the two queues of MPI's message matching, by source and tag. The rules are those of [MPI] §3.5,
// "Semantics of Point-to-Point Communication":
//
//   - Messages do not overtake each other: of the messages of one sender that match, a receive takes
//     the one that was sent first. A receive from Any takes the one that arrived first.
//   - Receives do not overtake each other: of the receives that a message matches, whether from its
//     sender or from Any, it goes to the one that was posted first.
//
// A receive names a source, or [Any], and a tag with a mask: only the bits of the mask are compared. [Exact] compares
// all bits, [AnyTag] none.
//
// A message for which no receive waits is unexpected. A receive that waits is posted. Both are kept by source, as
// [Kitamura06] §2.2 proposes: the queue of a sender is that sender's unexpected queue, and a receive from one source
// searches nothing else.
//
// Long queues make messages slow: K. D. Underwood and R. Brightwell, "The Impact of MPI Queue Usage on
// Message Latency" (ICPP 2004), measured it for libraries with one list for all sources. A search of one
// source's queue compares only that source's entries, so it is never longer than in one list. It is not
// shorter either for a receive from Any, or if one sender has sent nearly everything. Hashing the tags
// would shorten such searches, but in the NAS programs no search of a sender's messages compares more
// than one, so hashing would only cost time. The command "weftlab perf match" gives the figures.
//
// Tested in this directory: model_test.go compares Queues with a simple model. Package mpi has messages and receives.
package match
