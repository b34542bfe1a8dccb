// Package proc runs the processes of a job on a virtual cluster. A process gets everything that it needs of a
// machine from the simulator: the clock, sleep, alarms, goroutines and packets.
//
// One goroutine of all processes has the turn, which is the right to run. It keeps the turn until it sleeps, ends,
// or enters a call of the driver in which chance takes the turn away. When several goroutines of a process are
// ready, the world's random numbers pick one. Computation takes no virtual time.
//
// A goroutine may also wait for others of its process by the means of Go: channels, mutexes, wait groups. The world
// does not see that. So a watch looks for a goroutine that has the turn and is blocked, and takes the turn back.
// That goroutine is detached until its next call of weft, which waits for a turn (turns.go).
//
// The tests of the root package (simulate_test.go, coroutine_test.go) run programs on it.
package proc
