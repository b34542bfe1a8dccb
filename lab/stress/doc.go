// Package stress runs jobs of real processes that call weft's whole public API at random, while it kills, stops and
// removes ranks. It checks that nothing is lost, repeated, out of order or stuck.
//
// A run is a sequence of jobs. A seed decides everything random in a job (Plan): the number of rounds, what the ranks
// do in each round, and which rank is struck, when and how. In a round every rank plays its part in several scenes at
// the same time. A scene is a bounded amount of work with one part of the API, such as senders and receivers on a
// channel; each has goroutines of its own. A round therefore ends if weft keeps its promises: a wait for a living rank
// ends because the scene makes that rank act, and a wait for a dead rank ends with an error.
//
// A process, the director, starts the ranks and talks to them over connections that do not use weft. It starts rounds,
// collects the ranks' counts, and lets ranks meet where a scene needs it. If no goroutine of any rank makes progress
// for a while, and no rank is stopped, the job is stuck: the director prints the seed, and keeps what every goroutine
// does, the output of weft ps, and the stacks.
//
// The package's tests (stress_test.go) make ranks misbehave on purpose, and check that this is found.
package stress
