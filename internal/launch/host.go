package launch

import (
	"syscall"

	"weft/internal/process"
)

// A host is where ranks are processes: this one (process.Host), or another one behind
// its agent (agent.Remote).
type host interface {
	// Start starts a process and returns its number there. When it has ended and its
	// output has been passed on, ended is called, perhaps before Start returns.
	Start(o process.Order, s process.Streams, ended func(process.Exit)) (pid int, err error)

	// Signal signals a process and what it has started. It reports whether the
	// process had not ended, as far as is known.
	Signal(id int, s syscall.Signal) bool

	// Stop stops a process, and returns when none of its threads runs any more.
	Stop(id int) bool

	// Exiting returns the processes that have ended, or are about to. Those for which
	// ended has been called may be missing.
	Exiting() []int

	// Close kills what has not ended, and gives the host up.
	Close() error
}

// Guarded must be called first by main of every program that calls Run: in the
// guard process it does not return.
func Guarded() { process.Guarded() }
