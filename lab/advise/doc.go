// Package advise decides from past traffic which senders get a receive ring of their own at a receiver, and which
// share one. It reads the traces that ranks write (WEFT_TRACE), and writes the table that they are given, an AMT
// (the address management table of [Kitamura06]).
//
// It is pure: it does I/O only on readers and writers that it is given, and the same input gives the same output.
package advise
