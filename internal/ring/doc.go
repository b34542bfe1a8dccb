// Package ring carries packets between processes through shared memory.
//
// A Pair is a ring for one producer and one consumer. An Inbox is one for many producers: it
// survives that any of them is killed at any instruction. Both are arrays of cells of one
// cache line. A packet of up to [Inline] bytes lies wholly inside its cell, together with the
// word that says it is there, so one cache line moves per packet. Longer packets put their
// bytes beside the cells. A ByteProducer and a ByteConsumer share a ring of bytes, for
// package stream.
//
// What the other side wrote is not trusted: positions and lengths are read once and checked
// before use.
//
// Tested in ring_test.go, edges_test.go (producers that die, damaged memory) and
// bytes_test.go; between processes by the tests of internal/transport/shm and of stream.
package ring
