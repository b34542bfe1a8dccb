// Package matching measures how long package match searches, against one queue
// for all senders, as most MPI libraries of the papers' time had it: with as many
// messages as one likes that nothing has asked for, and with what the NAS programs
// send each other at 64 ranks. It counts the entries that searches compare, and
// takes the time.
package matching
