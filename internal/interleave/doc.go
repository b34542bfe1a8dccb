// Package interleave has the driver's synchronization operations: its lock, and all calls in which its
// goroutines wait or yield. In an ordinary build these are the operations of packages sync and runtime,
// inlined.
//
// With the build tag "mutants" a test can run the driver under a Scheduler. The Scheduler runs one
// goroutine at a time, and decides at each operation which goroutine goes on: it searches all
// interleavings with few preemptions, or follows a seed. Time is virtual.
//
//	go test -tags mutants ./internal/driver
//
// Tested by the model tests of package driver.
package interleave
