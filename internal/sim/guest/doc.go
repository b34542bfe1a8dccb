// Package guest runs the processes of a job on a virtual cluster: each is a
// coroutine, and a machine to itself. What it needs of a machine, its clock,
// sleep, alarms and packets, it gets from the simulator.
//
// One process at a time runs, and it runs until it sleeps: strict hand-over. Its
// computations take no virtual time.
package guest
