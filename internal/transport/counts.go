package transport

import "weft/internal/counters"

// Steady is embedded by transports whose path to a peer never changes: packets keep one
// maximum length, there is nothing to tell of the path, and nothing is counted.
type Steady struct{}

// Resized returns nothing.
func (Steady) Resized() []int { return nil }

// Path returns nothing.
func (Steady) Path(peer int) string { return "" }

// Counts returns zeros.
func (Steady) Counts() counters.Local { return counters.Local{} }

// Network is embedded by transports to other hosts. Packets are gathered for Send, since each system call costs as
// much as many of them, and another host's memory cannot be mapped.
type Network struct{}

// Lane returns nil.
func (Network) Lane(peer int) Lane { return nil }

// Memory returns nil.
func (Network) Memory() Memory { return nil }

// Pending reports true: only a system call can tell.
func (Network) Pending() bool { return true }

// Forget does nothing: a peer that is alive notices that this process is silent.
func (Network) Forget(peer int) {}

// Release does nothing: what was lent stays until the next Poll.
func (Network) Release() {}
