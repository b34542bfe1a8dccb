// Package proc runs the processes of a job on a virtual cluster. What a process
// needs of a machine, its clock, sleep, alarms, goroutines and packets, it gets
// from the simulator.
//
// One goroutine of all processes has the turn, and keeps it until it sleeps, ends,
// or enters a call and chance takes the turn away: strict hand-over. Of several
// goroutines of a process that can go on, the world's chance picks one. Computations
// take no virtual time.
//
// A goroutine may also wait for others of its process by the means of Go: channels,
// mutexes, wait groups. The world does not see that, so a watch looks for a
// goroutine that has the turn and is blocked; it takes the turn back, and the
// goroutine is adrift until its next call, which waits for a turn (see turns.go).
package proc
