package launch

import (
	"syscall"

	"weft/internal/process"
)

// A host runs ranks as processes: this host (process.Host), or another one through its agent (agent.Remote).
type host interface {
	// Start starts a process and returns its number on the host. It calls ended when the process has ended and its
	// output has been passed on, which may be before Start returns.
	Start(o process.Order, s process.Streams, ended func(process.Exit)) (pid int, err error)

	// Signal sends a signal to a process and its children. It reports false if the process is known to have ended.
	Signal(id int, s syscall.Signal) bool

	// Stop stops a process, and returns when none of its threads runs any more. It reports false if the process has
	// ended.
	Stop(id int) bool

	// Exiting returns the processes that have ended, or are about to. It may leave out those for which ended has been
	// called.
	Exiting() []int

	// Close kills the processes that have not ended, and releases the host.
	Close() error
}

// Guarded is called first by the main function of every program that calls Run. In a guard process it does not return.
func Guarded() { process.Guarded() }
