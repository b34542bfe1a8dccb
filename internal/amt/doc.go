// Package amt chooses receive rings from what was sent: who gets a ring of its
// own at a receiver, and who shares one. It knows traces (WEFT_TRACE), the advice
// that follows from one, the file that holds the advice (an AMT, the address
// management table of paper 002), and the policy that adapts while a job runs.
//
// It is pure: no clock, no I/O but on readers and writers handed in, and the same
// input gives the same output.
package amt
