// Package stress runs jobs whose ranks call weft's whole public API at random, while ranks are killed, stopped and
// removed. It checks that nothing is lost, repeated, out of order or stuck.
//
// A seed decides everything random in a job (Plan): the number of rounds, what the ranks
// do in each round, and which rank is struck, when and how. In a round every rank plays its part in several scenes at
// the same time. A scene is a bounded amount of work with one part of the API, such as senders and receivers on a
// channel; each has goroutines of its own. A round therefore ends if weft keeps its promises: a wait for a living rank
// ends because the scene makes that rank act, and a wait for a dead rank ends with an error.
//
// A director talks to the ranks without weft. It starts rounds, collects what the ranks find, and lets ranks meet where
// a scene needs it. If no goroutine of any rank makes progress for a while, and no rank is stopped, the job is stuck.
//
// A job is played on one of two stages:
//
//   - by real processes (Run, processes.go). The director is a process, and the ranks' connections to it are Unix
//     sockets. When a job is stuck it keeps what every goroutine does, the output of weft ps, and the stacks.
//   - in the simulator (Simulate, simulation.go). The director sees the whole cluster, spoils its network, and the seed
//     decides everything.
//
// The package's tests make ranks misbehave on purpose, and check that this is found; planted_test.go plants bugs in
// weft.
package stress
