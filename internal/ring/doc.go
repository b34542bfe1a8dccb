// Package ring carries packets between processes through shared memory.
//
// Both rings are arrays of cells of one cache line. A packet of up to
// [Inline] bytes lies wholly inside its cell, together with the word that says
// it is there, so exactly one cache line moves per packet. Longer packets put
// their bytes beside the cells.
//
// Pair is for one producer and one consumer. Inbox is for many producers: it
// survives any of them being killed at any instruction.
//
// What the other side wrote is not believed: positions and lengths are read
// once and checked before use.
package ring
