// Package swarm tests whole engines on a simulated cluster. Clients begin random operations,
// the network and the nodes have random faults, and checkers that see the whole cluster
// compare the results with models.
//
// A run has two phases. In the first, faults happen. In the second there are none: within a
// bounded time every operation must end, and no resource may be left in use. What is
// checked, and where:
//
//   - every message is received once, whole, and in order: messages.go
//   - memory holds what was written to it and nothing else, a PUSH that has
//     ended is in place, and so is one that was begun before a message that has
//     arrived: memory.go
//   - atomic operations are linearizable: atomics.go
//   - senders that were refused are served before newcomers, first refused first served: fair.go
//   - buffers hold no more than their size, no rank is declared dead without
//     cause, no operation hangs and no resource leaks: audit.go
//
// A run is a function of its Options, and these of a seed.
package swarm
