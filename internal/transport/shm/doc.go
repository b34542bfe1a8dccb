// Package shm connects processes of one host through shared memory.
//
// Each process owns one segment: a doorbell, a heartbeat, an inbox that all
// its peers share, and rings for peers that write to it often. A peer begins
// in the inbox. After some packets it claims a ring of its own, and uses it
// when the owner has taken its last packet from the inbox, so that order is kept.
// So a process's memory grows with the peers that it hears from, and not with
// the size of the job (the bargain of IPUSH [Kitamura06]).
//
// Segments are sealed memfds, passed over an abstract Unix socket after both
// sides have shown that they belong to the same user and know the job's
// secret. Nothing lies in a file system, and nothing is left when processes
// are killed. The connection stays open: its end is how the death of a peer is
// noticed at once. A heartbeat in each segment shows processes that are
// stopped.
//
// The handshake, the records that follow it and the memory are PROTOCOL §7.
//
// Tested in shm_test.go (transporttest), own_test.go (which peers have rings),
// memory_linux_test.go (memory that is shared and taken back) and strangers_linux_test.go
// (what does not belong to the job).
package shm
