// Package amt decides from past traffic which senders get a receive ring of their own at a receiver, and
// which share one. It has the traces (WEFT_TRACE), the advice that follows from a trace, the file that
// holds the advice (an AMT, the address management table of [Kitamura06]), and the policy that adapts
// while a job runs.
//
// It is pure: it has no clock, does I/O only on readers and writers that it is given, and the same input
// gives the same output.
//
// Tested in this directory.
package amt
