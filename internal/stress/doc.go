// Package stress runs jobs of real processes that do at random everything that weft's
// public API has, while ranks are killed, stopped and made to leave, and checks that
// nothing is lost, repeated, out of order or stuck.
//
// A run is a sequence of jobs; a seed decides all that is left to chance in a job
// (Plan): the number of rounds, what the ranks do in each, and which rank is struck when
// and how. In a round every rank plays its part in some scenes at the same time, each
// with goroutines of its own: a scene is a bounded amount of work with one part of the
// API, such as senders and receivers on a channel. So a round ends if weft keeps its
// promise: whatever waits for a rank that is alive gets what it waits for, because the
// scene makes that rank do it, and whatever waits for a rank that is gone gets an error.
//
// The ranks speak with the process that has started them (the director) over a
// connection that is not weft's: it starts rounds, collects what the ranks count, and
// lets them meet where a scene needs that. When no goroutine of any rank has got on for
// a while, and no rank is stopped, the job is stuck: what every goroutine does, what weft
// ps says and the stacks are kept, and the seed is printed.
package stress
