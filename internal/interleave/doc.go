// Package interleave is what the driver's goroutines meet at: its lock, and all at
// which they wait or give way. In an ordinary build these are the runtime's own, and
// nothing is left of the package.
//
// With the build tag "mutants" a test can run the driver in a Scheduler, which runs one
// goroutine at a time and decides at each of these places which goes on: by search
// through all interleavings with few preemptions, or by seed. Time is virtual.
//
//	go test -tags mutants ./internal/driver
package interleave
