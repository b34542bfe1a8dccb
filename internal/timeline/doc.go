// Package timeline records what a rank does and when: operations, sleeps, packets. A
// Recorder holds the last events of one rank in memory of a fixed size, in the units of
// the processor's counter, which takes a few nanoseconds to read. A Part is what a rank
// hands over when it leaves. Align puts the parts of a job on one clock, and package
// traceevent writes them as a file.
//
// Tested in this directory, and with jobs in timeline_test.go of package weft.
package timeline
