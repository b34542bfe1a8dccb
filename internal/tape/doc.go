// Package tape records what goes into an engine, and plays it back: packets,
// operations, and the times of both. An engine is a function of these, so a
// recording of a real run leads a debugger, or a panic, to the same line.
//
// A recording is a line of JSON for each event. It holds the packets, and the
// secret of the job, which ends with it; it does not hold the memory that was
// sent or written, on which no engine depends.
package tape
