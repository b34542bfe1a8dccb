// Package swarm runs whole engines on a virtual cluster, makes them do at random
// everything that they can do while everything goes wrong that can, and checks
// what comes of it as only somebody can who sees the whole cluster.
//
// A run has two phases. In the first, faults happen. Then they stop, and within
// a bounded time every operation must end and nothing may be left over. What is
// checked, and where:
//
//   - every message is received once, whole, and in order: messages.go
//   - memory holds what was written to it and nothing else, a PUSH that has
//     ended is in place, and so is one that was begun before a message that has
//     arrived: memory.go
//   - atomic operations are linearizable: atomics.go
//   - senders that were refused are served before newcomers, first refused first served: fair.go
//   - buffers hold no more than their size, nobody is declared dead without
//     cause, nothing hangs and nothing leaks: audit.go
//
// A run is a function of its Options, and these of a seed.
package swarm
