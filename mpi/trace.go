package mpi

import "math"

// What a trace of this rank (WEFT_TRACE) keeps of matching: each receive that is posted and each message that comes, in
// order. `weftlab perf match` plays that to other ways to search.

// traceShift is above the bits of a key, and traceMask has those of a communicator's number.
const (
	traceShift = 48
	traceMask  = math.MaxUint64 ^ (1<<traceShift - 1)
)

// traceTag returns a key as the trace has it: with the number of the communicator, since communicators match apart.
func (c *Comm) traceTag(key uint64) uint64 { return uint64(c.number)<<traceShift | key }

// tracePosted tells the trace that a receive has been posted.
func (c *Comm) tracePosted(source int, key, mask uint64) {
	if source >= 0 {
		source = c.group.at(source)
	}
	c.w.look.TracePosted(source, c.traceTag(key), mask|traceMask)
}

// traceTaken tells the trace of a receive that its message has met before it was posted.
func (c *Comm) traceTaken(a *arrival, source int, key, mask uint64) {
	c.tracePosted(source, key, mask)
	c.w.look.TraceCame(a.from, c.traceTag(a.head.key()))
}
